/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_files - the files that a step's processes share with berthd (runtime/page.h), of tests. */
#ifndef BERTH_TESTS_STEP_FILES_H
#define BERTH_TESTS_STEP_FILES_H

#include <sys/types.h>

#include "runtime/page.h"
#include "tests/unit/common/fixture.h"

#define STEP_FILES_PATH 8192

/* The path of a file in their folder. */
void step_files_path(const struct fixture *f, const char *name, char path[STEP_FILES_PATH]);

/* The page of step 1.0, which has to be whole. */
struct rt_page step_files_page(const struct fixture *f);

/* Writes to the FIFO of step 1.0, as a process of it would. */
void step_files_say(const struct fixture *f, const void *bytes, size_t length);

ino_t step_files_inode(const struct fixture *f, const char *name); /* 0: there is none */

#endif
