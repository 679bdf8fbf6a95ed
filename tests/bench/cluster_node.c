/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_node - see cluster_node.h */
#include "tests/bench/cluster_node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- from start to end ---- */

int cluster_machine_open(struct cluster_machine *machine, size_t nodes, struct berth_error *err)
{
    size_t cores = machine->topo->cores, llcs = machine->topo->llcs, alone;
    struct day_exchange *scratch = &machine->scratch;

    if (cores > CLUSTER_CORES_MAX || llcs > CLUSTER_LLCS_MAX)
        return berth_error_set(err, "a node of more than %d cores or %d caches", CLUSTER_CORES_MAX,
                               CLUSTER_LLCS_MAX);
    alone = machine->truth->truth->apps.n * 2 * (cores + 1);
    machine->n = nodes;
    machine->node = calloc(nodes, sizeof(*machine->node));
    machine->stands = calloc(nodes * cores, sizeof(*machine->stands));
    machine->alone = calloc(alone, sizeof(*machine->alone));
    machine->scratch_job = calloc(cores + 1, sizeof(*machine->scratch_job));
    *scratch = (struct day_exchange){.llcs = llcs, .job = machine->scratch_job};
    scratch->on = calloc((cores + 1) * llcs, sizeof(*scratch->on));
    scratch->free = calloc(llcs, sizeof(*scratch->free));
    scratch->lost = calloc(llcs, sizeof(*scratch->lost));
    if (!machine->node || !machine->stands || !machine->alone || !machine->scratch_job ||
        !scratch->on || !scratch->free || !scratch->lost) {
        cluster_machine_close(machine);
        return berth_no_memory(err);
    }
    for (size_t i = 0; i < alone; i++)
        machine->alone[i] = NAN;
    for (size_t i = 0; i < nodes; i++)
        machine->node[i] =
            (struct cluster_node){.free = cores, .stand = machine->stands + i * cores};
    return 0;
}

void cluster_machine_close(struct cluster_machine *machine)
{
    free(machine->node);
    free(machine->stands);
    free(machine->alone);
    free(machine->scratch_job);
    free(machine->scratch.on);
    free(machine->scratch.free);
    free(machine->scratch.lost);
    machine->node = NULL;
}

/* ---- what Slurm gives ---- */

static bool has(const struct cluster_stand *stand, size_t core)
{
    return stand->given[core / 64] >> (core % 64) & 1;
}

/* Fills the cores that Slurm gives a piece on the node; it stands there. */
static void give(const struct cluster_machine *machine, const struct cluster_node *node,
                 const struct cluster_piece *piece, struct cluster_stand *stand)
{
    bool is_free[CLUSTER_CORES_MAX];
    size_t core[CLUSTER_CORES_MAX];

    for (size_t c = 0; c < machine->topo->cores; c++)
        is_free[c] = true;
    for (size_t i = 0; node && i < node->n; i++)
        for (size_t c = 0; c < machine->topo->cores; c++)
            is_free[c] &= !has(&node->stand[i], c);
    memset(stand, 0, sizeof(*stand));
    if (day_slurm_give(machine->topo, machine->socket, is_free, piece->tasks, piece->width, core) <
        0)
        return; /* whoever calls has counted them */
    for (size_t c = 0; c < piece->cores; c++) {
        stand->given[core[c] / 64] |= UINT64_C(1) << (core[c] % 64);
        stand->on[machine->topo->core[core[c]].llc]++;
    }
}

/* ---- what they suffer ---- */

static double suffers(const struct cluster_machine *machine, const struct cluster_stand *stand,
                      size_t n, size_t which)
{
    const struct cluster_piece *piece = &machine->work->piece[stand[which].piece];
    double sum = 0;

    for (size_t g = 0; g < machine->topo->llcs; g++) {
        struct day_part part[CLUSTER_CORES_MAX];
        size_t parts = 0, me = 0;

        for (size_t i = 0; stand[which].on[g] > 0 && i < n; i++) {
            if (i == which)
                me = parts;
            if (stand[i].on[g] > 0)
                part[parts++] = (struct day_part){
                    machine->work->job[machine->work->piece[stand[i].piece].job].app,
                    stand[i].on[g]};
        }
        if (parts > 0)
            sum += day_beside_on(machine->truth, part, parts, me) * stand[which].on[g];
    }
    return sum / (double)piece->cores;
}

