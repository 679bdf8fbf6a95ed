/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_ledger - doctor's row about the ledger: can it be read, and what waits for it? */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "packer/cli/doctor.h"
#include "packer/ledger/ledger.h"

static int ignore(const struct ledger_record *record, void *arg)
{
    (void)record, (void)arg;
    return 0;
}

/* Writes ", 3 records wait"; "" where this user may not look. */
static void describe_waiting(const struct doctor *doctor, char *text, size_t size)
{
    size_t n;

    text[0] = '\0';
    if (ledger_count_waiting(&doctor->conf, &n, NULL) < 0)
        return;
    snprintf(text, size, ", %zu record%s wait%s", n, n == 1 ? "" : "s", n == 1 ? "s" : "");
}

void doctor_ledger(struct doctor *doctor)
{
    const struct conf *conf = &doctor->conf;
    const struct ledger_filter none = {.since = INT64_MAX};
    struct berth_error err;
    char waiting[64];

    if (strcmp(conf->ledger, "off") == 0) {
        doctor_add(doctor, "ledger", DOCTOR_ABSENT,
                   "no records of steps are kept: berthctl report has nothing to report", "off");
        return;
    }
    describe_waiting(doctor, waiting, sizeof(waiting));
    if (ledger_read(conf->ledger, conf->ledger_defaults, &none, ignore, NULL, &err) == 0)
        doctor_add(doctor, "ledger", DOCTOR_OK, "", "%.200s%s", conf->ledger, waiting);
    else
        doctor_add(doctor, "ledger", DOCTOR_WARN,
                   "records of steps wait in the queue until it can be written; it is made when "
                   "the first step has ended",
                   "%.220s%s", err.text, waiting);
}
