/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_queue - lines that wait on disk, in files of one folder.
 *
 *   NUMBER.jsonl   segments; lines are appended to the one with the greatest number
 *   refused.jsonl  lines that were no records, or that the database refused: for people
 *   lock           held by the process whose queue it is
 *
 * A segment whose lines have been delivered is removed. A process begins with a new segment: what a
 * crash tore stands at the end of an old one. Two threads use a queue: one that appends and only
 * writes to a file that is open (it never waits for the disk), and one that does all else. */
#ifndef BERTH_LEDGER_QUEUE_H
#define BERTH_LEDGER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct ledger_queue;

/* Make the folder where it is missing, lock it, begin a segment; *waiting is the number of lines
 * that are there. 0, or -1 and err. */
int ledger_queue_open(struct ledger_queue **out, const char *folder, size_t *waiting,
                      struct berth_error *err);
void ledger_queue_close(struct ledger_queue *queue); /* NULL is fine */

/* ---- the thread that appends ---- */

/* One line with its newline, whole or not at all. 0, or -1 and err. */
int ledger_queue_append(struct ledger_queue *queue, const char *line, struct berth_error *err);

/* ---- the other one ---- */

/* Have the disk take what was appended. 0, or -1 and err. */
int ledger_queue_sync(struct ledger_queue *queue, struct berth_error *err);

/* Lines that are appended from now on go to a new segment, where the present one has any. 0, or -1
 * and err. */
int ledger_queue_rotate(struct ledger_queue *queue, struct berth_error *err);

/* A segment of its own for these lines, synced. 0, or -1 and err, with nothing left of it. */
int ledger_queue_spill(struct ledger_queue *queue, char *const *line, size_t n,
                       struct berth_error *err);

/* The oldest segment after number `after` that is not appended to: 1, with its number and path; 0
 * there is none; -1 and err. */
int ledger_queue_next(struct ledger_queue *queue, uint64_t after, uint64_t *number, char *path,
                      size_t size, struct berth_error *err);

/* The segment's lines are where they belong. 0, or -1 and err. */
int ledger_queue_done(struct ledger_queue *queue, uint64_t number, struct berth_error *err);

/* Keep a line (with or without newline) for people, synced. 0, or -1 and err. */
int ledger_queue_aside(struct ledger_queue *queue, const char *line, size_t length,
                       struct berth_error *err);

/* ---- others ---- */

/* The lines that wait in a folder, as whoever may read it sees them; 0 where there is none. -1 and
 * err. */
int ledger_queue_count(const char *folder, size_t *lines, struct berth_error *err);

#endif
