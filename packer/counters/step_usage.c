/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/counters/step_usage.h"
#include <stdlib.h>
#include <unistd.h>

#include "packer/system/process.h"

/* ---- one process ---- */

/* Its /proc/PID/stat; the descriptor is kept where there is room. 0, or -1: it is gone, or the
 * number is another process's. */
static int read_stat(struct usage_ways *ways, struct process_sum *process,
                     struct process_stat *stat)
{
    int rc, fd = process->fd;

    if (fd < 0)
        fd = process_stat_open(ways->root, process->pid);
    rc = fd < 0 ? -1 : process_stat_read(fd, stat);
    if (rc == 0 && process->started && process->started != stat->started)
        rc = -1;
    if (fd < 0 || fd == process->fd)
        return rc;
    if (rc == 0 && ways->descriptors < ways->descriptors_max) {
        process->fd = fd;
        ways->descriptors++;
    } else {
        close(fd);
    }
    return rc;
}

/* 0, or -1: it is gone. */
static int see(struct process_sums *tally, struct usage_ways *ways, struct process_sum *process)
{
    struct process_stat stat;

    if (read_stat(ways, process, &stat) < 0)
        return -1;
    process->parent = stat.parent;
    process->started = stat.started;
    process_sums_see(tally, process, PROCESS_SUMS_USER_NS, stat.user_ns);
    process_sums_see(tally, process, PROCESS_SUMS_SYSTEM_NS, stat.system_ns);
    process_sums_see(tally, process, PROCESS_SUMS_FAULTS, stat.faults);
    process->waited[PROCESS_SUMS_USER_NS] = stat.waited_user_ns;
    process->waited[PROCESS_SUMS_SYSTEM_NS] = stat.waited_system_ns;
    process->waited[PROCESS_SUMS_FAULTS] = stat.waited_faults;
    process->threads = stat.threads;
    process->rss_bytes = stat.rss_bytes;
    return 0;
}

/* Ended threads stay in it, so a value that fell is one that was read while a wait ended. */
static void see_lock_time(struct usage_ways *ways, struct process_sum *process)
{
    double *known = &process->own[PROCESS_SUMS_LOCK_WAIT_NS];
    uint64_t ns;

    if (ways->lock_time && lock_time_read(ways->lock_time, process->pid, &ns) == 0 &&
        (double)ns > *known)
        *known = (double)ns;
}

/* It has ended: the last look at what outlives it, and nothing of it stays open. */
static void leave(struct usage_ways *ways, struct process_sum *process)
{
    process->gone = true;
    if (process->started)
        see_lock_time(ways, process);
    if (ways->lock_time)
        lock_time_forget(ways->lock_time, process->pid);
    if (process->fd < 0)
        return;
    close(process->fd);
    process->fd = -1;
    ways->descriptors--;
}

/* ---- all of them ---- */

size_t step_usage_see(struct step_usage *usage, struct usage_ways *ways)
{
    struct process_sums *tally = &usage->tally;
    size_t gone = 0;

    for (size_t i = 0; i < tally->n; i++) {
        if (see(tally, ways, &tally->process[i]) == 0)
            continue;
        leave(ways, &tally->process[i]);
        gone++;
    }
    for (size_t i = 0; gone && i < tally->n; i++) { /* heirs may have been read too early */
        struct process_sum *heir = process_sums_heir(tally, &tally->process[i]);

        if (heir)
            see(tally, ways, heir); /* where it is gone too, the next time tells */
    }
    process_sums_settle(tally);
    return gone;
}

long step_usage_enter(struct step_usage *usage, struct usage_ways *ways, pid_t *pid, size_t n)
{
    struct process_sums *tally = &usage->tally;
    long fresh = process_sums_enter(tally, pid, n);

    for (size_t i = 0; fresh > 0 && i < tally->n; i++) {
        struct process_sum *process = &tally->process[i];

        if (process->started)
            continue;
        if (see(tally, ways, process) < 0) {
            leave(ways, process);
            continue;
        }
        if (ways->lock_time)
            lock_time_watch(ways->lock_time, process->pid);
    }
    process_sums_settle(tally);
    return fresh;
}

