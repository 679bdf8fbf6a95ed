/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steal_look - where a worker of the model steal that has nothing to do looks for tasks, and what
 * it brings. */
#include "models/tasks/steal_run.h"
#include "enum_table.h"

#include <math.h>

#define LOOKS 10        /* then a worker takes what there is */
#define LOOKS_MOST 64   /* that are counted */
#define BROUGHT_MOST 64 /* tasks of one journey, where it brings half */

/* ---- victims ---- */

static uint32_t any(struct run *run, uint32_t n)
{
    return (uint32_t)(chance_uniform(&run->chance) * n);
}

/* Finds a victim among workers first .. first + n - 1, from one chosen by chance on; NOBODY. */
static uint32_t victim_among(struct run *run, uint32_t me, uint32_t first, uint32_t n, bool last)
{
    uint32_t from = any(run, n);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t w = first + (from + i) % n;

        if (w != me && (run->queue[w].is_victim || (last && run->queue[w].n)))
            return w;
    }
    return NOBODY;
}

static bool is_last_look(const struct run *run, const struct worker *worker)
{
    return run->program->policy != STEAL_LITERAL && worker->looks >= LOOKS;
}

static uint32_t choose_random(struct run *run, uint32_t me)
{
    uint32_t w = run->workers > 1 ? any(run, run->workers - 1) : NOBODY;

    return w == NOBODY ? NOBODY : w + (w >= me);
}

static uint32_t choose_threshold(struct run *run, uint32_t me)
{
    return victim_among(run, me, 0, run->workers, is_last_look(run, &run->worker[me]));
}

/* Says whether more tasks wait in a domain than its workers take up next. */
static bool has_spare(const struct run *run, const struct domain *domain)
{
    size_t tasks = 0;

    for (uint32_t w = domain->first; w < domain->first + domain->n; w++)
        tasks += run->queue[w].n;
    return tasks > domain->n;
}

/* Another domain is for one worker at a time, who brings what all of them can then take at home,
 * and only what that one can spare; but for the last look, which is for a domain in which nobody
 * has nothing to do himself. */
static uint32_t choose_outside(struct run *run, uint32_t me, bool last)
{
    uint32_t domains = (uint32_t)run->program->domains, from = any(run, domains), victim = NOBODY;
    struct domain *mine = &run->domain[run->worker[me].domain];

    if (mine->outside != NOBODY && !last)
        return NOBODY;
    for (uint32_t i = 0; i < domains && victim == NOBODY; i++) {
        const struct domain *of = &run->domain[(from + i) % domains];

        if (of != mine && (last || has_spare(run, of)))
            victim = victim_among(run, me, of->first, of->n, last && !of->idle);
    }
    if (victim != NOBODY)
        mine->outside = me;
    return victim;
}

static uint32_t choose_topology(struct run *run, uint32_t me)
{
    const struct worker *worker = &run->worker[me];
    const struct domain *mine = &run->domain[worker->domain];
    bool last = is_last_look(run, worker);
    uint32_t victim = victim_among(run, me, mine->first, mine->n, last);

    return victim != NOBODY ? victim : choose_outside(run, me, last);
}

static uint32_t choose_shepherd(struct run *run, uint32_t me)
{
    uint32_t mine = run->worker[me].domain,
             other = run->queues > 1 ? any(run, run->queues - 1) : NOBODY;

    return other == NOBODY ? NOBODY : other + (other >= mine);
}

static uint32_t choose(struct run *run, uint32_t me)
{
    static uint32_t (*const TABLE(by_policy, STEAL_POLICIES))(struct run *, uint32_t) = {
        ROW(STEAL_RANDOM) = choose_random,     ROW(STEAL_THRESHOLD) = choose_threshold,
        ROW(STEAL_TOPOLOGY) = choose_topology, ROW(STEAL_SHEPHERD) = choose_shepherd,
        ROW(STEAL_LITERAL) = choose_topology,
    };
    TABLE_COMPLETE(by_policy);

    return by_policy[run->program->policy](run, me);
}

/* ---- stealing ---- */

/* Says that the worker is at home again. */
void run_come_home(struct run *run, uint32_t w)
{
    struct domain *domain = &run->domain[run->worker[w].domain];

    if (domain->outside == w)
        domain->outside = NOBODY;
}

