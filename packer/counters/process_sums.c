/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/counters/process_sums.h"

#include <stdlib.h>

#include "packer/base/array.h"

void process_sums_free(struct process_sums *tally)
{
    free(tally->process);
    *tally = (struct process_sums){0};
}

static int by_number(const void *a, const void *b)
{
    pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

    return (left > right) - (left < right);
}

static int by_pid(const void *a, const void *b)
{
    return by_number(&((const struct process_sum *)a)->pid, &((const struct process_sum *)b)->pid);
}

static struct process_sum *find_sum(struct process_sums *tally, size_t n, pid_t pid)
{
    struct process_sum key = {.pid = pid};

    return n ? bsearch(&key, tally->process, n, sizeof(key), by_pid) : NULL;
}

long process_sums_enter(struct process_sums *tally, pid_t *pid, size_t n)
{
    size_t known = tally->n, fresh = 0;

    if (n)
        qsort(pid, n, sizeof(*pid), by_number);
    for (size_t i = 0; i < n; i++)
        fresh += !find_sum(tally, known, pid[i]) && (i == 0 || pid[i] != pid[i - 1]);
    if (fresh == 0)
        return 0;
    if (array_grow(&tally->process, &tally->room, known + fresh, sizeof(*tally->process)) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!find_sum(tally, known, pid[i]) && (i == 0 || pid[i] != pid[i - 1]))
            tally->process[tally->n++] = (struct process_sum){.pid = pid[i], .fd = -1};
    qsort(tally->process, tally->n, sizeof(*tally->process), by_pid);
    return (long)fresh;
}

void process_sums_see(struct process_sums *tally, struct process_sum *process,
                      enum process_sums_count count, double value)
{
    if (value < process->own[count])
        tally->past[count] += process->own[count] - value;
    process->own[count] = value;
}

struct process_sum *process_sums_heir(struct process_sums *tally, const struct process_sum *process)
{
    struct process_sum *heir = NULL;

    for (size_t i = 0; i < tally->n && process->gone; i++) { /* a chain is not longer than that */
        heir = find_sum(tally, tally->n, process->parent);
        if (!heir || !heir->gone)
            return heir;
        process = heir;
    }
    return NULL;
}

/* What one that is gone had goes to its heir's due, or into the past. */
static void bequeath(struct process_sums *tally, const struct process_sum *process)
{
    struct process_sum *heir = process_sums_heir(tally, process);
    double *to = heir ? heir->due : tally->past;

    for (int i = 0; i < PROCESS_SUMS_INHERITED; i++)
        to[i] += process->own[i] + process->waited[i];
    for (int i = PROCESS_SUMS_INHERITED; i < PROCESS_SUMS_COUNTS; i++)
        tally->past[i] += process->own[i];
}

/* Did what it has inherited grow by what was due? What is missing goes into the past. */
static void inherit(struct process_sums *tally, struct process_sum *process)
{
    for (int i = 0; i < PROCESS_SUMS_INHERITED; i++) {
        double missing = process->due[i] - (process->waited[i] - process->before[i]);

        if (process->due[i] > 0 && missing > 0)
            tally->past[i] += missing;
        process->due[i] = 0;
        process->before[i] = process->waited[i];
    }
}

void process_sums_settle(struct process_sums *tally)
{
    size_t kept = 0;

    for (size_t i = 0; i < tally->n; i++)
        if (tally->process[i].gone)
            bequeath(tally, &tally->process[i]);
    for (size_t i = 0; i < tally->n; i++) {
        if (tally->process[i].gone)
            continue;
        inherit(tally, &tally->process[i]);
        if (kept != i)
            tally->process[kept] = tally->process[i];
        kept++;
    }
    tally->n = kept;
}

double process_sums_total(const struct process_sums *tally, enum process_sums_count count)
{
    double total = tally->past[count];

    for (size_t i = 0; i < tally->n; i++) {
        total += tally->process[i].own[count];
        if (count < PROCESS_SUMS_INHERITED)
            total += tally->process[i].waited[count];
    }
    return total;
}
