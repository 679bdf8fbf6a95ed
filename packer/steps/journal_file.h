/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal_file - what berthd has changed, written before each change.
 *
 * An append-only file of JSON lines in the state directory (tmpfs: it has to outlive the daemon,
 * not the kernel, so it is not synced). Whoever kills berthd at any instruction leaves a file whose
 * complete lines say what to finish or undo; a torn last line was never acted upon and is dropped.
 */
#ifndef BERTH_STEPS_JOURNAL_FILE_H
#define BERTH_STEPS_JOURNAL_FILE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "packer/base/error.h"

struct journal_file;

/* Open (create, mode 0600) the journal at path and lock it against a second berthd (error: names
 * the pid that holds it if known). A torn last line is cut off. 0 and *out, or -1 and err. */
int journal_file_open(struct journal_file **out, const char *path, struct berth_error *err);
void journal_file_close(struct journal_file *journal); /* keeps the file */

/* Call visit for each entry from the first; stops when visit returns non-zero. A line that is not a
 * JSON object is an error that names its number. 0, or -1 and err. */
int journal_file_replay(struct journal_file *journal,
                        int (*visit)(struct json_object *entry, void *arg), void *arg,
                        struct berth_error *err);

/* Does the same with a journal that another berthd may have, or nobody yet: it is neither locked
 * nor changed. One that is not there has no entry. */
int journal_file_peek(const char *path, int (*visit)(struct json_object *entry, void *arg),
                      void *arg, struct berth_error *err);

/* Append one entry, which is borrowed. When that fails (disk full) the file is cut back to what it
 * was: 0, or -1 and err; the caller must then not make the change. */
int journal_file_append(struct journal_file *journal, struct json_object *entry,
                        struct berth_error *err);

/* Replace the whole journal atomically (new file, rename, lock kept) by the n entries. 0, or -1 and
 * err with the old journal intact. */
int journal_file_rewrite(struct journal_file *journal, size_t n, struct json_object *const *entry,
                         struct berth_error *err);

/* Is the file at its path still the one that is written to? Not when somebody has removed it: then
 * the next berthd would find nothing. */
bool journal_file_is_there(const struct journal_file *journal);

/* Bytes in the file now: the caller rewrites when it grew large. */
size_t journal_file_size(const struct journal_file *journal);

#endif