static double latency_to(const struct run *run, const struct worker *worker, uint32_t queue)
{
    bool shared = run->program->policy == STEAL_SHEPHERD;
    uint32_t domain = shared ? queue : run->worker[queue].domain;

    return run->program->latency_s[worker->domain * run->program->domains + domain];
}

static void back_off(struct run *run, uint32_t w)
{
    struct worker *worker = &run->worker[w];
    const struct steal_program *program = run->program;
    double own_s = program->latency_s[worker->domain * program->domains + worker->domain],
           wait_s = fmin(ldexp(own_s, (int)worker->looks), program->mean_s);

    if (worker->looks < LOOKS_MOST)
        worker->looks++;
    run_set_doing(run, w, DOING_LOOK, run->now_s + fmax(wait_s, own_s));
}

/* Only one worker of a shepherd goes outside: the others wait for it. */
static bool waits_for_another(struct run *run, uint32_t w)
{
    struct domain *domain = &run->domain[run->worker[w].domain];

    if (run->program->policy != STEAL_SHEPHERD)
        return false;
    if (domain->outside != NOBODY || run->queues == 1)
        return true;
    domain->outside = w;
    return false;
}

void run_look(struct run *run, uint32_t w)
{
    struct worker *worker = &run->worker[w];

    if (run->queue[worker->queue].n) {
        run_proceed(run, w, run->now_s);
        return;
    }
    if (waits_for_another(run, w)) {
        run_set_doing(run, w, DOING_WAIT, 0);
        return;
    }
    worker->victim = choose(run, w);
    if (worker->victim == NOBODY)
        back_off(run, w);
    else
        run_set_doing(run, w, DOING_ATTEMPT, run->now_s + latency_to(run, worker, worker->victim));
}

/* One more for each of the others of a shepherd, which are nearer to them then. Returns how many.
 */
static uint64_t bring_for_others(struct run *run, struct worker *worker, struct queue *victim)
{
    uint64_t others = run->domain[worker->domain].n - 1, n = 0;

    for (; n < others && victim->n; n++)
        run_push(run, worker, run_take_oldest(victim, &worker->threshold));
    return n;
}

/* Half of each queue of that domain, the oldest first and one of each by turns: in a tree these
 * have most below them. Then both domains have as much to do. Returns how many. */
static uint64_t bring_halves(struct run *run, struct worker *worker, const struct domain *of)
{
    uint64_t n = 0, before = UINT64_MAX;

    for (size_t taken = 0; n != before; taken++) {
        before = n;
        for (uint32_t w = of->first; w < of->first + of->n && n < BROUGHT_MOST; w++) {
            struct queue *queue = &run->queue[w];

            if (queue->n <= taken + 1)
                continue;
            run_push(run, worker, run_take_oldest(queue, &worker->threshold));
            n++;
        }
    }
    return n;
}

/* Brings more tasks from another domain. Returns how many. */
static uint64_t bring_more(struct run *run, struct worker *worker)
{
    if (run->program->policy == STEAL_SHEPHERD)
        return bring_for_others(run, worker, &run->queue[worker->victim]);
    if (run->program->policy == STEAL_TOPOLOGY)
        return bring_halves(run, worker, &run->domain[run->worker[worker->victim].domain]);
    return 0;
}

void run_attempt(struct run *run, uint32_t w)
{
    struct worker *worker = &run->worker[w];
    struct queue *victim = &run->queue[worker->victim];
    double there_s = run->now_s + latency_to(run, worker, worker->victim);
    bool shared = run->program->policy == STEAL_SHEPHERD;
    bool remote = shared || run->worker[worker->victim].domain != worker->domain;
    struct item item;
    uint64_t more;

    if (!victim->n || shared)
        run_come_home(run, w);
    if (!victim->n) {
        run->outcome->misses++;
        back_off(run, w);
        run_end_waits(run, worker->domain);
        return;
    }
    item = run_take_oldest(victim, &worker->threshold);
    more = remote ? bring_more(run, worker) : 0;
    run->outcome->journeys++;
    run->outcome->steals += 1 + more;
    run->outcome->remote += remote ? 1 + more : 0;
    there_s += (double)more * run->program->push_s;
    run_start(run, w, item, there_s);
    run_end_waits(run, worker->domain);
}
