/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_queue - lines that wait, in two folders.
 *
 *   spool: NUMBER.jsonl      lines as they come; in the state folder, which is in memory as a rule
 *   folder: NUMBER.jsonl     segments, on a disk
 *   folder: refused.jsonl    lines that were no records, or that the database refused: for people
 *   folder: lock             held by the process whose queue it is
 *
 * Two threads use a queue. One appends to a spool file that is open: that outlives the process, and
 * waits for no disk (an append to a file that is being synced may wait for it). The other one does
 * all else: it puts full spool files on the disk, at once, and removes segments that have been
 * delivered. What a crash tears stands at the end of a file that nobody appends to again; what it
 * leaves in both folders is delivered twice. */
#ifndef BERTH_LEDGER_QUEUE_H
#define BERTH_LEDGER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"

#define LEDGER_SPOOL "ledger" /* in the state folder */

struct ledger_queue;

/* Make the folders where they are missing, lock them, begin a spool file; *waiting is the number of
 * lines that are there. 0, or -1 and err. */
int ledger_queue_open(struct ledger_queue **out, const char *spool, const char *folder,
                      size_t *waiting, struct berth_error *err);
void ledger_queue_close(struct ledger_queue *queue); /* NULL is fine */

/* ---- the thread that appends ---- */

/* One line with its newline, whole or not at all. 0, or -1 and err. */
int ledger_queue_append(struct ledger_queue *queue, const char *line, struct berth_error *err);

/* ---- the other one ---- */

/* Have the disk keep what was appended, and line[n], which is nowhere else. 0; or -1 and err: what
 * was appended stays in the spool, none of line[n] is kept. */
int ledger_queue_store(struct ledger_queue *queue, char *const *line, size_t n,
                       struct berth_error *err);

/* The oldest file after number `after`, in both folders, that lines are to be delivered from: 1,
 * with its number and path; 0 there is none; -1 and err. Nothing is added to it any more. */
int ledger_queue_next(struct ledger_queue *queue, uint64_t after, uint64_t *number, char *path,
                      size_t size, struct berth_error *err);

/* The file's lines are where they belong. 0, or -1 and err. */
int ledger_queue_done(struct ledger_queue *queue, uint64_t number, struct berth_error *err);

/* Keep a line (with or without newline) for people, synced. 0, or -1 and err. */
int ledger_queue_aside(struct ledger_queue *queue, const char *line, size_t length,
                       struct berth_error *err);

/* ---- others ---- */

/* The lines that wait in one of the folders, as whoever may read it sees them; 0 where there is no
 * such folder. -1 and err. */
int ledger_queue_count(const char *folder, size_t *lines, struct berth_error *err);

#endif
