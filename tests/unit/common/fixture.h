/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fixture - a node packer in a temporary folder, on a synthetic machine, for the unit tests of what
 * needs a whole struct packer.
 *
 * Opened with the dryrun way and tasks whose pids no kernel can give (greater than its pid_max), so
 * that nothing on this machine is touched. fixture_paper exchanges the way for one that keeps its
 * cgroups on paper: steps live until the test says otherwise, tasks have the homes that the test
 * dealt, and every call is written down. */
#ifndef BERTH_FIXTURE_H
#define BERTH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "packer/daemon/pipeline.h"
#include "packer/steps/packer.h"

#define TWO_BY_TWO "package:2 l3:2 core:2 pu:1"      /* 4 caches of 2 cores, CPU = core */
#define FOURS_ON_TWO_NODES "numa:2 l3:1 core:4 pu:1" /* 2 memory nodes of 4 cores, CPU = core */
#define TWO_BY_TWO_SMT "package:2 l3:2 core:2 pu:2"  /* CPU = 2 * core, and + 1 */

struct fixture {
    char dir[64];
    struct conf conf;
    struct packer packer;
    struct enforce_way way; /* the paper's */
    void *owner;            /* whose it is, for a way of another test's own */
    char calls[4096];       /* "apply 1.0 2-3; restore 1.0 0-1; "; "set": apply with enforce.anew */
    uint32_t fails;         /* applying this job's steps fails; 0: none's */
    uint32_t stuck;         /* bringing this job's steps home fails; 0: none's */
    uint32_t dead;          /* this job has no process any more; 0: none */
};

/* A packer in a folder of its own; fails the test when it cannot be opened. */
/* Does the last line of the journal that has the key, of a flag, say that it is true? */
bool fixture_journal_has(const struct fixture *f, const char *key);

/* No file of this process may grow beyond so many bytes; RLIM_INFINITY: they may again. */
void fixture_limit_files(rlim_t bytes);

/* Its policy is DI, as far as nobody says otherwise in f->conf before fixture_restart. */
struct fixture *fixture_open(const char *topology);
void fixture_close(struct fixture *f); /* removes the folder too */
int fixture_teardown(void **state);    /* the same, as cmocka wants it */

/* Opens one with two steps, each on the other's core: 1.0 of core 0 on 2, 2.0 of core 2 on 0. */
int fixture_open_swapped(void **state);

/* The daemon dies and another one starts on the same folder (without pipeline_resume). */
void fixture_restart(struct fixture *f);

/* Does that with each hardware thread a place of its own. */
void fixture_split(struct fixture *f);

/* Opens one of four caches of two cores, whose way is paper, for a test's setup: *state. Returns
 * 0. */
int fixture_on_paper(void **state);

/* Returns whose way on paper that is. */
struct fixture *fixture_of(const struct enforce *enforce);

/* From now on the way is paper. Homes: the step's CPUs dealt to its tasks in equal runs. */
void fixture_paper(struct fixture *f);

/* Forget the calls so far. */
void fixture_forget(struct fixture *f);

/* The profile store says so about programs with that tag. */
void fixture_profile(struct fixture *f, const char *tag, double miss_pmi);

/* The same, with a run at full speed; 0: not measured. With lines of 64 bytes a core reads
 * miss_pmi * instructions_per_s * 64e-15 GB/s. */
void fixture_timed(struct fixture *f, const char *tag, double miss_pmi, double instructions_per_s);

/* The machine profile says: so many nodes of so many cores, local[0 .. cores] GB/s with so many of
 * them, between nodes 4 one way and 6 both ways. The packer is opened anew. */
void fixture_machine(struct fixture *f, size_t nodes, size_t cores, const double *local);

/* The machine has a GPU of NVIDIA's at that PCI address ("0000:3b:00.0"), memory node and near
 * these CPUs: the next packer that is opened knows of it. */
void fixture_gpu(struct fixture *f, const char *pci, const char *node, const char *cpus);

/* A registration, mode auto, with those CPUs (job and step) and ntasks tasks. The pipeline takes it
 * over. */
struct wire_register fixture_request(uint32_t job, uint32_t step, const char *job_cpus,
                                     const char *step_cpus, size_t ntasks, const char *tag);

/* Register it and expect success; the live step. */
struct step *fixture_start(struct fixture *f, struct wire_register request);

/* fixture_request, then fixture_start, for a step of one task that has all of its job. */
struct step *fixture_run(struct fixture *f, uint32_t job, const char *cpus, const char *tag);

/* Has the pool's members known, then decides where all stand; fails the test where it cannot. */
void fixture_decide(struct fixture *f);

/* Writes /proc/stat of the fixture's folder: CPU i of 8 has worked busy[i] hundredths of a second;
 * NULL: none has. */
void fixture_busy(struct fixture *f, const unsigned *busy);

/* All live steps are so many seconds old, and their windows over. */
void fixture_age(struct fixture *f, double age_s);

void fixture_end(struct fixture *f, uint32_t job, uint32_t step);

/* Whoever stands for core a and for core b change places, whatever that gains. */
void fixture_exchange(struct fixture *f, size_t a, size_t b);

/* A step that is in the registry only: placed, one task for each of the homes (NULL ends them). */
struct step *fixture_put(struct fixture *f, uint32_t job, uint32_t step, const char *job_cpus,
                         double miss_pmi, const char *const *homes);

/* Sets and their text. */
/* Returns the step, which is there. */
struct step *fixture_step(struct fixture *f, uint32_t job, uint32_t step);

struct cpus cpus_of(const char *text);
void assert_cpus(const struct cpus *set, const char *text);

/* stand[] of the pool as text: "1 0 - -". */
void assert_stand(const struct pool *pool, const char *text);

#endif
