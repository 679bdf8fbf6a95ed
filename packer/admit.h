/* SPDX-License-Identifier: GPL-2.0-or-later */
/* admit - which words of --contention-aware the site lets users ask for (the key "allow" of
 * berth.conf). */
#ifndef BERTH_ADMIT_H
#define BERTH_ADMIT_H

#include <stddef.h>

#include "wire.h"

/* Take the words that are not in `allow` (comma separated) out of options; a mode that is not
 * allowed becomes off. The words taken out are listed in refused[size], "" when there are none.
 * `off`, `require` and `verbose` cost nobody anything: always allowed. */
void admit_options(const char *allow, struct wire_options *options, char *refused, size_t size);

#endif
