/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit - see fit.h */
#include "probe/calibrate/fit.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "packer/base/array.h"

struct machine_figure calibrate_figure(double *run, size_t n)
{
    struct machine_figure figure = {NAN, NAN};
    size_t known = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(run[i]))
            run[known++] = run[i];
    n = known;
    if (n > 0)
        figure.value = array_median(run, n);
    if (n > 1 && figure.value != 0)
        figure.spread = fabs((run[n - 1] - run[0]) / figure.value);
    return figure;
}

int calibrate_line(size_t n, const double *x, const double *y, struct calibrate_line *line)
{
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;

    for (size_t i = 0; i < n; i++) {
        mean_x += x[i] / (double)n;
        mean_y += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
    }
    if (n < 2 || !(xx > 0))
        return -1;
    line->slope = xy / xx;
    line->intercept = mean_y - line->slope * mean_x;
    line->correlation = yy > 0 ? xy / sqrt(xx * yy) : 0;
    return 0;
}

/* Computes the correlation of all runs' points. */
static int correlate(size_t n, size_t runs, const double *demand, const double *out,
                     double *correlation)
{
    double *x = calloc(n * runs, sizeof(*x));
    struct calibrate_line line;
    int rc = -1;

    for (size_t i = 0; x && i < n * runs; i++)
        x[i] = demand[i % n];
    if (x && calibrate_line(n * runs, x, out, &line) == 0) {
        *correlation = fabs(line.correlation);
        rc = 0;
    }
    free(x);
    return rc;
}

int calibrate_contention(struct machine_node *node, size_t n, size_t runs, const double *demand,
                         const double *out)
{
    double *alpha = calloc(runs, sizeof(*alpha)), *beta = calloc(runs, sizeof(*beta));
    double correlation;
    int rc = alpha && beta ? correlate(n, runs, demand, out, &correlation) : -1;

    for (size_t r = 0; rc == 0 && r < runs; r++) {
        struct calibrate_line line;

        rc = calibrate_line(n, demand, &out[r * n], &line);
        alpha[r] = line.intercept;
        beta[r] = fmin(fmax(-line.slope, 0), 1);
    }
    if (rc == 0) {
        node->alpha = calibrate_figure(alpha, runs);
        node->beta = calibrate_figure(beta, runs);
        node->correlation = correlation;
    }
    free(alpha);
    free(beta);
    return rc;
}

/* ---- routes ---- */

/* Holds, in a search for ways from one node, what is known of another node. */
struct way {
    size_t hops; /* SIZE_MAX: not reached */
    size_t before;
    double width; /* of the narrowest link */
};

static bool linked(size_t nodes, const unsigned *distance, size_t i, size_t j)
{
    unsigned direct = distance[i * nodes + j];

    for (size_t x = 0; x < nodes; x++)
        if (x != i && x != j && distance[i * nodes + x] < direct &&
            distance[x * nodes + j] < direct)
            return false;
    return i != j;
}

/* Returns which node pairs are linked, in memory that the caller frees; NULL: no memory. */
static bool *find_links(size_t nodes, const unsigned *distance)
{
    bool *link = calloc(nodes * nodes, sizeof(*link));

    for (size_t i = 0; link && i < nodes * nodes; i++)
        link[i] = linked(nodes, distance, i / nodes, i % nodes);
    return link;
}

/* Finds all nodes that are `hops` links away, from those one link nearer. */
static bool extend(const struct machine_profile *profile, const bool *link, size_t hops,
                   struct way *way)
{
    size_t nodes = profile->nodes;
    bool found = false;

    for (size_t to = 0; to < nodes; to++) {
        if (way[to].hops < hops)
            continue;
        for (size_t x = 0; x < nodes; x++) {
            double uni = profile->uni[x * nodes + to].value, width;

            if (way[x].hops != hops - 1 || !link[x * nodes + to])
                continue;
            width = fmin(way[x].width, isnan(uni) ? 0 : uni);
            if (way[to].hops == hops && width <= way[to].width)
                continue;
            way[to] = (struct way){hops, x, width};
            found = true;
        }
    }
    return found;
}

/* Writes the way into the profile. */
static int keep(struct machine_profile *profile, const struct way *way, size_t from, size_t to)
{
    size_t node[MACHINE_NODES_MAX], at = to;

    if (way[to].hops == SIZE_MAX || from == to)
        return 0;
    for (size_t hop = way[to].hops + 1; hop-- > 0; at = way[at].before)
        node[hop] = at;
    return machine_profile_set_route(profile, node, way[to].hops);
}

int calibrate_routes(struct machine_profile *profile, const unsigned *distance)
{
    struct way way[MACHINE_NODES_MAX];
    bool *link = find_links(profile->nodes, distance);
    int rc = link ? 0 : -1;

    for (size_t from = 0; rc == 0 && from < profile->nodes; from++) {
        for (size_t i = 0; i < profile->nodes; i++)
            way[i] = (struct way){i == from ? 0 : SIZE_MAX, from, i == from ? INFINITY : 0};
        for (size_t hops = 1; extend(profile, link, hops, way);)
            hops++;
        for (size_t to = 0; rc == 0 && to < profile->nodes; to++)
            rc = keep(profile, way, from, to);
    }
    free(link);
    return rc;
}
