/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_spool - lines that outlive the process from the moment they are accepted, without waiting
 * for a disk: in two files of the state folder, which is in memory as a rule.
 *
 * Lines that find no room there stay in memory, the newest SPOOL_MEMORY of them.
 *
 * Two threads use a spool. One appends to one of the files. The other one takes the lines of the
 * other file, and has the two change places when it has emptied that: who appends never waits for
 * who brings lines to a disk (an append to a file that is being synced may wait). A crash leaves a
 * part of a line at the end of a file at most, which is cut off. */
#ifndef BERTH_LEDGER_SPOOL_H
#define BERTH_LEDGER_SPOOL_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/error.h"

#define SPOOL_MEMORY 4096

struct spool_text {
    char *text; /* with a NUL behind it */
    size_t length, lines;
};

struct spool {
    char folder[PATH_MAX];
    size_t at; /* the file that is appended to */
    struct spool_file {
        int fd;
        off_t length; /* of whole lines in it */
        atomic_size_t lines;
    } file[2];
    struct spool_text memory;
    size_t away;   /* lines that were in memory, and are on their way */
    uint64_t lost; /* lines that memory had no room for */
};

/* Opens the files in a folder, which is there, with what an earlier process has left in them.
 * Returns 0, or -1 and err; spool_close is fine in any case. */
int spool_open(struct spool *spool, const char *folder, struct berth_error *err);
void spool_close(struct spool *spool);

/* Returns the number of lines in the files and in memory. */
size_t spool_lines(const struct spool *spool);

/* Counts the lines in a folder, as whoever may read it sees them; 0 where there is no such folder.
 * Returns 0, or -1 and err. */
int spool_count(const char *folder, size_t *lines, struct berth_error *err);

/* ---- one at a time ---- */

/* Appends a line with its newline. Returns 0; or -1 and err: it is in memory only. */
int spool_append(struct spool *spool, const char *line, struct berth_error *err);

/* Lets the files change places if the other one is empty. Returns whether there are lines to be
 * taken now. */
bool spool_turn(struct spool *spool);

/* Gives the lines in memory away, which the caller returns. */
struct spool_text spool_take_memory(struct spool *spool);

/* Takes them back, as the oldest ones, or forgets them if they are `done`. */
void spool_return_memory(struct spool *spool, struct spool_text taken, bool done);

/* ---- beside them: who takes lines ---- */

/* Reads the lines that are to be taken into *out, whose text the caller frees; NULs in it become
 * '?', and what somebody else has cut off is missing. Returns 0; or -1 and err, with a text of
 * NULL. */
int spool_read(struct spool *spool, struct spool_text *out, struct berth_error *err);

/* Empties the file whose lines have been taken. Returns 0, or -1 and err. */
int spool_clear(struct spool *spool, struct berth_error *err);

#endif
