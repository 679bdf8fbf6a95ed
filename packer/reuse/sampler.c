/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/reuse/sampler.h"

#include <errno.h>
#include <linux/capability.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "models/online/statstack.h"
#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "packer/base/hands.h"
#include "packer/reuse/opening.h"
#include "packer/reuse/perf_ring.h"
#include "packer/reuse/watchpoint.h"
#include "packer/system/capabilities.h"
#include "packer/system/perf_open.h"

#define LINE 64      /* bytes of a cache line, on every processor that has PEBS or IBS */
#define RING_ORDER 2 /* pages of samples, as a power of 2 */
#define LIMIT_S 5.   /* a watchpoint that is not set by then is given up */

/* The samples of one CPU, or of one thread. */
struct source {
    int fd;
    struct perf_ring ring;
};

/* Counts the misses of a thread while watches of it last. */
struct clock {
    struct watch_clock count;
    unsigned users; /* 0: this place is free */
};

struct watch {
    struct clock *clock; /* NULL: this place is free */
    struct watchpoint point;
    uint64_t start, last; /* the clock when it began, and at the last touch */
    unsigned traps;
    double offers; /* samples that could have had its place, its own with them */
};

struct reuse_step {
    LIST_ENTRY(reuse_step) link;
    struct reuse_sampler *sampler;
    uint32_t user;
    enum hands_state opened; /* how the last watch was set; HANDS_HUNG: there is no other one */
    struct hands_work *work; /* a watch that is being set; NULL: none */
    struct watch *place;     /* of that one, with its clock */
    size_t sources;
    struct source source[REUSE_CPUS];
    struct clock clock[REUSE_WATCHES];
    struct watch watch[REUSE_WATCHES];
    uint64_t next_ns; /* before that there is no new watch */
    uint64_t random;
    size_t taken; /* distances, the kept ones and those that were overwritten */
    struct statstack_reuse kept[REUSE_KEPT];
    uint64_t lost, refused;
};

struct reuse_sampler {
    struct reuse_means means;
    int epoll, wake; /* an eventfd: a watch was set, or could not be */
    struct hands *hands;
    LIST_HEAD(, reuse_step) steps;
    uint64_t attached; /* of them */
};

/* 0 <= value < 1, by Knuth's linear congruence (MMIX). */
static double draw(struct reuse_step *step)
{
    step->random = step->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(step->random >> 11) * 0x1p-53;
}

/* ---- the sampler ---- */

/* Opens its descriptors. 0, or -1 with errno. */
static int open_epoll(struct reuse_sampler *sampler)
{
    struct epoll_event event = {.events = EPOLLIN};

    sampler->epoll = epoll_create1(EPOLL_CLOEXEC);
    sampler->wake = event.data.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return sampler->epoll < 0 || sampler->wake < 0 ||
                   hands_notify(sampler->hands, sampler->wake) < 0
               ? -1
               : epoll_ctl(sampler->epoll, EPOLL_CTL_ADD, sampler->wake, &event);
}

int reuse_sampler_open_with(struct reuse_sampler **out, const struct reuse_means *means,
                            struct berth_error *err)
{
    const struct hands_limits limits = {means->limit_s, HANDS_HUNG_MAX, HANDS_HUNG_USER_MAX};
    struct reuse_sampler *sampler = calloc(1, sizeof(*sampler));

    if (!sampler)
        return berth_no_memory(err);
    sampler->means = *means;
    LIST_INIT(&sampler->steps);
    sampler->hands = hands_open("watch addresses of threads", &limits);
    if (sampler->hands && open_epoll(sampler) == 0) {
        *out = sampler;
        return 0;
    }
    berth_error_set(err, "epoll, eventfd: %s", strerror(errno));
    reuse_sampler_close(sampler);
    return -1;
}

int reuse_sampler_open(struct reuse_sampler **out, const struct counters_node *node,
                       char say[COUNTERS_SAY], struct berth_error *err)
{
    const struct topo *topo = node->topo;
    struct reuse_means means = {.inner_lines = topo->l2_bytes / LINE,
                                .reach = topo_cache(topo)->size_bytes / LINE * REUSE_REACH,
                                .pause_ns = 1000000000 / REUSE_RATE,
                                .limit_s = LIMIT_S,
                                .stale_ns = REUSE_STALE_NS};

    if (address_source_find(&means.source, node->root, err) < 0)
        return -1;
    if (means.inner_lines == 0 || means.reach == 0)
        return berth_error_set(err, "the sizes of the caches are not known");
    snprintf(say, COUNTERS_SAY, "stack distances by %s and debug registers", means.source.name);
    return reuse_sampler_open_with(out, &means, err);
}

