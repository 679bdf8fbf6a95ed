/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_train - see silence_train.h */
#include "tests/bench/silence_train.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "tests/bench/bench.h"
#include "tests/unit/common/folder.h"

void silence_train_add(struct silence_train *train, const struct silence_burst *burst)
{
    if (array_grow(&train->burst, &train->room, train->n + 1, sizeof(*burst)) < 0)
        bench_die("bursts", strerror(errno));
    train->burst[train->n++] = *burst;
}

void silence_train_know(struct silence_train *train, pid_t process, pid_t thread)
{
    struct silence_thread *known;
    char path[64];

    for (size_t i = 0; i < train->threads; i++)
        if (train->thread[i].id == thread)
            return;
    if (array_grow(&train->thread, &train->threads_room, train->threads + 1, sizeof(*known)) < 0)
        bench_die("threads", strerror(errno));
    known = &train->thread[train->threads++];
    known->id = thread;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)process, (int)thread);
    file_line(path, known->name, sizeof(known->name));
    if (!known->name[0])
        strcpy(known->name, "(gone)");
}

static int by_begin(const void *a, const void *b)
{
    const struct silence_burst *x = a, *y = b;

    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

void silence_train_sort(struct silence_train *train)
{
    if (train->n > 0)
        qsort(train->burst, train->n, sizeof(*train->burst), by_begin);
}

struct silence_figures silence_train_figures(const struct silence_train *train, pid_t thread)
{
    struct silence_figures figures = {.p90_s = NAN, .worst_s = NAN};
    double *run_s = calloc(train->n + 1, sizeof(*run_s)), sum_s = 0;

    if (!run_s)
        bench_die("bursts", strerror(errno));
    for (size_t i = 0; i < train->n; i++)
        if (thread == 0 || train->burst[i].thread == thread) {
            run_s[figures.n++] = train->burst[i].run_s;
            sum_s += train->burst[i].run_s;
        }
    figures.a_second = (double)figures.n / train->seconds;
    figures.share = sum_s / train->seconds;
    figures.median_s = array_median(run_s, figures.n);
    if (figures.n > 0) {
        figures.p90_s = run_s[(figures.n - 1) * 9 / 10];
        figures.worst_s = run_s[figures.n - 1];
    }
    free(run_s);
    return figures;
}

void silence_train_clear(struct silence_train *train)
{
    free(train->burst);
    free(train->thread);
    *train = (struct silence_train){0};
}
