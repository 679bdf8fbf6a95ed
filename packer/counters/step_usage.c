/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_usage - see step_usage.h */
#include "packer/counters/step_usage.h"

#include <stdlib.h>
#include <unistd.h>

#include "packer/system/process.h"

/* ---- one process ---- */

static void see(struct process_sums *tally, struct process_sum *process,
                const struct process_stat *stat)
{
    process->parent = stat->parent;
    process->started = stat->started;
    process->ended = false;
    process_sums_see(tally, process, PROCESS_SUMS_USER_NS, stat->user_ns);
    process_sums_see(tally, process, PROCESS_SUMS_SYSTEM_NS, stat->system_ns);
    process_sums_see(tally, process, PROCESS_SUMS_FAULTS, stat->faults);
    process->waited[PROCESS_SUMS_USER_NS] = stat->waited_user_ns;
    process->waited[PROCESS_SUMS_SYSTEM_NS] = stat->waited_system_ns;
    process->waited[PROCESS_SUMS_FAULTS] = stat->waited_faults;
    process->threads = stat->threads;
    process->rss_bytes = stat->rss_bytes;
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

/* Is it asked about: all are, or those that were never read? */
static bool is_asked(const struct process_sum *process, bool fresh)
{
    return !fresh || !process->started;
}

/* Hands over the descriptors of those that are asked about. How many they are. */
static size_t fill_rows(struct process_sums *tally, struct usage_ways *ways, bool fresh,
                        struct stat_row *row)
{
    size_t n = 0;

    for (size_t i = 0; i < tally->n; i++) {
        struct process_sum *process = &tally->process[i];

        if (!is_asked(process, fresh))
            continue;
        row[n++] =
            (struct stat_row){.pid = process->pid, .started = process->started, .fd = process->fd};
        ways->descriptors -= process->fd >= 0;
        process->fd = -1;
    }
    return n;
}

/* Takes the answers in. How many have gone. */
static size_t take_rows(struct process_sums *tally, struct usage_ways *ways, bool fresh,
                        const struct stat_row *row)
{
    size_t gone = 0;

    for (size_t i = 0; i < tally->n; i++) {
        struct process_sum *process = &tally->process[i];

        if (!is_asked(process, fresh))
            continue;
        process->fd = row->fd;
        ways->descriptors += process->fd >= 0;
        if (row->gone) {
            leave(ways, process);
            gone++;
        } else {
            if (!process->started && ways->lock_time)
                lock_time_watch(ways->lock_time, process->pid);
            see(tally, process, &row->stat);
        }
        row++;
    }
    return gone;
}

static size_t may_keep(const struct usage_ways *ways)
{
    return ways->descriptors < ways->descriptors_max ? ways->descriptors_max - ways->descriptors
                                                     : 0;
}

void step_usage_prepare(struct step_usage *usage, struct usage_ways *ways)
{
    size_t keep = may_keep(ways);
    struct stat_row *row;

    usage->prepared = false;
    if (usage->read == HANDS_HUNG || usage->ask || !stat_reader_asks(ways->stats))
        return;
    row = calloc(usage->tally.n + 1, sizeof(*row));
    if (!row)
        return;
    stat_reader_ask(ways->stats, &usage->ask, usage->user, row,
                    fill_rows(&usage->tally, ways, false, row), keep);
    usage->prepared = usage->ask != NULL;
    free(row);
}

/* Reads them. How many have gone, or -1: nobody knows, and `read` says why. What was asked earlier
 * than just now does not do: a rate is between two times. */
static long read_some(struct step_usage *usage, struct usage_ways *ways, bool fresh)
{
    struct process_sums *tally = &usage->tally;
    struct stat_row *row = usage->read == HANDS_HUNG ? NULL : calloc(tally->n + 1, sizeof(*row));
    struct stat_how how = {.keep = may_keep(ways), .late = usage->prepared};
    size_t gone = 0, n;

    usage->prepared = false;
    if (!row)
        return -1;
    n = fill_rows(tally, ways, fresh, row);
    usage->read = stat_reader_read(ways->stats, &usage->ask, usage->user, row, n, &how);
    if (usage->read == HANDS_DONE) {
        gone = take_rows(tally, ways, fresh, row);
        process_sums_settle(tally);
    }
    free(row);
    return usage->read == HANDS_DONE ? (long)gone : -1;
}

long step_usage_see(struct step_usage *usage, struct usage_ways *ways)
{
    return read_some(usage, ways, false);
}

long step_usage_enter(struct step_usage *usage, struct usage_ways *ways, pid_t *pid, size_t n)
{
    long fresh = process_sums_enter(&usage->tally, pid, n);

    if (fresh > 0)
        read_some(usage, ways, true);
    return fresh;
}

/* It has ended if nobody knows it any more: what was seen last stays. */
static void take_taskstats(struct process_sums *tally, struct process_sum *process,
                           const struct taskstats_usage *stats)
{
    process->ended = !stats->known;
    if (process->ended)
        return;
    process_sums_see(tally, process, PROCESS_SUMS_RUN_DELAY_NS, (double)stats->run_delay_ns);
    process_sums_see(tally, process, PROCESS_SUMS_SWITCHES, (double)stats->switches);
    process_sums_see(tally, process, PROCESS_SUMS_VOLUNTARY, (double)stats->voluntary);
    process_sums_see(tally, process, PROCESS_SUMS_INVOLUNTARY, (double)stats->involuntary);
}

/* By netlink, in one go. */
static void see_taskstats(struct step_usage *usage, struct usage_ways *ways)
{
    struct process_sums *tally = &usage->tally;
    struct taskstats_usage *stats = calloc(tally->n + 1, sizeof(*stats));
    pid_t *pid = calloc(tally->n + 1, sizeof(*pid));
    int rc = stats && pid ? 0 : -1;
    size_t n = 0;

    for (size_t i = 0; rc == 0 && i < tally->n; i++)
        if (!tally->process[i].ended)
            pid[n++] = tally->process[i].pid;
    if (rc == 0)
        rc = taskstats_read(ways->taskstats, pid, n, stats, NULL);
    n = 0;
    for (size_t i = 0; rc == 0 && i < tally->n; i++)
        if (!tally->process[i].ended)
            take_taskstats(tally, &tally->process[i], &stats[n++]);
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

        if (process->ended)
            continue;
        process->ended = process_waits_read(ways->root, process->pid, &waits) < 0;
        if (process->ended)
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

/* Counting begins at what there is now. */
static void begin_here(struct step_usage *usage)
{
    for (int i = 0; i < PROCESS_SUMS_COUNTS; i++)
        usage->base[i] = process_sums_total(&usage->tally, (enum process_sums_count)i);
    usage->based = true;
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
    if (!usage->based && usage->read == HANDS_DONE)
        begin_here(usage);
}

int step_usage_begin(struct step_usage *usage, struct usage_ways *ways, uint32_t user, pid_t *pid,
                     size_t n)
{
    *usage = (struct step_usage){.user = user, .read = HANDS_DONE};
    if (step_usage_enter(usage, ways, pid, n) < 0)
        return -1;
    step_usage_waits(usage, ways);
    return 0;
}

void step_usage_end(struct step_usage *usage, struct usage_ways *ways)
{
    stat_reader_drop(ways->stats, &usage->ask);
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
