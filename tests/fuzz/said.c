/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of what berth-job prints: job names are users' own, all else is a name or nothing. */
#include <stdlib.h>
#include <string.h>

#include "packer/identity/said.h"
#include "tests/fuzz/fuzz.h"

static const char *const seeds[] = {
    "{\"jobs\":[{\"source\":\"slurmctld\",\"job\":12,\"uid\":1001,\"start\":1700000000,\"restart\":"
    "1,"
    "\"nodes\":3,\"array_job\":10,\"array_task\":2,\"cluster\":\"north\",\"account\":\"phys\","
    "\"qos\":\"high\",\"partition\":\"long,short\",\"job_name\":\"a \\\"fit\\\"\"},"
    "{\"source\":\"none\",\"job\":13,\"why\":\"no such job\"}]}\n",
    "{\"jobs\":[]}\n",
    "{\"jobs\":[{\"source\":\"slurmdbd\",\"job\":1,\"uid\":0,\"account\":\"x;y\"}]}",
    "slurm_load_job: no", NULL};

static void assert_name(const char *name, size_t size)
{
    fuzz_assert(memchr(name, '\0', size));
    fuzz_assert(!*name || wire_name_valid(name));
}

static void one(const uint8_t *data, size_t size)
{
    struct said_job *job = malloc(SAID_JOBS_MAX * sizeof(*job)); /* a write beyond it is seen */
    char *line = fuzz_text(data, size);
    struct berth_error err = {""};
    int n = said_read(line, job, &err);

    fuzz_assert(n <= SAID_JOBS_MAX && (n >= 0 || err.text[0]));
    for (int i = 0; i < n; i++) {
        const struct wire_identity *is = &job[i].is;

        fuzz_assert(is->source < WIRE_SOURCES);
        fuzz_assert(memchr(job[i].why, '\0', sizeof(job[i].why)));
        fuzz_assert(memchr(is->job_name, '\0', sizeof(is->job_name)));
        assert_name(is->cluster, sizeof(is->cluster));
        assert_name(is->account, sizeof(is->account));
        assert_name(is->qos, sizeof(is->qos));
        assert_name(is->partition, sizeof(is->partition));
    }
    free(line);
    free(job);
}

const struct fuzz_target fuzz_said = {.name = "said", .one = one, .seed = seeds};
