/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_pages - reads pages of the ledger for users, who may not open it themselves.
 *
 * The ledger may be in a server, or on a disk that is slow: a thread reads it, one page after the
 * other, and the event loop is woken when one is there. Each user's questions wait for his own
 * ones: users take turns, and none has more than BUDGET_PAGES pages in memory that he has not
 * taken. The thread is there from the first question on; it lets go of the ledger when nobody asks
 * for a while. */
#ifndef BERTH_DAEMON_RECORD_PAGES_H
#define BERTH_DAEMON_RECORD_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "packer/conf/conf.h"
#include "packer/wire/wire.h"

#define RECORD_PAGES_RECORDS 256       /* of a page, at most, */
#define RECORD_PAGES_BYTES (160 << 10) /* and no more once it has so many */

struct record_pages;
struct record_page;

/* Is ready to be asked for pages of the configuration's ledger. Returns 0, or -1 and err. */
int record_pages_open(struct record_pages **out, const struct conf *conf, struct berth_error *err);

/* Stops; NULL is fine. All pages are dropped before. A thread that hangs is left alone. */
void record_pages_close(struct record_pages *pages);

/* Returns a descriptor that can be read while record_pages_tell() has something to do. */
int record_pages_fd(const struct record_pages *pages);

/* Calls each page's `ready` that is there and was not told of yet. `ready` may take that page, or
 * drop it. */
void record_pages_tell(struct record_pages *pages);

/* Asks for a page of the user's own records, of root for all users' ones. payer: whose turn it
 * is (serve/reply.h). The question is taken over where this succeeds; ready(arg) is called once at
 * most, by record_pages_tell(). Returns the page, which the caller drops; NULL and err. */
struct record_page *record_pages_ask(struct record_pages *pages, uid_t uid, uid_t payer,
                                     struct wire_records *asked, void (*ready)(void *arg),
                                     void *arg, struct berth_error *err);

/* Says whether the page is there. It then has lines of JSON, each {"version":..,"ok":true,
 * "more":true,"record":{..}}, and a last one: which is {..,"more":false}, with "next", the `after`
 * of the next page, where there may be one; or, where the ledger cannot be read, an error. */
bool record_pages_is_there(struct record_page *page);

/* Returns the page's lines, which the caller frees, and their length; *cpu_s is what the thread has
 * spent on them. Only where record_pages_is_there(). */
char *record_pages_take(struct record_page *page, size_t *length, double *cpu_s);

/* Wants the page no more, whatever becomes of it. */
void record_pages_drop(struct record_page *page);

#endif
