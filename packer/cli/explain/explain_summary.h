/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain_summary - says in plain lines what berth did with a step, why, what the step loses all
 * the same, and what it gains by that. */
#ifndef BERTH_CLI_EXPLAIN_EXPLAIN_SUMMARY_H
#define BERTH_CLI_EXPLAIN_EXPLAIN_SUMMARY_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

/* What berth did with a step. */
enum explain_deed {
    EXPLAIN_NEW,
    EXPLAIN_PLACED,
    EXPLAIN_OBSERVED,
    EXPLAIN_LEFT,
    EXPLAIN_FAILED,
    EXPLAIN_DEEDS
};

/* Returns it of a step of an answer to `explain`. Of one that has ended berthd says it by the
 * reason only: who was placed has none. */
enum explain_deed explain_deed(struct json_object *step);

/* Returns why berth left it where it was, or only observes it, without the words for that; NULL: it
 * is placed, or nobody says. It is borrowed. */
const char *explain_reason(struct json_object *step);

/* Does the neighbour of an answer's step stand on one of its cores? */
bool explain_shares_core(struct json_object *neighbour);

/* Writes who shares a step's caches: n steps, of which so many are devils. */
void explain_sharers(FILE *out, size_t n, size_t devils);

/* Each writes one line about a step of an answer to `explain`, without its newline. */
void explain_what(FILE *out, struct json_object *step);
void explain_why(FILE *out, struct json_object *step);
void explain_lost(FILE *out, struct json_object *step);
void explain_gain(FILE *out, struct json_object *step);

#endif
