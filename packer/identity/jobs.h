/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jobs - the runs of jobs that have, or had of late, steps on this node, and who they are.
 *
 * A job that was requeued has its number again. What is known under a number is of another run when
 * the job's end was heard of, and when no step of it was here for JOBS_KEPT_S: slurmctld starts a
 * job again only after its credentials have expired, by default 120 s. */
#ifndef BERTH_IDENTITY_JOBS_H
#define BERTH_IDENTITY_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "packer/identity/asker.h"

#define JOBS_KEPT_S 60
#define JOBS_KEPT_MAX 1024 /* runs without steps here after a look; the oldest go first */
#define JOBS_UNSEEN 2      /* looks in a row that find no folder of a job: it is over */

struct known_job {
    TAILQ_ENTRY(known_job) link;
    TAILQ_ENTRY(known_job) same;
    struct asker_run run; /* as it was asked for: since the first step here that was heard of */
    int64_t from;    /* when its first step here began, which may be one that was heard of late */
    size_t live;     /* steps of it here */
    int64_t until;   /* when the last of the others ended; 0: none has */
    bool asked;      /* an answer is on its way */
    bool over;       /* the job's end was heard of, Slurm has no folder of it any more, or an
                      * earlier berthd was told who it is and no step of it is left */
    unsigned unseen; /* looks in a row that found no folder of it */
    struct wire_identity is;
};

TAILQ_HEAD(known_job_list, known_job);

#define JOBS_BUCKETS 512 /* a power of two */

struct known_jobs {
    struct known_job_list list;                 /* newest first */
    struct known_job_list bucket[JOBS_BUCKETS]; /* the same by number: TAILQ same */
    size_t n, tidy_at; /* how many; with so many the old ones are forgotten */
};

void known_jobs_init(struct known_jobs *jobs);
void known_jobs_free(struct known_jobs *jobs);

/* Notes a step of a job, which began at that time. Returns its run, borrowed; NULL: no memory. */
struct known_job *known_jobs_begin(struct known_jobs *jobs, uint32_t job, uint32_t uid, int64_t at);

/* Takes a run up again that an earlier berthd has asked for in vain; of the same number, it is the
 * newest. Returns it, borrowed, `asked` and without steps; NULL: no memory. */
struct known_job *known_jobs_again(struct known_jobs *jobs, const struct asker_run *run);

/* Returns the newest run of that number whose end was not heard of; NULL: there is none. */
struct known_job *known_jobs_find(const struct known_jobs *jobs, uint32_t job);

/* Returns the run of a step that began at that time; NULL: it is forgotten. */
struct known_job *known_jobs_of(const struct known_jobs *jobs, uint32_t job, int64_t at);

/* Returns the run that was asked for; NULL: it is forgotten. */
struct known_job *known_jobs_find_run(const struct known_jobs *jobs, const struct asker_run *run);

/* Notes that a step of it has ended. */
void known_job_step_ended(struct known_job *job, int64_t at);

/* Takes note of a look at the folders that Slurm has: those of the n jobs of `seen`. Runs without
 * steps here whose job had none JOBS_UNSEEN times are over, though nobody told of it. */
void known_jobs_looked(struct known_jobs *jobs, const uint32_t *seen, size_t n);

/* Forgets runs without live steps that nobody will ask for any more at that time. */
void known_jobs_forget(struct known_jobs *jobs, int64_t now);

#endif
