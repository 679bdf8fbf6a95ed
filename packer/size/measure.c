/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measure - what one core of a step asks of each memory, from two readings of its counters
 * (traffic.h).
 *
 * The best of three is taken:
 *   - pairs of nodes were counted: these
 *   - each node's cores were counted, own memory and others' apart: between two nodes that says
 * all; else what goes to others is divided by where the step's pages lie
 *   - the step was: its cores are taken to be alike. Each spreads some of its accesses over the
 *     step's pages, so that all that is remote is among these, and has the others in its own
 *     node's memory.
 * While nobody else works, what the memories count of all who run is the step's (memories.c): pairs
 * of nodes where these are counted, else what each memory gave to others' cores divides what is
 * remote, in the place of the pages, and what was written to each is written by who reads there.
 * Bytes stand in for lines where no reads were counted: they have the writes in them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/size/measuring.h"
#include "packer/size/memories.h"
#include "packer/steps/step_counts.h"

#define IDLE 0.05 /* of a core: who uses less disturbs nobody */

/* ---- what is known of the step and the machine ---- */

static void take_cores(struct measuring *m, const unsigned *cores)
{
    const struct topo *topo = m->packer->world.topo;

    for (size_t i = 0; i < m->n; i++)
        for (size_t t = 0; t < topo->nodes; t++)
            if (topo->node[t].os_index == measuring_os_index(m, i))
                m->cores[i] = cores[t];
    for (size_t i = 0; i < m->n; i++)
        if (m->cores[i] > 0)
            cpus_add(&m->traffic->known, i);
}

static void take_pages(struct measuring *m)
{
    double sum = 0;

    for (size_t i = 0; i < m->n; i++)
        if (measuring_os_index(m, i) < m->after->nodes)
            sum += m->pages[i] = m->after->rss_node[measuring_os_index(m, i)];
    for (size_t i = 0; i < m->n && sum > 0; i++)
        m->pages[i] /= sum;
}

/* What the cores of one node do with other packages' memory is what they do with other nodes'. */
static bool packages_are_nodes(const struct measuring *m)
{
    return m->packer->world.topo->nodes == m->packer->world.topo->packages;
}

/* Does somebody else of the pool work meanwhile? */
static bool is_disturbed(const struct packer *packer, const struct step *step)
{
    const struct step *other;
    double cpu, error;

    TAILQ_FOREACH(other, &packer->steps->live, link)
    if (other != step && !step_is_shell(other) &&
        (!step_counts_rate(other, RATE_CPU, &cpu, &error) || cpu > IDLE))
        return true;
    return false;
}

/* ---- into the matrix ---- */

/* The part of what the node's cores exchange with others' memory that is memory j's; NAN: nobody
 * knows. */
static double share_of(const struct measuring *m, size_t node, size_t j)
{
    double others = 0;

    if (j == node)
        return 0;
    if (m->n == 2 && m->packer->world.topo->nodes == 2)
        return 1;
    for (size_t i = 0; i < m->n; i++)
        others += i == node ? 0 : m->pages[i];
    return others > 0 ? m->pages[j] / others : NAN;
}

/* Is it known of all that is exchanged with others? */
static bool can_divide(const struct measuring *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->cores[i] > 0 && m->remote[i] > 0 && isnan(share_of(m, i, (i + 1) % m->n)))
            return false;
    return true;
}

/* Enters local[] and remote[], as reads or as writes. Returns false where it is not known between
 * which nodes. */
static bool enter(struct measuring *m, bool writes)
{
    double *solo = writes ? m->traffic->write_solo : m->traffic->read_solo;

    if (!can_divide(m))
        return false;
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            double away = m->remote[i] > 0 ? m->remote[i] * share_of(m, i, j) : 0;

            solo[writes ? i * m->n + j : j * m->n + i] =
                measuring_of_core(m, j == i ? m->local[i] : away, i);
            if (away > 0 && m->cores[i] > 0 && m->packer->world.topo->nodes > 2)
                m->traffic->source = SIZE_MATRIX_PAGES;
        }
    return true;
}

/* ---- counted by pairs of nodes ---- */