void reuse_sampler_close(struct reuse_sampler *sampler)
{
    if (!sampler)
        return;
    file_close(sampler->epoll);
    file_close(sampler->wake);
    hands_close(sampler->hands);
    free(sampler);
}

int reuse_sampler_fd(const struct reuse_sampler *sampler)
{
    return sampler->epoll;
}

/* ---- sources ---- */

static void close_sources(struct reuse_step *step)
{
    for (size_t i = 0; i < step->sources; i++) {
        step->lost += step->source[i].ring.lost;
        perf_ring_unmap(&step->source[i].ring);
        close(step->source[i].fd);
    }
    step->sources = 0;
}

/* 0, or -1 with errno */
static int open_source(struct reuse_step *step, pid_t pid, int cpu, unsigned long flags)
{
    struct source *source = &step->source[step->sources];
    struct epoll_event event = {.events = EPOLLIN};

    source->fd = event.data.fd =
        perf_open(&step->sampler->means.source.sample, pid, cpu, -1, flags);
    if (source->fd < 0)
        return -1;
    if (perf_ring_map(&source->ring, source->fd, RING_ORDER) < 0 ||
        epoll_ctl(step->sampler->epoll, EPOLL_CTL_ADD, source->fd, &event) < 0) {
        perf_ring_unmap(&source->ring);
        file_close(source->fd);
        return -1;
    }
    step->sources++;
    return 0;
}

static int open_sources(struct reuse_step *step, const struct reuse_target *target)
{
    if (target->cgroup < 0)
        return open_source(step, target->pid, -1, 0);
    cpus_foreach(cpu, target->cpus)
    {
        if (step->sources == REUSE_CPUS)
            break;
        if (open_source(step, target->cgroup, (int)cpu, PERF_FLAG_PID_CGROUP) < 0 &&
            errno != ENODEV) /* offline */
            return -1;
    }
    return 0;
}

int reuse_sampler_follow(struct reuse_step *step, const struct reuse_target *target,
                         struct berth_error *err)
{
    close_sources(step);
    if (step->opened == HANDS_HUNG)
        return berth_error_set(err, "nobody may watch it: a thread that tried does not come back");
    if (open_sources(step, target) == 0)
        return 0;
    berth_error_set(err, "addresses cannot be sampled: %s",
                    capabilities_why(CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_IPC_LOCK), errno));
    close_sources(step);
    return -1;
}

/* ---- watches ---- */

static void keep(struct reuse_step *step, uint64_t from, uint64_t to, bool censored)
{
    step->kept[step->taken++ % REUSE_KEPT] = (struct statstack_reuse){
        .references = to > from ? (double)(to - from - !censored) : 0, .censored = censored};
}

static void leave_clock(struct watch *watch)
{
    if (--watch->clock->users == 0 && watch->clock->count.fd >= 0)
        watch_clock_close(&watch->clock->count);
    watch->clock = NULL;
}

static void end_watch(struct watch *watch)
{
    watchpoint_close(&watch->point);
    leave_clock(watch);
}

/* It ends without an answer: a distance is longer than what it has seen, if it has. */
static void cut_watch(struct reuse_step *step, struct watch *watch)
{
    uint64_t count;

    if (watch_clock_read(&watch->clock->count, &count) == 0)
        keep(step, watch->start, count, true);
    else
        step->refused++;
    end_watch(watch);
}

/* What has happened to a watch. A touch that the second-level cache serves is none. */
static void see_to(struct reuse_step *step, struct watch *watch)
{
    struct watch_trap trap;
    uint64_t count;

    while (watch->clock && watchpoint_next(&watch->point, &trap)) {
        if (trap.count - watch->last >= step->sampler->means.inner_lines) {
            keep(step, watch->start, trap.count, false);
            end_watch(watch);
        } else if (++watch->traps == REUSE_TRAPS) {
            keep(step, watch->start, trap.count, true);
            end_watch(watch);
        } else {
            watch->last = trap.count;
        }
    }
    if (watch->clock &&
        (watch_clock_read(&watch->clock->count, &count) < 0 ||
         count - watch->start >= step->sampler->means.reach || watchpoint_over(&watch->point)))
        cut_watch(step, watch);
}

/* The clock of a thread: one that runs, or a free place for one. */
static struct clock *clock_of(struct reuse_step *step, pid_t tid)
{
    struct clock *unused = NULL;

