/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpus - see cpus.h */
#include "packer/base/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cpus_zero(struct cpus *set)
{
    memset(set, 0, sizeof(*set));
}

void cpus_add(struct cpus *set, size_t cpu)
{
    if (cpu < CPUS_MAX)
        set->word[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

void cpus_remove(struct cpus *set, size_t cpu)
{
    if (cpu < CPUS_MAX)
        set->word[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
}

bool cpus_has(const struct cpus *set, size_t cpu)
{
    return cpu < CPUS_MAX && (set->word[cpu / 64] >> (cpu % 64) & 1);
}

size_t cpus_count(const struct cpus *set)
{
    size_t count = 0;

    for (size_t i = 0; i < CPUS_WORDS; i++)
        count += (size_t)__builtin_popcountll(set->word[i]);
    return count;
}

bool cpus_equal(const struct cpus *a, const struct cpus *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* The loops below look at every word, so that the compiler can take several at a time. */
bool cpus_empty(const struct cpus *set)
{
    uint64_t any = 0;

    for (size_t i = 0; i < CPUS_WORDS; i++)
        any |= set->word[i];
    return any == 0;
}

bool cpus_subset(const struct cpus *inner, const struct cpus *outer)
{
    uint64_t outside = 0;

    for (size_t i = 0; i < CPUS_WORDS; i++)
        outside |= inner->word[i] & ~outer->word[i];
    return outside == 0;
}

bool cpus_intersect(const struct cpus *a, const struct cpus *b)
{
    uint64_t both = 0;

    for (size_t i = 0; i < CPUS_WORDS; i++)
        both |= a->word[i] & b->word[i];
    return both != 0;
}

void cpus_or(struct cpus *set, const struct cpus *other)
{
    for (size_t i = 0; i < CPUS_WORDS; i++)
        set->word[i] |= other->word[i];
}

void cpus_and(struct cpus *set, const struct cpus *other)
{
    for (size_t i = 0; i < CPUS_WORDS; i++)
        set->word[i] &= other->word[i];
}

void cpus_andnot(struct cpus *set, const struct cpus *other)
{
    for (size_t i = 0; i < CPUS_WORDS; i++)
        set->word[i] &= ~other->word[i];
}

size_t cpus_next(const struct cpus *set, size_t from)
{
    const uint64_t *word = set->word;
    size_t i = from / 64;
    uint64_t rest;

    if (from >= CPUS_MAX)
        return CPUS_MAX;
    rest = word[i] & ~UINT64_C(0) << (from % 64);
    while (rest == 0 && ++i < CPUS_WORDS) {
        if (i % 4 == 0) /* most sets are small: step over empty space in strides */
            while (i < CPUS_WORDS && !(word[i] | word[i + 1] | word[i + 2] | word[i + 3]))
                i += 4;
        if (i < CPUS_WORDS)
            rest = word[i];
    }
    return rest ? i * 64 + (size_t)__builtin_ctzll(rest) : CPUS_MAX;
}

/* Read one CPU number at *at and step over it. */
static int parse_number(const char **at, unsigned long *number)
{
    char *end;

    if (!isdigit((unsigned char)**at)) {
        errno = EINVAL;
        return -1;
    }
    errno = 0;
    *number = strtoul(*at, &end, 10);
    if (errno || *number >= CPUS_MAX) {
        errno = ERANGE;
        return -1;
    }
    *at = end;
    return 0;
}

/* Read "N" or "N-M" at *at, add it to set and step over it. */
static int parse_range(const char **at, struct cpus *set)
{
    unsigned long first, last;

    if (parse_number(at, &first) < 0)
        return -1;
    last = first;
    if (**at == '-') {
        (*at)++;
        if (parse_number(at, &last) < 0)
            return -1;
    }
    if (last < first) {
        errno = EINVAL;
        return -1;
    }
    for (unsigned long cpu = first; cpu <= last; cpu++)
        cpus_add(set, cpu);
    return 0;
}

int cpus_parse(struct cpus *set, const char *text)
{
    const char *at = text + strspn(text, " \t");
    struct cpus read = {0};

    while (*at && !isspace((unsigned char)*at)) {
        if (parse_range(&at, &read) < 0)
            return -1;
        if (*at == ',' && isdigit((unsigned char)at[1]))
            at++;
        else if (*at && !isspace((unsigned char)*at))
            break;
    }
    if (at[strspn(at, " \t\n")]) {
        errno = EINVAL;
        return -1;
    }
    *set = read;
    return 0;
}

int cpus_format(const struct cpus *set, char *text, size_t size)
{
    size_t used = 0, first = cpus_next(set, 0);

    if (size == 0)
        goto full;
    text[0] = '\0';
    while (first < CPUS_MAX) {
        size_t last = first, next;
        int wrote;

        while ((next = cpus_next(set, last + 1)) == last + 1 && next < CPUS_MAX)
            last = next;
        wrote = first == last
                    ? snprintf(text + used, size - used, "%s%zu", used ? "," : "", first)
                    : snprintf(text + used, size - used, "%s%zu-%zu", used ? "," : "", first, last);
        if (wrote < 0 || (size_t)wrote >= size - used)
            goto full;
        used += (size_t)wrote;
        first = next;
    }
    return 0;
full:
    errno = ENOSPC;
    return -1;
}