/* By netlink, in one go. */
static void see_taskstats(struct step_usage *usage, struct usage_ways *ways)
{
    struct process_sums *tally = &usage->tally;
    struct taskstats_usage *stats = calloc(tally->n + 1, sizeof(*stats));
    pid_t *pid = calloc(tally->n + 1, sizeof(*pid));
    int rc = stats && pid ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < tally->n; i++)
        pid[i] = tally->process[i].pid;
    if (rc == 0)
        rc = taskstats_read(ways->taskstats, pid, tally->n, stats, NULL);
    for (size_t i = 0; rc == 0 && i < tally->n; i++) {
        if (!stats[i].known)
            continue; /* it has just ended: what was seen last stays */
        process_sums_see(tally, &tally->process[i], PROCESS_SUMS_RUN_DELAY_NS,
                         (double)stats[i].run_delay_ns);
        process_sums_see(tally, &tally->process[i], PROCESS_SUMS_SWITCHES,
                         (double)stats[i].switches);
        process_sums_see(tally, &tally->process[i], PROCESS_SUMS_VOLUNTARY,
                         (double)stats[i].voluntary);
        process_sums_see(tally, &tally->process[i], PROCESS_SUMS_INVOLUNTARY,
                         (double)stats[i].involuntary);
    }
    usage->run_delay_known = usage->switches_known = rc == 0;
    free(stats);
    free(pid);
}

/* By /proc, thread by thread. */
static void see_threads(struct step_usage *usage, struct usage_ways *ways)
{
    struct process_sums *tally = &usage->tally;
    struct process_waits waits;

    for (size_t i = 0; i < tally->n; i++) {
        struct process_sum *process = &tally->process[i];

        if (process_waits_read(ways->root, process->pid, &waits) < 0)
            continue;
        usage->run_delay_known |= waits.run_delay_known;
        usage->switches_known |= waits.switches_known;
        if (waits.run_delay_known)
            process_sums_see(tally, process, PROCESS_SUMS_RUN_DELAY_NS, waits.run_delay_ns);
        if (!waits.switches_known)
            continue;
        process_sums_see(tally, process, PROCESS_SUMS_SWITCHES,
                         waits.voluntary + waits.involuntary);
        process_sums_see(tally, process, PROCESS_SUMS_VOLUNTARY, waits.voluntary);
        process_sums_see(tally, process, PROCESS_SUMS_INVOLUNTARY, waits.involuntary);
    }
}

void step_usage_waits(struct step_usage *usage, struct usage_ways *ways)
{
    for (size_t i = 0; ways->lock_time && i < usage->tally.n; i++)
        see_lock_time(ways, &usage->tally.process[i]);
    usage->run_delay_known = usage->switches_known = false;
    if (ways->taskstats)
        see_taskstats(usage, ways);
    else
        see_threads(usage, ways);
}

int step_usage_begin(struct step_usage *usage, struct usage_ways *ways, pid_t *pid, size_t n)
{
    *usage = (struct step_usage){0};
    if (step_usage_enter(usage, ways, pid, n) < 0)
        return -1;
    step_usage_waits(usage, ways);
    for (int i = 0; i < PROCESS_SUMS_COUNTS; i++)
        usage->base[i] = process_sums_total(&usage->tally, (enum process_sums_count)i);
    return 0;
}

void step_usage_end(struct step_usage *usage, struct usage_ways *ways)
{
    for (size_t i = 0; i < usage->tally.n; i++)
        leave(ways, &usage->tally.process[i]);
    process_sums_free(&usage->tally);
}

double step_usage_total(const struct step_usage *usage, enum process_sums_count count)
{
    return process_sums_total(&usage->tally, count) - usage->base[count];
}

double step_usage_threads(const struct step_usage *usage)
{
    double sum = 0;

    for (size_t i = 0; i < usage->tally.n; i++)
        sum += usage->tally.process[i].threads;
    return sum;
}

double step_usage_rss(const struct step_usage *usage)
{
    double sum = 0;

    for (size_t i = 0; i < usage->tally.n; i++)
        sum += usage->tally.process[i].rss_bytes;
    return sum;
}
