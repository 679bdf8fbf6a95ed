/* SPDX-License-Identifier: GPL-2.0-or-later */
/* claims - who has which cores, where Slurm gave some to several (share.h).
 *
 * A claim is what must stay together on its cores: steps of one job that Slurm let overlap, unless
 * they asked for `adapt`. Claims that have cores in common, directly or by others, are a party. */
#ifndef BERTH_SIZE_CLAIMS_H
#define BERTH_SIZE_CLAIMS_H

#include "packer/steps/packer.h"

#define CLAIM_NONE ((size_t)-1)

struct claim {
    uint32_t job;
    struct cpus cores, part; /* sets of cores, not of CPUs */
    size_t same;             /* the one before it of its job; CLAIM_NONE: there is none */
    size_t party;            /* the first of it */
    size_t next;             /* the next of its party; CLAIM_NONE: it is the last */
    size_t got;
    bool shared; /* of the first: there are others */
    bool served; /* of the first: each task has CPUs of its own in its claim's part */
    bool apart;  /* its step asked for `adapt`: it is no one with others of its job that did */
    bool dealt;  /* ADAPT has said how many it gets: its need */
    double need; /* cores */
};

struct claims {
    const struct packer *packer;
    bool grown; /* only of steps that do not wait (share_wait.h) */
    size_t n, ncores;
    struct claim *claim; /* [n] */
    size_t slots,
        *slot;       /* [slots] the newest claim of a job, or CLAIM_NONE: hashed by its number */
    size_t *of_step; /* [live steps, in their order] claim, or CLAIM_NONE */
    size_t *owner;   /* [ncores] claim */
};

/* Goes through the claims of a party, the first of which it is. */
#define foreach_claim(c, claims, party)                                                            \
    for (size_t c = (party); c != CLAIM_NONE; c = (claims)->claim[c].next)

/* Finds out who has which cores; with `grown`, without those who wait. Where no core is of two
 * nobody has a claim. 0, or -1: out of memory. In both cases claims_free() is to be called. */
int claims_read(const struct packer *packer, bool grown, struct claims *claims);
void claims_free(struct claims *claims);

/* The cores that Slurm, and sizing, left to the step. */
void claims_cores_of(const struct topo *topo, const struct step *step, struct cpus *cores);

#endif
