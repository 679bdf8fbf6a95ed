/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps_table - the table of steps of `berthctl status` and `top`: as many columns as fit, the most
 * telling ones first, sorted by one of them. */
#ifndef BERTH_CLI_NODE_STEPS_TABLE_H
#define BERTH_CLI_NODE_STEPS_TABLE_H

#include <json-c/json.h>

#include "packer/cli/common/screen.h"

/* What steps may be sorted by; all but the step's name with the greatest first. */
enum steps_sort {
    STEPS_BY_STEP,
    STEPS_BY_CPU,
    STEPS_BY_IPC,
    STEPS_BY_MEMORY,
    STEPS_BY_WATTS,
    STEPS_BY_SLOWDOWN,
    STEPS_BY_USER,
    STEPS_SORTS
};

/* Their names on the command line, up to a NULL; their keys in top; what a page calls them. */
extern const char *const steps_sort_word[STEPS_SORTS + 1];
extern const char steps_sort_key[STEPS_SORTS + 1];
extern const char *const steps_sort_title[STEPS_SORTS];

/* Sorts the array of steps; equal ones by their number, what is not known last. */
void steps_sort(struct json_object *steps, enum steps_sort by);

/* Puts the table; `top`: CPU% and command come first. Where rows end, the last one says how many
 * steps more there are. */
void steps_put(struct screen *screen, struct json_object *steps, bool top);

#define STEPS_TREND 8 /* columns of a step's "trend", which `top` adds: a character a page */

/* Returns a step's slowdown as a fraction, measured (then *measured is true) or predicted; NAN
 * where it is not known. */
double steps_slowdown(struct json_object *step, bool *measured);

/* Returns the colour of a step: a devil's, a turtle's, that of one which failed. */
enum screen_style steps_style(struct json_object *step);

#endif
