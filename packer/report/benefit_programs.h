/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_programs - what is told program by program: those that ran both where Slurm put them and
 * where berth did, and those of which a profile would tell most. */
#ifndef BERTH_REPORT_BENEFIT_PROGRAMS_H
#define BERTH_REPORT_BENEFIT_PROGRAMS_H

#include "packer/report/benefit.h"
#include "packer/report/intern.h"

/* A record, in short. */
struct benefit_run {
    const char *user, *program, *tag, *knowledge;
    unsigned uid, cores;
    bool placed, at_home, unknown; /* where berth put it; where Slurm did; no slowdown predicted */
    int64_t end;
    double measured, core_s;
};

struct benefit_programs {
    struct benefit_run *run;
    size_t n, room;
};

/* Is it a program? A launcher, a shell or a batch script is none, where nobody has found what used
 * its CPUs: two runs of it have nothing in common, and it has no profile. */
bool benefit_is_program(const char *name);

void benefit_programs_clear(struct benefit_programs *programs);

/* Takes in a record of so many core-seconds; texts are kept by `words`. 0, or -1 with errno. */
int benefit_programs_add(struct benefit_programs *programs, struct report_intern *words,
                         const struct ledger_record *record, double core_s);

/* Fills in result->pairs and result->program. */
void benefit_programs_conclude(struct benefit_programs *programs, struct benefit_result *result);

#endif
