/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memories - what the memories count of all who run, while a step is alone: see memories.h.
 *
 * A memory counts what it gave to its own node's cores and to others'. Which others is found by
 * both sums (models/numa/margins.h): what each node's cores read elsewhere, and what each memory
 * gave elsewhere. Between two nodes, and where all data lie on one node, that leaves no choice. */
#include "packer/size/memories.h"

#include <math.h>

#include "models/numa/margins.h"

#define LITTLE 1e-6 /* of the largest read: a pair that does not read may write all the same */

/* ---- the counts ---- */

/* Fills of[n], in the machine profile's order, with the bytes that a kind has counted. */
static bool take_counted(struct measuring *m, enum by_node_kind kind, double *of)
{
    double values[BY_NODE_MAX];

    if (!m->alone || !measuring_grown(m, kind, values))
        return false;
    for (size_t i = 0; i < m->n; i++)
        of[i] = values[measuring_os_index(m, i)] * measuring_line_bytes(m->packer);
    return true;
}

/* What each memory gave to cores of other nodes: counted, or what is left of all when its own
 * cores' part is taken off. */
static bool take_given(struct measuring *m, double *given)
{
    if (m->n > BY_NODE_PAIRS)
        return false;
    if (take_counted(m, BY_NODE_MEMORY_READS_REMOTE, given))
        return true;
    if (!take_counted(m, BY_NODE_MEMORY_READS, given))
        return false;
    for (size_t i = 0; i < m->n; i++)
        given[i] = fmax(given[i] - m->local[i], 0);
    return true;
}

/* ---- the matrix ---- */

/* Enters pair[i * n + j], bytes between cores of i and memory of j. */
static void enter_bytes(struct measuring *m, bool writes, const double *pair)
{
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            double gbps = measuring_of_core(m, pair[i * m->n + j], i);

            if (writes)
                m->traffic->write_solo[i * m->n + j] = gbps;
            else
                m->traffic->read_solo[j * m->n + i] = gbps;
        }
}

static void enter_own(const struct measuring *m, const double *own, double *pair)
{
    for (size_t i = 0; i < m->n; i++)
        pair[i * m->n + i] = own[i];
}

static double sum_of(const double *number, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += number[i];
    return sum;
}

/* Nothing is believed before: each core that worked may read of each other node. */
static void believe_alike(const struct measuring *m, double *pair)
{
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++)
            pair[i * m->n + j] = i == j ? 0 : m->cores[i];
}

bool memories_divide_reads(struct measuring *m)
{
    double given[BY_NODE_MAX], pair[BY_NODE_PAIRS * BY_NODE_PAIRS];
    double read = sum_of(m->remote, m->n), all;

    if (m->n <= 2 || !take_given(m, given))
        return false;
    all = sum_of(given, m->n);
    if (read > 0 && !(all > 0))
        return false;
    for (size_t j = 0; j < m->n && all > 0; j++)
        given[j] *= read / all; /* what was read counts: a memory gives to devices, too */
    believe_alike(m, pair);
    margins_fit(m->n, m->remote, given, pair);
    enter_own(m, m->local, pair);
    enter_bytes(m, false, pair);
    m->traffic->source = SIZE_MATRIX_COUNTED;
    return true;
}

bool memories_tell_reads(struct measuring *m)
{
    double all[BY_NODE_MAX], given[BY_NODE_MAX], pair[BY_NODE_PAIRS * BY_NODE_PAIRS];

    if (m->n > BY_NODE_PAIRS || !take_counted(m, BY_NODE_MEMORY_READS, all) ||
        !take_counted(m, BY_NODE_MEMORY_READS_REMOTE, given))
        return false;
    for (size_t i = 0; i < m->n; i++)
        m->local[i] = fmax(all[i] - given[i], 0);
    believe_alike(m, pair);
    margins_fit(m->n, NULL, given, pair);
    enter_own(m, m->local, pair);
    enter_bytes(m, false, pair);
    return true;
}

/* ---- writes ---- */

/* Who reads at a memory writes there. */
static void believe_as_read(const struct measuring *m, double *pair)
{
    double most = 0;

    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            pair[i * m->n + j] = m->traffic->read_solo[j * m->n + i] * m->cores[i];
            most = fmax(most, pair[i * m->n + j]);
        }
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++)
            pair[i * m->n + j] += m->cores[i] > 0 ? LITTLE * fmax(most, 1) : 0;
}

void memories_tell_writes(struct measuring *m)
{
    double all[BY_NODE_MAX], given[BY_NODE_MAX], pair[BY_NODE_PAIRS * BY_NODE_PAIRS];
    double none[BY_NODE_MAX] = {0};

    if (m->n > BY_NODE_PAIRS || !take_counted(m, BY_NODE_MEMORY_WRITES, all))
        return;
    believe_as_read(m, pair);
    if (take_counted(m, BY_NODE_MEMORY_WRITES_REMOTE, given)) {
        enter_own(m, none, pair);
        margins_fit(m->n, NULL, given, pair);
        for (size_t i = 0; i < m->n; i++)
            pair[i * m->n + i] = fmax(all[i] - given[i], 0);
    } else {
        margins_fit(m->n, NULL, all, pair);
    }
    enter_bytes(m, true, pair);
}

/* ---- row buffers ---- */

/* The sum over the nodes on which it was measured; NAN: it is not counted. */
static double count_rows(struct measuring *m, enum by_node_kind kind)
{
    double of[BY_NODE_MAX], sum = 0;

    if (!take_counted(m, kind, of))
        return NAN;
    for (size_t i = 0; i < m->n; i++)
        sum += m->cores[i] > 0 ? of[i] : 0;
    return sum;
}

/* A part of the requests; NAN stays NAN. */
static double part_of(double count, double requests)
{
    return count <= requests ? count / requests : isnan(count) ? NAN : 1;
}

void memories_tell_rows(struct measuring *m)
{
    double requests = count_rows(m, BY_NODE_DRAM_REQUESTS),
           openings = count_rows(m, BY_NODE_DRAM_OPENINGS),
           conflicts = count_rows(m, BY_NODE_DRAM_CONFLICTS);
    double reads = count_rows(m, BY_NODE_MEMORY_READS),
           writes = count_rows(m, BY_NODE_MEMORY_WRITES);

    if (!(requests > 0) || !(conflicts <= openings) || !(openings <= requests) ||
        !(reads + writes > 0))
        return;
    m->traffic->dram = (struct profile_dram){
        .hit = (requests - openings) / requests,
        .miss = (openings - conflicts) / requests,
        .conflict = conflicts / requests,
        .read_ratio = reads / (reads + writes),
        .issue_rate_single = NAN,
        .wtr = part_of(count_rows(m, BY_NODE_DRAM_WRITE_TO_READ), requests),
        .rtr = part_of(count_rows(m, BY_NODE_DRAM_RANK_TURNS), requests),
        .ranks = NAN,
    };
}
