/* SPDX-License-Identifier: GPL-2.0-or-later */
/* board - berthd's side of the blackboard (berth_blackboard.h): whether each memory node, cache and
 * package is idle, normal or saturated, written rcr_rate times a second by a thread of its own
 * (RCRdaemon, Porterfield 2012, section 2.4).
 *
 * The thread writes while a step is there. Traffic is read by it, where resctrl counts it
 * (board/mbm.h); else it is what the steps' windows say, of the node as a whole, once a second:
 * then a window is a sample. What is told is measured, or NAN. */
#ifndef BERTH_BOARD_BOARD_H
#define BERTH_BOARD_BOARD_H

#include "packer/steps/packer.h"

struct board;

#define BOARD_FILE "blackboard" /* in conf.state_dir */
#define BOARD_SAY 256

/* Makes packer->board where berth.conf wants it; what is in its way is logged and in
 * packer->board_why. */
void board_open(struct packer *packer);

/* Ends the thread, and tells readers that nothing more comes; NULL is fine. */
void board_close(struct board *board);

/* Tells the thread whether there are steps, and what their windows and the meters say. After each
 * window, and when steps come or go. */
void board_turn(struct packer *packer);

/* Returns whether it can be known that the node's memory is saturated. */
bool board_has_states(const struct board *board);

/* Says in one line where its figures come from, or why there is no state. Returns whether there is
 * any. */
bool board_say(const struct board *board, char say[BOARD_SAY]);

#endif
