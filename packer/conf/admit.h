/* SPDX-License-Identifier: GPL-2.0-or-later */
/* admit - what the site lets users ask for.
 *
 * The key `allow` of berth.conf lists the words of --contention-aware that users may use. isolate
 * and max-slowdown, for which their neighbours pay, are only for those whom `grant` names, as
 * throttle, prefetch, and to propose what happens to others' steps. A running berthd knows the
 * users and groups of `grant` by number (admit_names.h). */
#ifndef BERTH_CONF_ADMIT_H
#define BERTH_CONF_ADMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/conf/conf.h"
#include "packer/wire/wire.h"
#include "packer/wire/wire_identity.h"

/* What Slurm has said of a job's account and QOS counts, as far as it is known (`is`); nobody
 * else's word does. */

/* Takes the words that are not allowed out of the request's options; a mode that is not allowed
 * becomes off. Lists the words that it took out in refused[size], "" when there are none. `off`,
 * `require` and `verbose` are always allowed: they cost nobody anything. */
void admit_options(const struct conf *conf, struct wire_register *request,
                   const struct wire_identity *is, char *refused, size_t size);

/* Returns why this request may not ask for `word`, "isolate" or "max-slowdown", or NULL where it
 * may. */
const char *admit_priority(const struct conf *conf, const struct wire_register *request,
                           const struct wire_identity *is, const char *word);

/* Returns the same of a request that was refused, also where berth.conf would allow it by now.
 * `waits`: slurmctld is being asked whether it may. */
const char *admit_refusal(const struct conf *conf, const struct wire_register *request,
                          const struct wire_identity *is, bool waits, const char *word);

/* Says whether only the job's account or QOS could allow this word, and they are not known. */
bool admit_unknown(const struct conf *conf, const struct wire_register *request,
                   const struct wire_identity *is, const char *word);

/* May programs of the user propose what happens to any step? Root's may. */
bool admit_proposes(const struct conf *conf, uint32_t uid);

/* Takes a word off the list of those that were refused. */
void admit_strike(char *refused, const char *word);

#endif