    for (size_t i = 0; i < REUSE_WATCHES; i++) {
        if (!step->clock[i].users)
            unused = &step->clock[i];
        else if (step->clock[i].count.tid == tid)
            return &step->clock[i];
    }
    if (unused)
        unused->count = (struct watch_clock){.tid = tid, .fd = -1};
    return unused;
}

/* Has a watch set. Its place is not free meanwhile, and is no watch yet. */
static void begin_watch(struct reuse_step *step, struct watch *watch,
                        const struct address_sample *sample)
{
    struct reuse_sampler *sampler = step->sampler;
    struct clock *clock = clock_of(step, sample->tid);
    struct opening *opening = clock ? opening_new(&sampler->means.source.clock, &clock->count,
                                                  sample->address, REUSE_TRAPS)
                                    : NULL;

    if (opening)
        step->work = hands_put(sampler->hands, step->user, &opening_task, opening);
    if (!step->work) {
        step->refused++;
        return;
    }
    *watch = (struct watch){.clock = clock, .offers = 1, .point.fd = -1};
    clock->users++;
    step->place = watch;
}

/* Nobody waits for it any more. */
static void drop_opening(struct reuse_step *step)
{
    if (!step->work)
        return;
    hands_drop(step->sampler->hands, step->work);
    leave_clock(step->place);
    step->work = NULL;
}

/* Takes what was set. */
static void take_over(struct reuse_step *step, struct opening *opening)
{
    struct watch *watch = step->place;

    if (opening->set && watch->clock->count.fd < 0) {
        watch->clock->count = opening->clock;
        opening->clock.fd = -1;
    }
    if (opening->set) {
        watch->point = opening->point;
        watch->start = watch->last = opening->start;
        opening->set = false;
    } else {
        step->refused++;
        leave_clock(watch);
    }
    opening_free(opening);
    step->work = NULL;
}

/* Looks what has become of the watch that is being set. A thread that hangs is its process's doing:
 * that step is not watched any more. */
static void see_opening(struct reuse_step *step)
{
    enum hands_state state = step->work ? hands_look(step->sampler->hands, step->work) : HANDS_WAIT;

    if (state == HANDS_WAIT)
        return;
    step->opened = state;
    if (state == HANDS_DONE) {
        take_over(step, hands_take(step->sampler->hands, step->work));
        return;
    }
    step->refused++;
    drop_opening(step);
    if (state == HANDS_HUNG) {
        reuse_sampler_forget(step);
        close_sources(step);
    }
}

/* Is it a watch, and not only being set? */
static bool is_set(const struct reuse_step *step, const struct watch *watch)
{
    return watch->clock && !(step->work && step->place == watch);
}

/* A sample takes a free place, or one by lot from who has it. */
static void offer(struct reuse_step *step, const struct address_sample *sample)
{
    struct watch *watch = NULL;

    if (step->work)
        return;
    for (size_t i = 0; i < REUSE_WATCHES && !watch; i++)
        if (!step->watch[i].clock)
            watch = &step->watch[i];
    if (!watch) {
        watch = &step->watch[(size_t)(draw(step) * REUSE_WATCHES)];
        watch->offers++;
        if (draw(step) * watch->offers >= 1)
            return;
        cut_watch(step, watch);
    }
    begin_watch(step, watch, sample);
}

static void see_watches(struct reuse_step *step)
{
    for (size_t i = 0; i < REUSE_WATCHES; i++)
        if (is_set(step, &step->watch[i]))
            see_to(step, &step->watch[i]);
}

static void take_samples(struct reuse_step *step, struct source *source)
{
    const struct reuse_means *means = &step->sampler->means;
    struct address_sample sample;
    uint64_t record[16], now;
    size_t size;

    while ((size = perf_ring_next(&source->ring, record, sizeof(record))) > 0) {
        now = clock_ns(CLOCK_MONOTONIC);
        if (!address_sample_read(&sample, &means->source, record, size) || now < step->next_ns ||
            now > sample.time_ns + means->stale_ns)
            continue;
        see_watches(step);
        offer(step, &sample);
        step->next_ns = now + means->pause_ns * (1 + step->sampler->attached / REUSE_STEPS);
    }
}

void reuse_sampler_poll(struct reuse_step *step)
{
    see_opening(step);
    see_watches(step);
}

