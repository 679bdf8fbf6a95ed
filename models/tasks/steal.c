/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/tasks/steal.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "models/tasks/chance.h"
#include "models/tasks/threshold.h"

#define NOBODY UINT32_MAX
#define DOUBLINGS 10    /* of the time between two looks; then a worker takes what there is */
#define BROUGHT_MOST 64 /* tasks of one journey, where it brings half */

/* A task, with all that it creates: tasks number .. number + n - 1. */
struct item {
    uint32_t number, n;
};

/* A ring that grows. */
struct queue {
    struct item *item;
    size_t room, first, n;
    bool is_victim;
};

enum doing {
    DOING_CREATE,  /* the first worker of a flat program */
    DOING_RUN,     /* until its task ends */
    DOING_LOOK,    /* for a victim, when it comes to that */
    DOING_ATTEMPT, /* on its way to the victim */
    DOING_WAIT     /* for another one of its domain */
};

struct worker {
    uint32_t domain, queue;
    enum doing doing;
    struct item item; /* that it runs; DOING_CREATE: that are still to be created */
    uint32_t victim;  /* a queue */
    unsigned looks;   /* since it had a task */
    struct threshold threshold;
    uint64_t pushed, run;
    bool was_empty;
    double at_s; /* of its event */
};

struct domain {
    uint32_t first, n; /* workers */
    uint32_t idle;
    uint32_t outside; /* who of them went to another domain, until he has run what he found */
};

struct run {
    const struct steal_program *program;
    struct steal_outcome *outcome;
    struct chance chance;
    struct worker *worker;
    struct queue *queue;
    struct domain domain[STEAL_DOMAINS_MAX];
    uint32_t *heap; /* workers with an event, the soonest first */
    size_t events;
    uint32_t workers, queues;
    uint32_t left; /* tasks that have not ended */
    double now_s;
    bool failed; /* no memory */
};

/* ---- events ---- */

static bool is_sooner(const struct run *run, uint32_t a, uint32_t b)
{
    double x = run->worker[a].at_s, y = run->worker[b].at_s;

    return x < y || (!(y < x) && a < b);
}

static void add_event(struct run *run, uint32_t worker, double at_s)
{
    size_t i = run->events++;

    run->worker[worker].at_s = at_s;
    for (; i > 0 && is_sooner(run, worker, run->heap[(i - 1) / 2]); i = (i - 1) / 2)
        run->heap[i] = run->heap[(i - 1) / 2];
    run->heap[i] = worker;
}

static uint32_t take_event(struct run *run)
{
    uint32_t soonest = run->heap[0], last = run->heap[--run->events];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < run->events) {
        if (child + 1 < run->events && is_sooner(run, run->heap[child + 1], run->heap[child]))
            child++;
        if (!is_sooner(run, run->heap[child], last))
            break;
        run->heap[i] = run->heap[child];
        i = child;
    }
    run->heap[i] = last;
    return soonest;
}

static void set_doing(struct run *run, uint32_t w, enum doing doing, double at_s)
{
    struct worker *worker = &run->worker[w];
    bool was_idle = worker->doing >= DOING_LOOK, is_idle = doing >= DOING_LOOK;

    run->domain[worker->domain].idle += (uint32_t)is_idle - (uint32_t)was_idle;
    worker->doing = doing;
    if (doing != DOING_WAIT)
        add_event(run, w, at_s);
}

/* ---- queues ---- */

static bool make_room(struct queue *queue)
{
    size_t room = queue->room ? 2 * queue->room : 64;
    struct item *item = malloc(room * sizeof(*item));

    if (!item)
        return false;
    for (size_t i = 0; i < queue->n; i++)
        item[i] = queue->item[(queue->first + i) % queue->room];
    free(queue->item);
    queue->item = item;
    queue->room = room;
    queue->first = 0;
    return true;
}

