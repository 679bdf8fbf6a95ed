/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpus - holds a set of CPUs (hardware threads, as the kernel numbers them), of NUMA nodes, or of
 * other small numbers.
 *
 * A fixed array of bits, so that a set can be copied, journaled and kept in shared memory without
 * an owner. Also the one place where the kernel's and Slurm's list format ("0-3,8") is read and
 * written. */
#ifndef BERTH_BASE_CPUS_H
#define BERTH_BASE_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPUS_MAX 2048              /* the greatest two-socket machine of 2026 has 768 */
#define CPUS_WORDS (CPUS_MAX / 64) /* a multiple of 4 */
#define CPUS_TEXT_MAX 8192         /* bytes for any set: the longest is "0-1,3-4,6-7,..." */

struct cpus {
    uint64_t word[CPUS_WORDS]; /* bit i % 64 of word i / 64: CPU i */
};

void cpus_zero(struct cpus *set);
void cpus_add(struct cpus *set, size_t cpu);
void cpus_remove(struct cpus *set, size_t cpu);
bool cpus_has(const struct cpus *set, size_t cpu);
size_t cpus_count(const struct cpus *set);
bool cpus_empty(const struct cpus *set);
bool cpus_equal(const struct cpus *a, const struct cpus *b);
bool cpus_subset(const struct cpus *inner, const struct cpus *outer);
bool cpus_intersect(const struct cpus *a, const struct cpus *b);
void cpus_or(struct cpus *set, const struct cpus *other);     /* set |= other */
void cpus_and(struct cpus *set, const struct cpus *other);    /* set &= other */
void cpus_andnot(struct cpus *set, const struct cpus *other); /* set &= ~other */

/* Returns the first CPU of the set at or after `from`; CPUS_MAX when there is none. */
size_t cpus_next(const struct cpus *set, size_t from);
#define cpus_foreach(cpu, set)                                                                     \
    for (size_t cpu = cpus_next((set), 0); cpu < CPUS_MAX; cpu = cpus_next((set), cpu + 1))

/* Reads "0-3,8" (blanks and one final newline allowed, "" is the empty set). 0, or -1 with errno
 * EINVAL for other text or ERANGE for a CPU number of CPUS_MAX or more; set is unchanged then. */
int cpus_parse(struct cpus *set, const char *text);

/* Writes the set as "0-3,8" into text[size]. 0, or -1 with errno ENOSPC. */
int cpus_format(const struct cpus *set, char *text, size_t size);

#endif
