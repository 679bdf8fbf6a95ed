/* SPDX-License-Identifier: GPL-2.0-or-later */
/* powers - the capabilities that a unit leaves to its service. */
#include <err.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>

#include "packer/system/capabilities.h"
#include "tests/confined/confined.h"

/* Without CapabilityBoundingSet= all stay. */
static uint64_t listed(const struct words *words)
{
    uint64_t set = 0;
    int number;

    for (size_t i = 0; i < words->n; i++) {
        number = capability_number(words->word[i]);
        if (number < 0)
            errx(2, "no such capability: %s", words->word[i]);
        set |= CAPABILITY(number);
    }
    return words->given ? set : UINT64_MAX;
}

/* What directives about other things take away, too. */
static uint64_t implied(const struct unit *unit)
{
    uint64_t set = 0;

    if (unit->private_devices)
        set |= CAPABILITY(CAP_MKNOD) | CAPABILITY(CAP_SYS_RAWIO);
    if (unit->protect_modules)
        set |= CAPABILITY(CAP_SYS_MODULE);
    if (unit->protect_logs)
        set |= CAPABILITY(CAP_SYSLOG);
    if (unit->protect_clock)
        set |= CAPABILITY(CAP_SYS_TIME) | CAPABILITY(CAP_WAKE_ALARM);
    return set;
}

void powers_apply(const struct unit *unit)
{
    struct berth_error why;

    if (capabilities_keep(listed(&unit->capabilities) & ~implied(unit), &why) < 0)
        errx(2, "%s", why.text);
    if (unit->no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        err(2, "NoNewPrivileges");
}