/* Says of the worker's queue whether it is a victim. */
static void note_size(struct run *run, const struct worker *worker)
{
    struct queue *queue = &run->queue[worker->queue];

    queue->is_victim = threshold_is_victim(&worker->threshold, queue->is_victim, (int64_t)queue->n);
}

/* Those that wait for one of their domain look again. */
static void end_waits(struct run *run, uint32_t domain)
{
    const struct domain *of = &run->domain[domain];
    double latency_s = run->program->latency_s[domain * run->program->domains + domain];

    for (uint32_t w = of->first; w < of->first + of->n; w++)
        if (run->worker[w].doing == DOING_WAIT)
            set_doing(run, w, DOING_LOOK, run->now_s + latency_s);
}

static void push(struct run *run, struct worker *worker, struct item item)
{
    struct queue *queue = &run->queue[worker->queue];

    if (queue->n == queue->room && !make_room(queue)) {
        run->failed = true;
        return;
    }
    queue->item[(queue->first + queue->n++) % queue->room] = item;
    worker->pushed++;
    note_size(run, worker);
    end_waits(run, worker->domain);
}

/* Takes the newest task of the own queue. */
static bool pop(struct run *run, struct worker *worker, struct item *item)
{
    struct queue *queue = &run->queue[worker->queue];

    bool any = queue->n;

    if (any)
        *item = queue->item[(queue->first + --queue->n) % queue->room];
    note_size(run, worker);
    return any;
}

/* Takes the oldest task. Who leaves too few clears the victim's bit: the owner may be busy for
 * long.
 */
static struct item take_oldest(struct queue *queue, const struct threshold *threshold)
{
    struct item item = queue->item[queue->first];

    queue->first = (queue->first + 1) % queue->room;
    queue->n--;
    if (!threshold->literal && (int64_t)queue->n < threshold->clear)
        queue->is_victim = false;
    return item;
}

/* ---- tasks ---- */

/* How long a task takes, whoever runs it. */
static double time_of(const struct steal_program *program, uint32_t number)
{
    struct chance chance = {program->seed + ((uint64_t)number << 32)};
    double radius = sqrt(-2 * log(1 - chance_uniform(&chance))),
           angle = 2 * 3.14159265358979323846 * chance_uniform(&chance);

    return fmax(0, program->mean_s + program->sd_s * radius * cos(angle));
}

static void start(struct run *run, uint32_t w, struct item item, double at_s)
{
    double time_s = time_of(run->program, item.number);

    run->worker[w].item = item;
    run->worker[w].looks = 0;
    run->outcome->work_s += time_s;
    set_doing(run, w, DOING_RUN, at_s + time_s);
}

/* Eq. 3.3 and 3.4, when the queue is empty for the first time. */
static void set_thresholds(const struct run *run, struct worker *worker)
{
    const struct steal_program *program = run->program;
    struct threshold_rates rates = {
        .capacity = program->capacity, .push_s = program->push_s, .pop_s = program->pop_s};

    if (run->now_s > 0) {
        rates.lambda_per_s = (double)worker->pushed / run->now_s;
        rates.mu_per_s = (double)worker->run / run->now_s;
    }
    worker->threshold = threshold_of(&rates, program->policy == STEAL_LITERAL);
}

/* Goes on after a task, or a creation. */
static void proceed(struct run *run, uint32_t w, double at_s)
{
    struct worker *worker = &run->worker[w];
    struct item item;

    if (pop(run, worker, &item)) {
        start(run, w, item, at_s + run->program->pop_s);
        return;
    }
    if (!worker->was_empty && worker->run) {
        worker->was_empty = true;
        set_thresholds(run, worker);
    }
    set_doing(run, w, DOING_LOOK, at_s);
}

/* Adds two tasks that have between them what is below a task, cut where chance has it. Returns when
 * that is done. */
