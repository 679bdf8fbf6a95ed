/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_trial - does berth help here? A line of doctor: what the standing trial says, or how long
 * it takes until it can. See doctor.h. */
#include <time.h>

#include "packer/cli/doctor/doctor.h"
#include "packer/cli/node/verdict.h"

void doctor_trial(struct doctor *doctor)
{
    static const char without[] = "berthctl report --benefit names the programs; "
                                  "--contention-aware=off or default=observe leaves them to Slurm";
    struct verdict_read read;
    struct berth_error err;
    struct benefit *benefit = verdict_read(doctor->conf_path, NULL, &read, &err);
    const struct benefit_result *result;
    char text[BENEFIT_SENTENCE_MAX];

    if (!benefit) {
        doctor_add(doctor, "trial", DOCTOR_WARN, "whether berth helps cannot be told", "%.300s",
                   err.text);
        return;
    }
    result = benefit_conclude(benefit);
    verdict_say(result, &read, time(NULL), text);
    doctor_add(doctor, "trial", result->verdict.word == BENEFIT_HURTS ? DOCTOR_WARN : DOCTOR_OK,
               without, "%s%s", text, read.own ? " (your own steps)" : "");
    benefit_free(benefit);
}