/* Returns what a piece takes longer on an empty node, where Slurm puts it, than the truth's program
 * alone: it is beside itself. */
static double suffers_alone(const struct cluster_machine *machine, size_t at)
{
    const struct cluster_piece *piece = &machine->work->piece[at];
    size_t app = machine->work->job[piece->job].app;
    double *alone =
        &machine->alone[(app * 2 + (piece->tasks > 1)) * (machine->topo->cores + 1) + piece->cores];
    struct cluster_stand stand;

    if (isnan(*alone)) {
        give(machine, NULL, piece, &stand);
        stand.piece = at;
        *alone = suffers(machine, &stand, 1, 0);
    }
    return *alone;
}

static void set_slowdowns(const struct cluster_machine *machine, const struct cluster_node *node)
{
    for (size_t i = 0; i < node->n; i++) {
        double alone = suffers_alone(machine, node->stand[i].piece);

        machine->work->piece[node->stand[i].piece].slowdown =
            (1 + suffers(machine, node->stand, node->n, i)) / (1 + alone) - 1;
    }
}

/* ---- inside a node ---- */

/* Fills the scratch with the node's pieces, as the truth or the guess has them. */
static struct day_exchange *scratch_fill(struct cluster_machine *machine,
                                         const struct cluster_node *node, bool by_truth)
{
    struct day_exchange *scratch = &machine->scratch;

    scratch->beside = by_truth ? machine->truth : machine->guess;
    scratch->n = node->n;
    for (size_t i = 0; i < node->n; i++) {
        const struct cluster_piece *piece = &machine->work->piece[node->stand[i].piece];
        const struct cluster_job *job = &machine->work->job[piece->job];

        machine->scratch_job[i] =
            (struct day_exchange_job){by_truth ? job->app : job->kind, piece->tasks, true};
        for (size_t g = 0; g < scratch->llcs; g++)
            *day_exchange_on(scratch, i, g) = node->stand[i].on[g];
    }
    return scratch;
}

/* Counts the places of each cache less those that stand there; below 0: too many do. */
static void count_free(const struct cluster_machine *machine, const struct cluster_node *node,
                       long free[CLUSTER_LLCS_MAX])
{
    memset(free, 0, CLUSTER_LLCS_MAX * sizeof(*free));
    for (size_t c = 0; c < machine->topo->cores; c++) {
        bool is_place = machine->idle;

        for (size_t i = 0; i < node->n && !is_place; i++)
            is_place = has(&node->stand[i], c);
        free[machine->topo->core[c].llc] += is_place;
    }
    for (size_t i = 0; i < node->n; i++)
        for (size_t g = 0; g < machine->topo->llcs; g++)
            free[g] -= node->stand[i].on[g];
}

static size_t emptiest(const struct cluster_machine *machine, const long *free)
{
    size_t best = 0;

    for (size_t g = 1; g < machine->topo->llcs; g++)
        if (free[g] > free[best])
            best = g;
    return best;
}

/* Nobody stands where there is no place any more: the youngest goes first. */
static void mend(const struct cluster_machine *machine, struct cluster_node *node, long *free)
{
    for (size_t g = 0; g < machine->topo->llcs; g++)
        for (size_t i = node->n; free[g] < 0 && i-- > 0;)
            while (free[g] < 0 && node->stand[i].on[g] > 0) {
                size_t to = emptiest(machine, free);

                node->stand[i].on[g]--;
                node->stand[i].on[to]++;
                free[g]++;
                free[to]--;
            }
}

/* Jobs change places. The last one has just come, if `fresh`: its way to its first place is no
 * move.
 */
static void rearrange(struct cluster_machine *machine, struct cluster_node *node, bool fresh)
{
    uint16_t before[CLUSTER_CORES_MAX][CLUSTER_LLCS_MAX];
    long free[CLUSTER_LLCS_MAX];
    struct day_exchange *scratch;

    for (size_t i = 0; i < node->n; i++)
        memcpy(before[i], node->stand[i].on, sizeof(before[i]));
    count_free(machine, node, free);
    mend(machine, node, free);
    scratch = scratch_fill(machine, node, machine->inside == CLUSTER_BEST);
    for (size_t g = 0; g < scratch->llcs; g++)
        scratch->free[g] = (size_t)free[g];
    day_exchange_weigh(scratch);
    day_exchange_search(scratch);
    for (size_t i = 0; i < node->n; i++) {
        for (size_t g = 0; g < scratch->llcs; g++)
            node->stand[i].on[g] = (uint16_t)*day_exchange_on(scratch, i, g);
        if ((!fresh || i + 1 < node->n) &&
            memcmp(before[i], node->stand[i].on, sizeof(before[i])) != 0) {
            machine->moves++;
            machine->work->job[machine->work->piece[node->stand[i].piece].job].moves++;
        }
    }
}

