/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faulter - a child that touches addresses on demand, each new touch of a page with a page fault:
 * faults stand in for the cache misses of a processor with a PMU, and are counted exactly. */
#ifndef TESTS_UNIT_FAULTER_H
#define TESTS_UNIT_FAULTER_H

#include <stdint.h>
#include <sys/types.h>

#define FAULTER_PAGES 256

struct faulter {
    pid_t pid;
    int socket;
    char *page[FAULTER_PAGES]; /* addresses in the child */
};

void faulter_start(struct faulter *faulter);

/* The child touches this page: anew, with one fault, or as it is, with none. It has done so on
 * return. */
void faulter_miss(struct faulter *faulter, unsigned page);
void faulter_hit(struct faulter *faulter, unsigned page);

/* It ends. Its status, as of waitpid(2). */
int faulter_stop(struct faulter *faulter);

#endif
