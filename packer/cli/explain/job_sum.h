/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_sum - what the steps of a job come to: as Slurm has the job, and berth its steps. */
#ifndef BERTH_CLI_EXPLAIN_JOB_SUM_H
#define BERTH_CLI_EXPLAIN_JOB_SUM_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/cli/explain/loss.h"
#include "packer/cli/find/slurm_job.h"
#include "packer/fact/fact.h"
#include "packer/wire/wire_left.h"

/* The facts that facts.def has for `job`. */
enum job_fact {
#define FACT_JOB(ID, ...) JOB_##ID,
#include "packer/fact/facts.def"
    JOB_FACTS
};
extern const struct job_fact_of {
    enum fact_id id;
    const char *key;           /* in JSON */
    const char *title, *words; /* of its line, and behind the figure there; NULL: it has none */
} job_fact_of[JOB_FACTS];

/* What is not known is NAN. */
struct job_sum {
    size_t steps, running;
    double elapsed_s; /* of the job */
    double cores;     /* given to it */
    double cpu_s;     /* CPU time that its steps used */
    double cpu;       /* of the CPU time that it was given, a fraction */
    double wanted;    /* the same with what its threads waited for a CPU */
    struct loss loss;
    double maxrss_bytes; /* the largest process */
    double memory; /* what that is of the memory given on its node: at least so much is used */
    double energy_j, power_w; /* of the steps that were metered */
    double idle_j;            /* the part of energy_j that the node takes when idle */
    bool modelled;            /* a part of it is the site's model's, not a meter's */
    size_t metered;
    const char
        *idle_energy; /* the rule by which idle energy is billed; borrowed; "" several, none */
    double predicted, home, measured; /* slowdowns, fractions: means over the CPU time given */
    double siblings;                  /* of the neighbours, who shares a core with them */
    double neighbours, devils;        /* on the caches of its running steps now; NAN: none runs */
    size_t placed, observed, left;    /* steps by what berth did */
    double fact[JOB_FACTS];           /* summed up over the steps that know it */
    /* Why one was left, and why one was only observed; borrowed from the steps; NULL. */
    const char *reason, *watched;
    enum wire_left left_for;
    bool may_isolate;    /* one may ask for a cache of its own, and has not */
    const char *program; /* of a step whose cache use nobody knows; borrowed; NULL */
};

/* Adds up the steps, of which each node has an element. `job` is NULL where Slurm does not know it.
 */
void job_sum(struct json_object *steps, const struct slurm_job *job, struct job_sum *sum);

/* Writes the one thing that helps most; "" where nothing does (job_hint.c). */
void job_hint(const struct job_sum *sum, const char *state, char *text, size_t size);

#endif
