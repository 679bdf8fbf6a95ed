/* SPDX-License-Identifier: GPL-2.0-or-later */
/* admit_names - the users and groups whom the key `grant` of berth.conf names, as numbers.
 *
 * A name is looked up once, and a launch never waits for a directory service: at the start before
 * there is an event loop, and when berth.conf is read again by a thread. Until its answer is there,
 * those who might ask before still may, and nobody else. */
#ifndef BERTH_CONF_ADMIT_NAMES_H
#define BERTH_CONF_ADMIT_NAMES_H

#include <stdbool.h>

#include "packer/conf/conf.h"

/* Turns the names in it into numbers, and waits for the answers. A name that nobody knows
 * is logged and dropped. */
void admit_prepare(struct conf *conf);

struct admit_names;

/* Starts no thread yet. Returns 0, or -1 and err. */
int admit_names_open(struct admit_names **out, struct berth_error *err);
void admit_names_close(struct admit_names *names); /* NULL is fine */

/* Returns a descriptor that can be read when there is something to take. */
int admit_names_fd(const struct admit_names *names);

/* Prepares `next`, which was read while `now` holds, without waiting: where it has names, it keeps
 * the numbers of `now`, and the thread looks the names up. What was asked before is forgotten. */
void admit_names_ask(struct admit_names *names, const struct conf *now, struct conf *next);

/* Puts the numbers that were asked for last into these keys. Returns false where they are not known
 * yet, or were taken before. */
bool admit_names_take(struct admit_names *names, struct conf *conf);

#endif
