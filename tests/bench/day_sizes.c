/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_sizes - see day_sizes.h */
#include "tests/bench/day_sizes.h"

#include <stdlib.h>

#include "tests/bench/day_log.h"
#include "tests/bench/day_random.h"

static int add(struct day_sizes *sizes, size_t cores, bool ranks)
{
    size_t room = sizes->n + 1;
    struct day_size *more;

    if ((sizes->n & room) == 0) { /* it is full at each power of two */
        more = realloc(sizes->size, 2 * room * sizeof(*more));
        if (!more)
            return -1;
        sizes->size = more;
    }
    sizes->size[sizes->n++] = (struct day_size){cores, ranks};
    return 0;
}

static int add_job(void *arg, const struct day_log_job *job)
{
    for (size_t i = 0; i < job->pieces; i++)
        if (add(arg, job->cores[i], job->pieces > 1) < 0)
            return -1;
    return 0;
}

int day_sizes_read(struct day_sizes *sizes, const char *path, struct berth_error *err)
{
    *sizes = (struct day_sizes){0};
    if (day_log_read(path, add_job, sizes, err) == 0)
        return 0;
    day_sizes_free(sizes);
    return -1;
}

void day_sizes_free(struct day_sizes *sizes)
{
    free(sizes->size);
    *sizes = (struct day_sizes){0};
}

void day_sizes_draw(const struct day_sizes *sizes, uint64_t *seed, size_t most, size_t *tasks,
                    size_t *width)
{
    const struct day_size *size = &sizes->size[(size_t)(day_random(seed) * (double)sizes->n)];
    size_t cores = size->cores < most ? size->cores : most;
    bool ranks = day_random(seed) < 0.5;

    *tasks = size->ranks || ranks ? cores : 1;
    *width = cores / *tasks;
}
