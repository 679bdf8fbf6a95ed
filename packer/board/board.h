/* SPDX-License-Identifier: GPL-2.0-or-later */
/* board - berthd's side of the blackboard (berth_blackboard.h): whether each memory node, cache and
 * package is idle, normal or saturated, written by a thread of its own (RCRdaemon, Porterfield
 * 2012, section 2.4).
 *
 * The thread writes while a step is there: rcr_rate times a second where one has asked for
 * throttle, else once a second. The paper's daemon does so 6000 times a second, for an eighth of a
 * core; this one keeps to half a percent (DESIGN, rule 6): after a sample that took long it waits
 * longer.
 *
 * Traffic is read by the thread, where the memory controllers (board/imc.h) or resctrl
 * (board/mbm.h) count it; else it is what the steps' windows say, of the node as a whole, once a
 * second: then a window is a sample. What is told is measured, or NAN. */
#ifndef BERTH_BOARD_BOARD_H
#define BERTH_BOARD_BOARD_H

#include "packer/steps/packer.h"

struct board;

#define BOARD_FILE "blackboard" /* in conf.state_dir */
#define BOARD_SAY 256
#define BOARD_SLOW_S 1.0     /* between two samples, at most */
#define BOARD_CPU_MOST 0.005 /* of a core */

/* Makes packer->state->board where berth.conf wants it; what is in its way is logged and in
 * lacks_why(packer, LACK_BOARD). */
void board_open(const struct packer *packer);

/* Ends the thread, and tells readers that nothing more comes; NULL is fine. */
void board_close(struct board *board);

/* Tells the thread whether there are steps, and what their windows and the meters say. After each
 * window, and when steps come or go. */
void board_turn(const struct packer *packer);

/* Returns the seconds from one sample, for which the thread has taken so much CPU time, to the
 * next, which is wanted after every_s. */
double board_wait_s(double every_s, double cpu_s);

/* Returns whether it can be known that the node's memory is saturated. */
bool board_has_states(const struct board *board);

/* Says in one line where its figures come from, or why there is no state. Returns whether there is
 * any. */
bool board_say(const struct board *board, char say[BOARD_SAY]);

#endif