/* ---- starts and ends ---- */

void cluster_node_start(struct cluster_machine *machine, size_t at, size_t piece)
{
    struct cluster_node *node = &machine->node[at];
    struct cluster_stand stand;

    give(machine, node, &machine->work->piece[piece], &stand);
    stand.piece = piece;
    node->stand[node->n++] = stand;
    node->free -= machine->work->piece[piece].cores;
    machine->work->piece[piece].node = at;
    if (machine->inside != CLUSTER_NOTHING && node->n > 1)
        rearrange(machine, node, true);
    set_slowdowns(machine, node);
}

void cluster_node_end(struct cluster_machine *machine, size_t at, size_t piece)
{
    struct cluster_node *node = &machine->node[at];
    size_t i = 0;

    while (node->stand[i].piece != piece)
        i++;
    node->n--;
    memmove(node->stand + i, node->stand + i + 1, (node->n - i) * sizeof(*node->stand));
    node->free += machine->work->piece[piece].cores;
    if (machine->inside != CLUSTER_NOTHING && node->n > 0)
        rearrange(machine, node, false);
    set_slowdowns(machine, node);
}

/* ---- what it would cost ---- */

/* Returns the work lost if the last piece of the scratch is where Slurm puts it; where jobs move,
 * on one cache with room, if that is less. */
static double lost_at_best(const struct cluster_machine *machine, struct day_exchange *scratch,
                           const long *free, const struct cluster_stand *stand, size_t cores)
{
    size_t *on = day_exchange_on(scratch, scratch->n - 1, 0);
    double best = INFINITY;
    bool fits = true;

    for (size_t g = 0; g < scratch->llcs; g++) {
        on[g] = stand->on[g];
        fits &= machine->inside == CLUSTER_NOTHING || (long)on[g] <= free[g];
    }
    if (fits)
        best = day_exchange_weigh(scratch);
    for (size_t g = 0; machine->inside != CLUSTER_NOTHING && g < scratch->llcs; g++) {
        if (free[g] < (long)cores)
            continue;
        memset(on, 0, scratch->llcs * sizeof(*on));
        on[g] = cores;
        best = fmin(best, day_exchange_weigh(scratch));
    }
    if (isfinite(best))
        return best;
    for (size_t g = 0; g < scratch->llcs; g++) /* somebody stands there: he would go */
        on[g] = stand->on[g];
    return day_exchange_weigh(scratch);
}

double cluster_node_cost(struct cluster_machine *machine, size_t at, size_t piece, bool by_truth)
{
    const struct cluster_node *node = &machine->node[at];
    const struct cluster_piece *of = &machine->work->piece[piece];
    const struct cluster_job *job = &machine->work->job[of->job];
    struct day_exchange *scratch = scratch_fill(machine, node, by_truth);
    long free[CLUSTER_LLCS_MAX];
    struct cluster_stand stand;
    double before;

    count_free(machine, node, free);
    before = day_exchange_weigh(scratch);
    give(machine, node, of, &stand);
    machine->scratch_job[scratch->n++] =
        (struct day_exchange_job){by_truth ? job->app : job->kind, of->tasks, true};
    return lost_at_best(machine, scratch, free, &stand, of->cores) - before;
}

void cluster_node_weigh(struct cluster_machine *machine, size_t at, const struct day_noise *noise,
                        uint64_t seed, double now_s)
{
    struct cluster_node *node = &machine->node[at];

    node->weight = 0;
    for (size_t i = 0; i < node->n; i++) {
        const struct cluster_piece *piece = &machine->work->piece[node->stand[i].piece];
        const struct cluster_job *job = &machine->work->job[piece->job];
        const struct app *app = &machine->truth->truth->apps.app[job->app];
        double factor[DAY_NOISIES];

        day_noise_at(noise, seed, (uint32_t)piece->job + 1, (int64_t)(now_s * 1e9), factor);
        node->weight += app->mem_gbps * (double)piece->cores / (double)app->cores *
                        factor[DAY_BYTES] / (1 + piece->slowdown);
    }
}
