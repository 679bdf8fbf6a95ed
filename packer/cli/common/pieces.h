/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pieces - an answer as lines that come whole through srun.
 *
 * slurmstepd sends what a task writes line by line, but cuts a line that is longer than its
 * message (MAX_MSG_LEN, 1024 bytes in Slurm's src/slurmd/slurmstepd/io.c). Between the parts of
 * such a line srun writes what other tasks say, and, where standard error goes to the same pipe,
 * its own messages. So an answer is written as short lines, each with who says it and which of how
 * many it is; whatever comes between them does no harm, and an answer of which a line is missing is
 * known to be one. */
#ifndef BERTH_CLI_COMMON_PIECES_H
#define BERTH_CLI_COMMON_PIECES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#define PIECE_BYTES 400 /* of the answer in a line, at most */
#define PIECES_FROM_MAX 32

/* Prints a value on stdout, in pieces, and releases it. Returns 0, or 1 after saying so when stdout
 * cannot be written. */
int pieces_print(struct json_object *value);

/* What was heard, of one who answers. */
struct pieces {
    char from[PIECES_FROM_MAX]; /* "": nothing yet */
    size_t next, count;         /* which piece comes next, of how many */
    char *text;                 /* what has come; freed with the value */
    size_t length;
};

/* Takes a line into the one of all[max] from whom it comes. Returns false where it is no piece, or
 * there is no memory or no place for it. A piece that is out of its order is not taken. */
bool pieces_take(struct pieces *all, size_t max, const char *line);

/* Returns what one has said, which is whole, for the caller to release; NULL where it is not, or is
 * no JSON. Frees what was heard of him. */
struct json_object *pieces_value(struct pieces *pieces);

#endif
