/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_slurm - see day_slurm.h */
#include "tests/bench/day_slurm.h"

#include <string.h>

/* The cores that may be taken, and by how many each socket has them. */
struct sockets {
    const struct topo *topo;
    enum day_socket by;
    size_t n;
    size_t left[CPUS_MAX]; /* [n] */
    bool may[CPUS_MAX];    /* [topo->cores] */
};

static size_t socket_of(const struct sockets *sockets, size_t core)
{
    const struct topo_core *of = &sockets->topo->core[core];

    return sockets->by == DAY_SOCKET_L3 ? of->llc : of->package;
}

/* Returns how many there are. */
static size_t sockets_fill(struct sockets *sockets, const struct topo *topo, enum day_socket by,
                           const bool *may)
{
    size_t cores = 0;

    *sockets = (struct sockets){.topo = topo, .by = by};
    sockets->n = by == DAY_SOCKET_L3 ? topo->llcs : topo->packages;
    for (size_t c = 0; c < topo->cores; c++) {
        sockets->may[c] = may[c];
        sockets->left[socket_of(sockets, c)] += may[c];
        cores += may[c];
    }
    return cores;
}

/* Takes the lowest cores of a socket that has as many. */
static void take_cores(struct sockets *sockets, size_t socket, size_t cores, size_t *core)
{
    for (size_t c = 0, n = 0; n < cores; c++)
        if (sockets->may[c] && socket_of(sockets, c) == socket) {
            sockets->may[c] = false;
            core[n++] = c;
        }
    sockets->left[socket] -= cores;
}

/* Returns the first socket from `first` on, and then from the beginning, that has as many; or how
 * many sockets there are. */
static size_t fits(const struct sockets *sockets, size_t first, size_t cores)
{
    for (size_t i = 0; i < sockets->n; i++)
        if (sockets->left[(first + i) % sockets->n] >= cores)
            return (first + i) % sockets->n;
    return sockets->n;
}

/* Takes cores from the sockets in turn, beginning with `next`. */
static void take_in_turn(struct sockets *sockets, size_t next, size_t cores, size_t *core)
{
    for (size_t n = 0; n < cores; n++) {
        size_t socket = fits(sockets, next, 1);

        take_cores(sockets, socket, 1, core + n);
        next = socket + 1;
    }
}

/* ---- which cores the job has ---- */

static void choose(struct sockets *sockets, size_t tasks, size_t width, size_t *core)
{
    size_t whole = 0;

    while (width > 1 && whole < tasks) {
        size_t socket = fits(sockets, 0, width);

        if (socket == sockets->n)
            break;
        take_cores(sockets, socket, width, core + whole * width);
        whole++;
    }
    take_in_turn(sockets, 0, (tasks - whole) * width, core + whole * width);
}

/* ---- which of them each task has ---- */

static void divide(struct sockets *sockets, size_t tasks, size_t width, size_t *core)
{
    for (size_t t = 0, next = 0; t < tasks; t++) {
        size_t socket = fits(sockets, next, width);

        if (socket == sockets->n) {
            take_in_turn(sockets, next, width, core + t * width);
            continue;
        }
        take_cores(sockets, socket, width, core + t * width);
        next = socket + 1;
    }
}

int day_slurm_give(const struct topo *topo, enum day_socket socket, const bool *is_free,
                   size_t tasks, size_t width, size_t *core)
{
    bool has[CPUS_MAX] = {false};
    struct sockets sockets;

    if (sockets_fill(&sockets, topo, socket, is_free) < tasks * width)
        return -1;
    choose(&sockets, tasks, width, core);
    for (size_t c = 0; c < tasks * width; c++)
        has[core[c]] = true;
    sockets_fill(&sockets, topo, socket, has);
    divide(&sockets, tasks, width, core);
    return 0;
}