static double create_children(struct run *run, struct worker *worker, struct item item)
{
    struct chance chance = {run->program->seed ^ ~((uint64_t)item.number << 32)};
    uint32_t below = item.n - 1, left = below - (uint32_t)(chance_uniform(&chance) * below);
    double at_s = run->now_s;

    if (left) {
        push(run, worker, (struct item){item.number + 1, left});
        at_s += run->program->push_s;
    }
    if (below > left) {
        push(run, worker, (struct item){item.number + 1 + left, below - left});
        at_s += run->program->push_s;
    }
    return at_s;
}

/* Says that the worker is at home again. */
static void come_home(struct run *run, uint32_t w)
{
    struct domain *domain = &run->domain[run->worker[w].domain];

    if (domain->outside == w)
        domain->outside = NOBODY;
}

static void end_task(struct run *run, uint32_t w)
{
    struct worker *worker = &run->worker[w];

    worker->run++;
    run->left--;
    come_home(run, w);
    proceed(run, w, create_children(run, worker, worker->item));
}

/* The dispatcher deals tasks to all workers by turns. */
static void create_one(struct run *run, uint32_t w)
{
    struct worker *worker = &run->worker[w];

    push(run, &run->worker[worker->item.number % run->workers],
         (struct item){worker->item.number, 1});
    worker->item.number++;
    if (--worker->item.n)
        set_doing(run, w, DOING_CREATE, run->now_s + run->program->push_s);
    else
        proceed(run, w, run->now_s + run->program->push_s);
}

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
    return run->program->policy != STEAL_LITERAL && worker->looks >= DOUBLINGS;
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

/* Another domain is for one worker at a time, who brings what all of them can then take at home;
 * but for the last look, which is for a domain in which nobody has nothing to do himself. */
