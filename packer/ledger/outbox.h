/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_outbox - what waits on the node's own disk, in a folder:
 *
 *   outbox.db      (SQLite) the lines of records that wait for the database, as they were put; and,
 *                  where they are asked for, the runs of jobs that have records and are not settled
 * yet (settle/settler.h) refused.jsonl  lines that are no records, or that the database refused:
 * for people
 *
 * Each connection is of one thread; several may be open. */
#ifndef BERTH_LEDGER_OUTBOX_H
#define BERTH_LEDGER_OUTBOX_H

#include "packer/ledger/ledger.h"

struct outbox;

/* Opens the outbox in a folder, which is there. Returns 0, or -1 and err. */
int outbox_open(struct outbox **out, const char *folder, struct berth_error *err);
void outbox_close(struct outbox *outbox); /* NULL is fine */

/* Is its file still the one in the folder, not removed or moved away? */
bool outbox_is_current(const struct outbox *outbox);

/* Counts the lines in the folder's outbox, as whoever may read it sees them; 0 where there is none.
 * Returns 0, or -1 and err. */
int outbox_count(const char *folder, size_t *n, struct berth_error *err);

/* Takes in n whole lines, and if `runs` the runs of their records. Returns 0, and all are on the
 * disk; or -1 and err, and none is there. */
int outbox_put(struct outbox *outbox, const char *text, size_t n, bool runs,
               struct berth_error *err);

/* Calls fn with what was put after number *last (0: all), oldest first, until it returns other than
 * 0. Returns 1 when it was called, with *last the number of what it was called with last; 0 there
 * is nothing more; -1 and err. */
int outbox_read(struct outbox *outbox, int64_t *last, int (*fn)(const char *text, void *arg),
                void *arg, struct berth_error *err);

/* Says whether a line of the job is there, of any run of it. Reads all that is there. Returns 1, 0,
 * or -1 and err. */
int outbox_has_job(struct outbox *outbox, uint32_t job, struct berth_error *err);

/* Forgets what was put after number `after`, `last` with it. Returns 0, or -1 and err. */
int outbox_drop(struct outbox *outbox, int64_t after, int64_t last, struct berth_error *err);

/* Calls fn with each run. Returns 0, or -1 and err. */
int outbox_each_run(struct outbox *outbox, void (*fn)(const struct ledger_run *run, void *arg),
                    void *arg, struct berth_error *err);

/* Forgets the run, unless a record of a step that began later was put since. Returns 0, or -1 and
 * err. */
int outbox_drop_run(struct outbox *outbox, const struct ledger_run *run, struct berth_error *err);

/* Keeps a line (with or without newline) for people, synced. Returns 0, or -1 and err. */
int outbox_refuse(const char *folder, const char *line, size_t length, struct berth_error *err);

#endif
