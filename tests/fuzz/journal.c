/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of the journal: any file opens or is refused with a reason; what is loaded is sound.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "packer/steps/journal.h"
#include "packer/steps/registers.h"
#include "tests/fuzz/fuzz.h"

#define CORES 8

#define START                                                                                      \
    "{\"op\":\"start\",\"request\":{\"version\":1,\"op\":\"register\",\"job\":1,\"step\":0,"       \
    "\"uid\":0,"                                                                                   \
    "\"options\":{\"mode\":\"auto\"},\"tasks\":[[0,5],[1,6]]},\"started_at\":1700000000,"          \
    "\"started_mono_s\":12.5,\"moves\":3,\"state\":\"placed\",\"reason\":\"\",\"body\":{\"leaf\":" \
    "\"l\","                                                                                       \
    "\"job_home\":\"0-3\",\"step_home\":\"0-1\",\"mems_home\":\"0\",\"homes\":[\"0\",\"1\"]}}\n"
/* With slices and packages of threads, and without any more. */
#define INSIDE(what)                                                                               \
    "{\"op\":\"start\",\"request\":{\"version\":1,\"op\":\"register\",\"job\":1,\"step\":0,"       \
    "\"uid\":0,\"options\":{\"mode\":\"auto\",\"faithful\":true,\"shuffle\":true},"                \
    "\"tasks\":[[0,5]]},\"state\":\"placed\",\"sliced\":" what                                     \
    ",\"slices_ms\":\"20,100\",\"shuffled\":" what                                                 \
    ",\"body\":{\"leaf\":\"l\",\"job_home\":\"0-3\",\"step_home\":\"0-1\",\"mems_home\":\"0\","    \
    "\"homes\":[\"0-1\"]}}\n"
#define STAND "{\"op\":\"stand\",\"stand\":[[0,1],[1,0],[2,2]]}\n"
#define REGISTERS "{\"op\":\"registers\",\"registers\":[[0,0,15],[7,18446744073709551615,5]]}\n"
#define END "{\"op\":\"end\",\"job\":1,\"step\":0}\n"
#define RUN                                                                                        \
    "\"job\":1,\"uid\":0,\"at\":1700000000,\"from\":1700000000,\"until\":1700000009,\"node\":"     \
    "\"n\"}\n"
#define ASK "{\"op\":\"ask\"," RUN
#define TOLD "{\"op\":\"told\"," RUN

static const char *const seeds[] = {START STAND,
                                    START STAND END,
                                    START ASK END TOLD,
                                    INSIDE("true") STAND INSIDE("false"),
                                    INSIDE("true") STAND END INSIDE("1"),
                                    START REGISTERS END,
                                    STAND "{\"op\":\"st",
                                    "",
                                    NULL};

static void assert_permutation(const struct pool *pool)
{
    bool taken[CORES] = {false};

    for (size_t i = 0; i < pool->cores; i++) {
        if (!pool_has(pool, i))
            continue;
        fuzz_assert(pool_has(pool, pool->stand[i]) && !taken[pool->stand[i]]);
        taken[pool->stand[i]] = true;
    }
}

/* No two live steps of one name, each with its tasks. */
static void assert_steps(struct registry *registry)
{
    struct step *step;
    size_t n = 0;

    TAILQ_FOREACH(step, &registry->live, link)
    {
        fuzz_assert(step->body.ntasks > 0 && step->body.ntasks == step->request.ntasks);
        fuzz_assert(registry_find(registry, step->request.id) == step);
        n++;
    }
    fuzz_assert(n == registry->nlive);
}

static void one(const uint8_t *data, size_t size)
{
    struct berth_error err = {""};
    struct known_jobs jobs;
    struct packer packer;

    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    fuzz_assert(packer_make(&packer, &err) == 0);
    registry_init(packer.steps, 4);
    known_jobs_init(&jobs);
    packer.state->jobs = &jobs;
    fuzz_assert(pool_init(packer.state->pool, CORES) == 0);
    fuzz_assert(journal_open(&packer, fuzz_file("journal", data, size), &err) == 0);
    if (journal_load(&packer, &err) == 0) {
        assert_steps(packer.steps);
        for (size_t i = 0; i < packer.state->registers->n; i++)
            fuzz_assert(packer.state->registers->core[i].cpu < CPUS_MAX);
        fuzz_assert(journal_compact(&packer, true, &err) == 0);
    } else {
        fuzz_assert(err.text[0]);
    }
    assert_permutation(packer.state->pool);
    journal_close(&packer);
    pool_free(packer.state->pool);
    registry_free(packer.steps);
    registers_free(packer.state->registers);
    known_jobs_free(&jobs);
    packer_free(&packer);
}

const struct fuzz_target fuzz_journal = {.name = "journal", .one = one, .seed = seeds};
