/* SPDX-License-Identifier: GPL-2.0-or-later */
/* admit - what the site lets users ask for: the words of --contention-aware that are in the key
 * "allow" of berth.conf, and isolate for those whom the keys isolate_... name; users and groups by
 * number there (admit_names.h). */
#ifndef BERTH_CONF_ADMIT_H
#define BERTH_CONF_ADMIT_H

#include <stddef.h>

#include "packer/conf/conf.h"
#include "packer/wire/wire.h"

/* Take the words that are not allowed out of the request's options; a mode that is not allowed
 * becomes off. The words taken out are listed in refused[size], "" when there are none. `off`,
 * `require` and `verbose` cost nobody anything: always allowed. */
void admit_options(const struct conf *conf, struct wire_register *request, char *refused,
                   size_t size);

/* Why this request may not ask for isolate, or NULL. */
const char *admit_isolate(const struct conf *conf, const struct wire_register *request);

#endif
