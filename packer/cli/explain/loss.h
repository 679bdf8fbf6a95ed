/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loss - what steps have lost of the time in which they could have run, in parts that add up, for
 * people: of one step, or of all steps of a job. */
#ifndef BERTH_CLI_EXPLAIN_LOSS_H
#define BERTH_CLI_EXPLAIN_LOSS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

enum loss_row {
    LOSS_CACHES,
    LOSS_SIBLINGS,
    LOSS_CLOCK,
    LOSS_WAITING, /* for a CPU that others had */
    LOSS_THREADS, /* for one that its own threads had */
    LOSS_REST,    /* not explained */
    LOSS_ROWS
};

/* All zero: of no step. Texts are borrowed from the step that lost most by that; NULL: nobody. */
struct loss {
    double could_s;         /* CPU time and waiting of the steps of which anything is known */
    double s[LOSS_ROWS];    /* of that, seconds */
    double most[LOSS_ROWS]; /* of one step */
    bool known[LOSS_ROWS];
    const char *culprits; /* programs */
    const char *rival;    /* who had its CPUs: "outside", "jobs", "own-job" */
};

/* Adds what a step of an answer to `explain` has lost. */
void loss_add(struct loss *loss, struct json_object *step);

/* Returns a part, or (LOSS_ROWS) all parts, as a fraction; NAN: nothing is known. */
double loss_part(const struct loss *loss, enum loss_row row);

/* Returns who had the CPUs, for people: "processes outside Slurm". */
const char *loss_rival(const struct loss *loss);

/* Writes the parts as a line without its newline; nothing where nothing is known. */
void loss_say(FILE *out, const struct loss *loss);

/* Adds them to an object of JSON, by the names that explain has for them. */
struct json_object *loss_json(const struct loss *loss);

#endif