/* values[row * nodes + column]: whose cores, which memory. */
static void enter_pairs(struct measuring *m, bool writes, const double *values)
{
    double line = measuring_line_bytes(m->packer);
    size_t nodes = m->after->by_node->nodes;

    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            double bytes =
                values[measuring_os_index(m, i) * nodes + measuring_os_index(m, j)] * line;

            if (writes)
                m->traffic->write_solo[i * m->n + j] = measuring_of_core(m, bytes, i);
            else
                m->traffic->read_solo[j * m->n + i] = measuring_of_core(m, bytes, i);
        }
}

/* ---- counted by node ---- */

static bool take_by_node(struct measuring *m, enum by_node_kind local, enum by_node_kind remote,
                         double unit)
{
    double own[BY_NODE_MAX], others[BY_NODE_MAX];

    if (!measuring_grown(m, local, own) || !measuring_grown(m, remote, others))
        return false;
    for (size_t i = 0; i < m->n; i++) {
        m->local[i] = own[measuring_os_index(m, i)] * unit;
        m->remote[i] = others[measuring_os_index(m, i)] * unit;
    }
    return true;
}

/* Bytes of the own memory are among all bytes. */
static bool take_bytes_by_node(struct measuring *m)
{
    if (!packages_are_nodes(m) || !take_by_node(m, BY_NODE_BYTES_LOCAL, BY_NODE_BYTES, 1))
        return false;
    for (size_t i = 0; i < m->n; i++)
        m->remote[i] = fmax(m->remote[i] - m->local[i], 0);
    m->bytes = true;
    return true;
}

/* ---- counted of the whole step ---- */

static bool total(struct measuring *m, enum counter counter, double unit, double *bytes)
{
    if (!counters_know(m->before, counter) || !counters_know(m->after, counter))
        return false;
    *bytes = (m->after->value[counter] - m->before->value[counter]) * unit;
    if (!(*bytes >= 0))
        return false;
    measuring_error(m, m->after->error[counter]);
    return true;
}

/* All that it reads, where there is one memory. */
static bool take_only_memory(struct measuring *m)
{
    double line = measuring_line_bytes(m->packer);

    return m->packer->world.topo->nodes == 1 && m->n == 1 &&
           (total(m, COUNTER_READS_LOCAL, line, m->local) || total(m, COUNTER_BYTES, 1, m->local) ||
            total(m, COUNTER_LLC_MISSES, line, m->local));
}

static bool take_totals(struct measuring *m, double *local, double *remote)
{
    double line = measuring_line_bytes(m->packer), all;

    if (total(m, COUNTER_READS_LOCAL, line, local) && total(m, COUNTER_READS_REMOTE, line, remote))
        return true;
    if (!packages_are_nodes(m) || !total(m, COUNTER_BYTES_LOCAL, 1, local) ||
        !total(m, COUNTER_BYTES, 1, &all))
        return false;
    *remote = fmax(all - *local, 0);
    m->bytes = true;
    return true;
}

/* The cores stand on one node: it is that one's. */
static bool is_of_one_node(struct measuring *m, double local, double remote)
{
    size_t nodes = 0, node = 0;

    for (size_t i = 0; i < m->n; i++)
        if (m->cores[i] > 0) {
            nodes++;
            node = i;
        }
    if (nodes != 1)
        return false;
    m->local[node] = local;
    m->remote[node] = remote;
    return true;
}

/* Cores that are alike: each exchanges `spread` with the pages of all nodes, and `own` with those
 * of its own. */
static bool divide_totals(struct measuring *m, double local, double remote)
{
    double away = 0, home = 0, cores = 0, spread, own;

    if (is_of_one_node(m, local, remote))
        return true;
    for (size_t i = 0; i < m->n; i++) {
        cores += m->cores[i];
        home += m->cores[i] * m->pages[i];
        away += m->cores[i] * (1 - m->pages[i]);
    }
    if (!(home > 0) || !(away > 0))
        return false;
    spread = remote / away;
    own = fmax(local - spread * home, 0) / cores;
    for (size_t i = 0; i < m->n; i++) {
        m->remote[i] = spread * m->cores[i] * (1 - m->pages[i]);
        m->local[i] = own > 0 ? m->cores[i] * (own + spread * m->pages[i])
                              : local * m->cores[i] * m->pages[i] / home;
    }
    m->traffic->source = SIZE_MATRIX_PAGES;
    return true;
}

