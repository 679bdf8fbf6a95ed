/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sharing - jobs that Slurm put on the same cores, for the tests of their parts. */
#ifndef BERTH_TESTS_SHARING_H
#define BERTH_TESTS_SHARING_H

#include "tests/unit/common/fixture.h"

/* A setup of cmocka: a fixture in which nobody grows old while a test runs. */
int sharing_open(void **state);

/* A step of one task that has all of its job. */
struct step *put(struct fixture *f, uint32_t job, uint32_t step, const char *home);

/* Its first window is over. */
void grows(struct step *step);

/* Divides the cores among the steps as they are, young ones and old ones; or when all have grown.
 */
void share_now(struct fixture *f);
void share(struct fixture *f);

void assert_use(const struct step *step, const char *cpus);

#endif