/* The rings are looked at whatever epoll says: it says each thing once. */
void reuse_sampler_ready(struct reuse_sampler *sampler)
{
    struct epoll_event event[16];
    int n = epoll_wait(sampler->epoll, event, 16, 0);
    struct reuse_step *step;
    uint64_t ends;

    for (int i = 0; i < n; i++)
        if (event[i].events & EPOLLHUP) /* its thread has ended */
            epoll_ctl(sampler->epoll, EPOLL_CTL_DEL, event[i].data.fd, NULL);
    while (read(sampler->wake, &ends, sizeof(ends)) > 0)
        ;
    LIST_FOREACH(step, &sampler->steps, link)
    {
        see_opening(step);
        for (size_t i = 0; i < step->sources; i++)
            take_samples(step, &step->source[i]);
    }
}

/* ---- a step ---- */

int reuse_sampler_attach(struct reuse_sampler *sampler, const struct reuse_target *target,
                         struct reuse_step **step, struct berth_error *err)
{
    struct reuse_step *fresh = calloc(1, sizeof(*fresh));

    if (!fresh)
        return berth_no_memory(err);
    fresh->sampler = sampler;
    fresh->user = target->user;
    fresh->random = clock_ns(CLOCK_MONOTONIC);
    if (reuse_sampler_follow(fresh, target, err) < 0) {
        free(fresh);
        return -1;
    }
    LIST_INSERT_HEAD(&sampler->steps, fresh, link);
    sampler->attached++;
    *step = fresh;
    return 0;
}

void reuse_sampler_forget(struct reuse_step *step)
{
    drop_opening(step);
    for (size_t i = 0; i < REUSE_WATCHES; i++)
        if (step->watch[i].clock)
            end_watch(&step->watch[i]);
    step->taken = 0;
}

void reuse_sampler_detach(struct reuse_step *step)
{
    if (!step)
        return;
    reuse_sampler_forget(step);
    close_sources(step);
    LIST_REMOVE(step, link);
    step->sampler->attached--;
    free(step);
}

bool reuse_sampler_setting(const struct reuse_step *step)
{
    return step->work != NULL;
}

bool reuse_sampler_hung(const struct reuse_step *step)
{
    return step->opened == HANDS_HUNG;
}

/* ---- the profile ---- */

/* What was kept, and what lasts: longer than it has so far. */
static size_t gather(struct reuse_step *step, struct statstack_reuse *sample)
{
    size_t n = step->taken < REUSE_KEPT ? step->taken : REUSE_KEPT;
    uint64_t count;

    memcpy(sample, step->kept, n * sizeof(*sample));
    for (size_t i = 0; i < REUSE_WATCHES; i++) {
        const struct watch *watch = &step->watch[i];

        if (is_set(step, watch) && watch_clock_read(&watch->clock->count, &count) == 0)
            sample[n++] = (struct statstack_reuse){(double)(count - watch->start), true};
    }
    return n;
}

static void scale(struct reuse_sdp *sdp, const struct statstack_value *share, double access_pmi)
{
    for (size_t i = 0; i < sdp->ways; i++) {
        sdp->hits[i] = share[i].value * access_pmi;
        sdp->hits_error[i] = share[i].error * access_pmi;
    }
    sdp->misses = share[sdp->ways].value * access_pmi;
    sdp->misses_error = share[sdp->ways].error * access_pmi;
}

int reuse_sampler_sdp(struct reuse_step *step, size_t sets, size_t ways, double access_pmi,
                      struct reuse_sdp *sdp, struct berth_error *err)
{
    const struct statstack_cache cache = {.sets = sets, .ways = ways};
    struct statstack_reuse sample[REUSE_KEPT + REUSE_WATCHES];
    struct statstack_value share[REUSE_WAYS_MAX + 1];

    if (sets == 0 || ways == 0 || ways > REUSE_WAYS_MAX || !isfinite(access_pmi))
        return berth_error_set(err, "the cache, or how often it is asked, is not known");
    reuse_sampler_poll(step);
    *sdp = (struct reuse_sdp){.ways = ways, .lost = step->lost, .refused = step->refused};
    for (size_t i = 0; i < step->sources; i++)
        sdp->lost += step->source[i].ring.lost;
    sdp->samples = gather(step, sample);
    for (size_t i = 0; i < sdp->samples; i++)
        sdp->censored += sample[i].censored;
    if (sdp->samples < REUSE_LEAST)
        return berth_error_set(err, "%zu reuse distances were sampled, %d are needed", sdp->samples,
                               REUSE_LEAST);
    if (statstack_profile(sample, sdp->samples, &cache, share) < 0)
        return berth_no_memory(err);
    scale(sdp, share, access_pmi);
    return 0;
}
