/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print - a machine profile for people: each node, each pair of nodes, and how far
 * the runs were apart. */
#include <math.h>

#include "probe/calibrate/calibrate.h"
#include "packer/cli/common/ctl.h"

#define NOISY 0.2

/* Returns "12.3", or "-" where nothing was measured. */
static const char *number(double value, char text[32])
{
    return ctl_measure(value, value < 100 ? 1 : 0, text);
}

/* Prints core counts 1, 2, 4, ... and all of them, with what they got. */
static void print_curve(const char *title, const struct machine_figure *figure, size_t cores,
                        FILE *out)
{
    char text[32];

    fprintf(out, "  %-9s", title);
    for (size_t n = 1; n <= cores; n = n < cores && 2 * n > cores ? cores : 2 * n)
        fprintf(out, "%s%zu core%s %s", n > 1 ? ", " : "", n, n > 1 ? "s" : "",
                number(figure[n].value, text));
    fprintf(out, " GB/s\n");
}

static void print_node(const struct machine_profile *profile, size_t i, FILE *out)
{
    const struct machine_node *node = &profile->node[i];
    size_t own = i * profile->nodes + i;
    char list[CPUS_TEXT_MAX] = "", a[32], b[32];

    cpus_format(&node->cpus, list, sizeof(list));
    fprintf(out, "NUMA node %u: %zu cores (CPUs %s)\n", node->os_index, node->cores, list);
    print_curve("reads", node->local, node->cores, out);
    if (!isnan(node->cache.value))
        fprintf(out, "  one cache %s GB/s\n", number(node->cache.value, a));
    print_curve("triad", node->triad, node->cores, out);
    fprintf(out, "  latency  memory %s ns, core to core %s ns\n",
            number(profile->latency_ns[own].value, a), number(profile->core_latency[own].value, b));
    if (profile->nodes > 1)
        fprintf(out, "  shared   alpha %s GB/s, beta %.2f (correlation %.2f)\n",
                number(node->alpha.value, a), node->beta.value, node->correlation);
}

/* Prints "node 0 to node 3: 2.1 GB/s, both ways 4.0 GB/s, latency 180 ns, core to core 140 ns, over
 * 2" */
static void print_pair(const struct machine_profile *profile, size_t from, size_t to, FILE *out)
{
    size_t pair = from * profile->nodes + to;
    const struct machine_route *route = &profile->route[pair];
    char uni[32], bi[32], latency[32], cores[32];

    fprintf(out,
            "node %u to node %u: %s GB/s, both ways %s GB/s, latency %s ns, core to core %s ns",
            profile->node[from].os_index, profile->node[to].os_index,
            number(profile->uni[pair].value, uni), number(profile->bi[pair].value, bi),
            number(profile->latency_ns[pair].value, latency),
            number(profile->core_latency[pair].value, cores));
    for (size_t hop = 1; hop < route->hops; hop++)
        fprintf(out, "%s %u", hop > 1 ? "," : ", over", profile->node[route->node[hop]].os_index);
    fputc('\n', out);
}

/* Prints "memory: DDR4-2667, 4 channels of 2 ranks of 16 banks on each node (SMBIOS, SPD)", and
 * what of it is not known. */
static void print_dram(const struct machine_dram *dram, FILE *out)
{
    char missing[512], channels[32], ranks[32], banks[32], speed[32];

    if (dram->source[0])
        fprintf(out, "memory: %s-%s, %s channels of %s ranks of %s banks on each node (%s)\n",
                dram->type[0] ? dram->type : "-", ctl_measure(2000 / dram->tck_ns, 0, speed),
                ctl_measure(dram->channels, 0, channels), ctl_measure(dram->ranks, 0, ranks),
                ctl_measure(dram->banks, 0, banks), dram->source);
    machine_dram_missing(dram, missing, sizeof(missing));
    if (missing[0])
        fprintf(out, "not known of the memory: %s (--dram gives them)\n", missing);
}

/* Prints "clock: 3.70 GHz with one core busy, 3.50 with 8, 3.10 with all 16 of a package". */
static void print_clock(const struct clock_curve *clock, FILE *out)
{
    if (!clock_is_known(clock)) {
        fprintf(out, "clock: not known\n");
        return;
    }
    fprintf(out, "clock: %.2f GHz with one core busy", clock->one_ghz);
    if (clock->cores > 2 && clock->half_ghz > 0)
        fprintf(out, ", %.2f with %zu", clock->half_ghz, clock->cores / 2);
    fprintf(out, ", %.2f with all %zu of a package\n", clock->all_ghz, clock->cores);
}

static void widen(const struct machine_figure *figure, size_t n, double *widest)
{
    for (size_t i = 0; i < n; i++)
        *widest = fmax(*widest, figure[i].spread); /* NAN: the other */
}

/* Returns the greatest spread of a bandwidth. */
static double widest_spread(const struct machine_profile *profile)
{
    size_t pairs = profile->nodes * profile->nodes;
    double widest = 0;

    for (size_t i = 0; i < profile->nodes; i++) {
        widen(profile->node[i].local, profile->node[i].cores + 1, &widest);
        widen(profile->node[i].triad, profile->node[i].cores + 1, &widest);
    }
    widen(profile->uni, pairs, &widest);
    widen(profile->bi, pairs, &widest);
    return widest;
}

static void print_suspend(const struct machine_figure *suspend, FILE *out)
{
    char text[32];

    if (!isnan(suspend->value))
        fprintf(out, "a system call that suspends its thread: %s ns\n",
                number(suspend->value, text));
}

void calibrate_print(const struct machine_profile *profile, FILE *out)
{
    double spread = widest_spread(profile);

    for (size_t i = 0; i < profile->nodes; i++)
        print_node(profile, i, out);
    for (size_t i = 0; i < profile->nodes; i++)
        for (size_t j = 0; j < profile->nodes; j++)
            if (i != j)
                print_pair(profile, i, j, out);
    print_dram(&profile->dram, out);
    print_clock(&profile->clock, out);
    print_suspend(&profile->suspend_ns, out);
    if (profile->nodes == 1)
        fprintf(out, "one NUMA node: nothing to measure between nodes\n");
    fprintf(out, "medians of %u runs; bandwidths differed by up to %.0f %%%s\n", profile->runs,
            100 * spread, spread > NOISY ? ": something else is running here" : "");
}