static bool take_step(struct measuring *m)
{
    double local, remote;

    return take_only_memory(m) ||
           (take_totals(m, &local, &remote) && divide_totals(m, local, remote));
}

/* ---- together ---- */

/* All that it moved: it is not known where to. */
static int fill_core(struct measuring *m, struct berth_error *err)
{
    double bytes, cores = 0;

    m->traffic->source = SIZE_MATRIX_NOTHING;
    m->traffic->measured = false;
    m->traffic->error = 0;
    memset(m->traffic->read_solo, 0, m->n * m->n * sizeof(double));
    if (!total(m, COUNTER_BYTES, 1, &bytes) &&
        !total(m, COUNTER_LLC_MISSES, measuring_line_bytes(m->packer), &bytes))
        return berth_error_set(err, "nothing counts its memory traffic");
    for (size_t i = 0; i < m->n; i++)
        cores += m->cores[i];
    m->traffic->core_gbps = bytes / m->seconds / cores / 1e9;
    return 0;
}

/* What it reads, by the best that counts it. Returns false where it is not known between which
 * nodes. */
static bool fill_reads(struct measuring *m)
{
    double pairs[BY_NODE_PAIRS * BY_NODE_PAIRS];
    double line = measuring_line_bytes(m->packer);

    if (measuring_grown(m, BY_NODE_READS_FROM, pairs) ||
        (m->alone && measuring_grown(m, BY_NODE_ALL_READS_FROM, pairs))) {
        enter_pairs(m, false, pairs);
        return true;
    }
    if (take_by_node(m, BY_NODE_READS_LOCAL, BY_NODE_READS_REMOTE, line) || take_bytes_by_node(m) ||
        take_step(m))
        return memories_divide_reads(m) || enter(m, false);
    return memories_tell_reads(m);
}

/* What it writes, where that is counted apart from what it reads. */
static void fill_writes(struct measuring *m)
{
    double pairs[BY_NODE_PAIRS * BY_NODE_PAIRS];
    double line = measuring_line_bytes(m->packer);

    if (measuring_grown(m, BY_NODE_WRITES_TO, pairs) ||
        (m->alone && measuring_grown(m, BY_NODE_ALL_WRITES_TO, pairs)))
        enter_pairs(m, true, pairs);
    else if (take_by_node(m, BY_NODE_WRITES_LOCAL, BY_NODE_WRITES_REMOTE, line))
        enter(m, true); /* divided as the reads are, or not known */
    else if (!m->bytes)
        memories_tell_writes(m);
}

static int fill(struct measuring *m, struct berth_error *err)
{
    m->traffic->source = SIZE_MATRIX_COUNTED;
    m->traffic->measured = true;
    if (!fill_reads(m))
        return fill_core(m, err);
    fill_writes(m);
    memories_tell_rows(m);
    return 0;
}

int traffic_measure(const struct packer *packer, const struct step *step,
                    const struct counters_sample *before, const struct counters_sample *after,
                    const unsigned *cores, bool disturbed, struct size_traffic *traffic,
                    struct berth_error *err)
{
    struct measuring m = {.packer = packer,
                          .before = before,
                          .after = after,
                          .seconds = after->at_s - before->at_s,
                          .alone = !disturbed && !is_disturbed(packer, step),
                          .traffic = traffic};
    int rc = -1;

    *traffic = (struct size_traffic){0};
    if (!packer->world.machine)
        return berth_error_set(err, "no machine profile (berthctl calibrate makes one)");
    if (!(m.seconds > 0))
        return berth_error_set(err, "no time between two readings of its counters");
    if (traffic_new(packer->world.machine->nodes, traffic, err) < 0)
        return -1;
    m.n = traffic->nodes;
    m.cores = calloc(4 * m.n, sizeof(*m.cores));
    if (m.cores) {
        m.pages = m.cores + m.n;
        m.local = m.cores + 2 * m.n;
        m.remote = m.cores + 3 * m.n;
        take_cores(&m, cores);
        take_pages(&m);
        rc = cpus_empty(&traffic->known) ? berth_error_set(err, "it had no cores") : fill(&m, err);
    } else {
        berth_no_memory(err);
    }
    traffic->seconds = m.seconds;
    traffic->disturbed = !m.alone;
    free(m.cores);
    return rc;
}
