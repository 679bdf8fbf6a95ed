/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_node - see day_node.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/bench/day_node.h"

const struct day_placer day_node_slurm = {.name = "slurm"};

static const char *names[2] = {"devil", "turtle"};

void day_node_open(struct day_node *node, const char *topology, double gbps, struct app *apps,
                   double *pairs, size_t n, const size_t *app)
{
    struct day_plan plan = {.load = 0.5, .jobs = n, .days = 1, .seed = 1};
    struct berth_error err;

    node->truth = (struct day_truth){.slowdown = pairs, .line_bytes = 64, .clock_ghz = 2};
    node->truth.apps.n = 2;
    node->truth.apps.app = apps;
    node->truth.apps.name = names;
    node->truth.apps.machine.dram_gbps = gbps;
    assert_int_equal(topo_read(&node->topo, topology, &err), 0);
    assert_int_equal(topo_split(node->topo, &err), 0); /* of cores with one thread: the same */
    assert_int_equal(day_sim_open(&node->sim, &node->truth, node->topo, &plan, &err), 0);
    for (size_t i = 0; i < n; i++) {
        node->sim.job[i].app = app[i];
        node->sim.job[i].arrives = (int64_t)i * DAY_NS;
        node->sim.job[i].work_s = 100;
    }
}

void day_node_close(struct day_node *node)
{
    day_sim_close(&node->sim);
    topo_free(node->topo);
}

static void tell(double part)
{
    assert_true(part >= 0 && part <= 1);
}

void day_node_simulate(struct day_node *node, const struct day_placer *placer)
{
    struct berth_error err;

    if (day_sim_run(&node->sim, placer, tell, &err) < 0)
        fail_msg("%s", err.text);
}
