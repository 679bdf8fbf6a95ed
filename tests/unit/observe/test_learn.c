/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_learn - samples reach the store while nobody waits for it, and what cannot be stored at
 * first is stored later. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "packer/observe/learn.h"
#include "tests/unit/common/folder.h"

struct folder {
    char path[64], db[96];
};

static int setup(void **state)
{
    struct folder *folder = calloc(1, sizeof(*folder));

    folder_new(folder->path, sizeof(folder->path), "berth-learn");
    snprintf(folder->db, sizeof(folder->db), "%s/store.db", folder->path);
    *state = folder;
    return 0;
}

static int teardown(void **state)
{
    struct folder *folder = *state;

    folder_remove(folder->path);
    free(folder);
    return 0;
}

static struct profile_sample sample_of(unsigned program, double misses)
{
    struct profile_sample sample;
    char tag[32];

    profile_sample_init(&sample);
    snprintf(tag, sizeof(tag), "p%u", program);
    profile_key_tag(sample.key, tag);
    strcpy(sample.machine, "machine");
    strcpy(sample.source, "replay");
    sample.windows = 10;
    sample.seconds = 10;
    sample.instructions = 1e9;
    sample.measured_at = time(NULL);
    sample.rate[PROFILE_MISSES] = (struct profile_estimate){misses, 1};
    return sample;
}

static int count_one(const struct profile_sample *sample, void *arg)
{
    (void)sample;
    (*(size_t *)arg)++;
    return 0;
}

static size_t stored(const struct folder *folder)
{
    struct profiles *store;
    struct berth_error err;
    size_t n = 0;

    assert_int_equal(profiles_open(&store, folder->db, false, &err), 0);
    assert_int_equal(profiles_each_sample(store, NULL, count_one, &n, &err), 0);
    profiles_close(store);
    return n;
}

static void test_none(void **state)
{
    struct folder *folder = *state;

    learn_close(NULL);
    learn_close(learn_open(folder->db, "", 90));
    assert_int_equal(access(folder->db, F_OK), -1); /* nothing to write: no store is made */
}

static void test_many(void **state)
{
    struct folder *folder = *state;
    struct learner *learner = learn_open(folder->db, "", 90);

    for (unsigned i = 0; i < 200; i++) {
        struct profile_sample sample = sample_of(i, i);

        learn_put(learner, &sample);
    }
    learn_close(learner); /* waits for them */
    assert_int_equal(stored(folder), 200);
}

/* The folder is a file at first: nothing can be stored, nobody is held up, nothing is lost when it
 * can be. */
static void test_later(void **state)
{
    struct folder *folder = *state;
    char blocked[80], db[160];
    struct profile_sample sample = sample_of(1, 5);
    struct learner *learner;
    FILE *file;

    snprintf(blocked, sizeof(blocked), "%s/blocked", folder->path);
    snprintf(db, sizeof(db), "%s/store.db", blocked);
    file = fopen(blocked, "w");
    assert_non_null(file);
    fclose(file);
    learner = learn_open(db, "", 90);
    learn_put(learner, &sample);
    usleep(200000); /* it has failed now, or is about to: either must do */
    assert_int_equal(remove(blocked), 0);
    learn_put(learner, &sample);
    learn_close(learner);
    memcpy(folder->db, db, sizeof(folder->db));
    assert_int_equal(stored(folder), 1);
}

/* More than the queue holds while the store is out of reach: the newest stay, and closing does not
 * wait for ever. */
static void test_bounded(void **state)
{
    struct folder *folder = *state;
    struct learner *learner;

    strcat(folder->db, "/no/folder/for/it.db");
    learner = learn_open(folder->db, "", 90);
    for (unsigned i = 0; i < LEARN_QUEUE + 100; i++) {
        struct profile_sample sample = sample_of(i, 1);

        learn_put(learner, &sample);
    }
    learn_close(learner);
    assert_int_equal(access(folder->db, F_OK), -1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_none), CASE(test_many), CASE(test_later),
                                       CASE(test_bounded)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