static uint32_t choose_outside(struct run *run, uint32_t me, bool last)
{
    uint32_t domains = (uint32_t)run->program->domains, from = any(run, domains), victim = NOBODY;
    struct domain *mine = &run->domain[run->worker[me].domain];

    if (mine->outside != NOBODY && !last)
        return NOBODY;
    for (uint32_t i = 0; i < domains && victim == NOBODY; i++) {
        const struct domain *of = &run->domain[(from + i) % domains];

        if (of != mine)
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
    static uint32_t (*const by_policy[])(struct run *, uint32_t) = {
        [STEAL_RANDOM] = choose_random,     [STEAL_THRESHOLD] = choose_threshold,
        [STEAL_TOPOLOGY] = choose_topology, [STEAL_SHEPHERD] = choose_shepherd,
        [STEAL_LITERAL] = choose_topology,
    };

    return by_policy[run->program->policy](run, me);
}

/* ---- stealing ---- */

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

    if (worker->looks < DOUBLINGS)
        worker->looks++;
    set_doing(run, w, DOING_LOOK, run->now_s + fmax(wait_s, own_s));
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

static void look(struct run *run, uint32_t w)
{
    struct worker *worker = &run->worker[w];

    if (run->queue[worker->queue].n) {
        proceed(run, w, run->now_s);
        return;
    }
    if (waits_for_another(run, w)) {
        set_doing(run, w, DOING_WAIT, 0);
        return;
    }
    worker->victim = choose(run, w);
    if (worker->victim == NOBODY)
        back_off(run, w);
    else
        set_doing(run, w, DOING_ATTEMPT, run->now_s + latency_to(run, worker, worker->victim));
}

/* How many tasks more a worker brings for the others of its domain, which are nearer to them then:
 * a shepherd's one for each, else half of what there is. */
static uint64_t more_of(const struct run *run, const struct worker *worker, uint64_t left)
{
    uint64_t others = run->domain[worker->domain].n - 1, half = left / 2;

    if (run->program->policy == STEAL_SHEPHERD)
        return others < left ? others : left;
    if (run->program->policy != STEAL_TOPOLOGY)
        return 0;
    return half < BROUGHT_MOST ? half : BROUGHT_MOST;
}

/* Returns when those tasks are at home. */
static double bring_more(struct run *run, struct worker *worker, struct queue *victim, double at_s)
{
    uint64_t more = more_of(run, worker, victim->n);

    for (uint64_t i = 0; i < more; i++)
        push(run, worker, take_oldest(victim, &worker->threshold));
    return at_s + (double)more * run->program->push_s;
}

static void attempt(struct run *run, uint32_t w)
{
    struct worker *worker = &run->worker[w];
    struct queue *victim = &run->queue[worker->victim];
    double there_s = run->now_s + latency_to(run, worker, worker->victim);
    bool shared = run->program->policy == STEAL_SHEPHERD;
    bool remote = shared || run->worker[worker->victim].domain != worker->domain;
    struct item item;

    if (!victim->n || shared)
        come_home(run, w);
    if (!victim->n) {
        run->outcome->misses++;
        back_off(run, w);
        end_waits(run, worker->domain);
        return;
    }
    item = take_oldest(victim, &worker->threshold);
    run->outcome->steals++;
    run->outcome->remote += remote;
    if (remote)
        there_s = bring_more(run, worker, victim, there_s);
    start(run, w, item, there_s);
    end_waits(run, worker->domain);
}

/* ---- the whole ---- */

static void next_event(struct run *run)
{
    uint32_t w = take_event(run);

    run->now_s = run->worker[w].at_s;
    switch (run->worker[w].doing) {
    case DOING_CREATE:
        create_one(run, w);
        break;
    case DOING_RUN:
        end_task(run, w);
        break;
    case DOING_LOOK:
        look(run, w);
        break;
    case DOING_ATTEMPT:
        attempt(run, w);
        break;
    case DOING_WAIT: /* has no event */
        break;
    }
}

/* Each worker looks for tasks but the first, which has the program. */
static void begin(struct run *run)
{
    const struct steal_program *program = run->program;
    struct item all = {.n = program->n};

    for (uint32_t d = 0, w = 0; d < program->domains; d++) {
        run->domain[d] = (struct domain){.first = w, .n = program->cores[d], .outside = NOBODY};
        for (uint32_t i = 0; i < program->cores[d]; i++, w++) {
            run->worker[w] =
                (struct worker){.domain = d, .queue = program->policy == STEAL_SHEPHERD ? d : w};
            set_thresholds(run, &run->worker[w]);
            if (w > 0)
                set_doing(run, w, DOING_LOOK, 0);
        }
    }
    run->worker[0].item = all;
    if (program->kind == STEAL_FLAT)
        set_doing(run, 0, DOING_CREATE, 0);
    else
        start(run, 0, all, 0);
}

static uint32_t workers_of(const struct steal_program *program)
{
    uint32_t n = 0;

    for (size_t d = 0; d < program->domains; d++)
        n += program->cores[d];
    return n;
}

static void free_run(struct run *run)
{
    for (uint32_t q = 0; run->queue && q < run->queues; q++)
        free(run->queue[q].item);
    free(run->queue);
    free(run->worker);
    free(run->heap);
}

int steal_run(const struct steal_program *program, struct steal_outcome *outcome)
{
    struct run run = {.program = program,
                      .outcome = outcome,
                      .chance = {program->seed},
                      .workers = workers_of(program),
                      .left = program->n};

    *outcome = (struct steal_outcome){0};
    run.queues = program->policy == STEAL_SHEPHERD ? (uint32_t)program->domains : run.workers;
    run.worker = calloc(run.workers, sizeof(*run.worker));
    run.queue = calloc(run.queues, sizeof(*run.queue));
    run.heap = calloc(run.workers, sizeof(*run.heap));
    run.failed = !run.worker || !run.queue || !run.heap;
    if (!run.failed)
        begin(&run);
    while (!run.failed && run.left)
        next_event(&run);
    outcome->seconds = run.now_s;
    free_run(&run);
    return run.failed ? -1 : 0;
}
