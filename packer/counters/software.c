/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters_software - what a step uses, from what every kernel counts: no hardware is needed.
 *
 *   CPU time            the step's cpuacct or v2 cgroup where Slurm has made one, which knows every
 *                       process that ever ran in it; else /proc/PID/stat of its processes
 *   faults, resident    the step's memory cgroup, else /proc/PID/stat
 *   threads             v2's pids.current where the controller is enabled, else /proc/PID/stat
 *   waiting, switches   taskstats, one request a process; else schedstat and status of each thread
 *   memory by node      the step's memory cgroup, else numa_maps, seldom, of small steps only
 *                       (counters/maps_reader.h)
 *   lock time           eBPF, where berth.conf says lock_time=on
 *
 * /proc/PID/stat is read by a thread that may hang (counters/stat_reader.h). Where cgroups have
 * CPU time and faults it is read seldom: threads are as they were GAUGES_S ago then, and longer if
 * nobody was born on the machine since (enforce/listed.h). Who has ended is not asked about any
 * more from the first taskstats without an answer on; who got his number in the very second of his
 * end is taken for him until then.
 *
 * What it costs is bounded for the node, however many steps and processes there are: each step has
 * the same share of PROCESSES_PER_S, and one with more processes is read less often, two samples in
 * a row each time, so that there is a rate between them; the samples in between have its cgroup's
 * CPU time only. Finding a step's processes costs several times what reading them does, so it is
 * done less and less often while there is nothing new, down to LISTS_PER_S for all steps together;
 * what a process used before it was found is not lost, since the kernel counts from its beginning.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "packer/base/log.h"
#include "packer/counters/counters.h"
#include "packer/counters/lock_time.h"
#include "packer/counters/maps_reader.h"
#include "packer/counters/step_folder.h"
#include "packer/counters/stat_reader.h"
#include "packer/counters/step_usage.h"
#include "packer/enforce/listed.h"
#include "packer/system/memory_nodes.h"
#include "packer/system/taskstats.h"

#define PROCESSES_PER_S 64.0
#define LISTS_PER_S 5.0
#define LISTED_S 0.1   /* a list that old is new */
#define LIST_MIN_S 2.0 /* as often as that is always fine */
#define SAME_S 30.0    /* without a birth on the machine it is not made */
#define GAUGES_S 5.0   /* processes of which only that is asked which cgroups do not count */
#define CGROUP_NODES_EVERY_S 5.0
#define MAPS_FIRST_S 5.0 /* after the step has begun: it has its memory then */
#define MAPS_EVERY_S 60.0
#define MAPS_BYTES_MAX (512.0 * 1024 * 1024) /* numa_maps of that much takes 6 ms (measured) */
#define MAPS_PROCESSES_MAX MAPS_READER_PROCESSES_MAX /* and 0.1 ms for each process */
#define MAPS_BYTES_PER_S (16.0 * 1024 * 1024)
#define MAPS_PROCESSES_PER_S 2.0
#define MAPS_LIMIT_S 10.0 /* a process that forks in a loop held it for 0.4 s (measured) */

struct software {
    struct counters_node node;
    struct usage_ways ways;
    struct taskstats_link taskstats;
    struct maps_reader *maps;
    size_t steps;                         /* that are attached */
    char taskstats_why[COUNTERS_SAY / 4]; /* why it is not used; "" it is */
    char lock_why[COUNTERS_SAY / 4];      /* and lock time */
    char maps_say[COUNTERS_SAY / 4];
};

struct software_step {
    struct step_folder folder;
    struct step_usage usage;
    bool counted; /* without its processes being read: CPU time and faults, in the last sample */
    /* elapsed_s of the step, as all times here */
    double next_pair_s; /* when the next two samples in a row begin */
    bool paired;        /* there has been the second one */
    double list_at_s, next_list_s, stat_at_s;
    pid_t list_newest, stat_newest; /* who was the youngest then; 0: not known */
    double next_nodes_s;
    struct memory_nodes nodes;
    struct hands_work *ask;      /* for them; NULL: none */
    enum hands_state nodes_read; /* HANDS_HUNG: nobody may, they are not asked for any more */
    uint32_t random;             /* steps that began together shall not be read together for ever */
};

/* ---- the node ---- */

static void choose_taskstats(struct software *software)
{
    struct berth_error why = {""};

    if (!rootfs_is_machine(software->node.root))
        berth_error_set(&why, "a recorded tree has none");
    else if (taskstats_open(&software->taskstats, &why) == 0)
        software->ways.taskstats = &software->taskstats;
    snprintf(software->taskstats_why, sizeof(software->taskstats_why), "%.120s", why.text);
}

static void choose_lock_time(struct software *software)
{
    struct berth_error why = {""};

    if (software->node.conf->lock_time == CONF_OFF)
        berth_error_set(&why, "lock_time=off");
    else if (!rootfs_is_machine(software->node.root))
        berth_error_set(&why, "a recorded tree has none");
    else if (lock_time_open(&software->ways.lock_time, software->node.root, &why) < 0)
        software->ways.lock_time = NULL;
    snprintf(software->lock_why, sizeof(software->lock_why), "%.120s", why.text);
}

static void say_ways(const struct software *software, char say[COUNTERS_SAY])
{
    bool netlink = software->ways.taskstats, lock = software->ways.lock_time;

    snprintf(say, COUNTERS_SAY,
             "CPU time by the step's cgroup where Slurm makes one, else by /proc; waiting and "
             "switches by %s%s%s; memory by the step's memory cgroup, else numa_maps of small "
             "steps; lock time %s%s",
             netlink ? "taskstats (netlink)" : "/proc of each thread (",
             netlink ? "" : software->taskstats_why, netlink ? "" : ")",
             lock ? "by eBPF" : "absent: ", lock ? "" : software->lock_why);
}

static uint32_t bit(enum counter counter)
{
    return 1u << counter;
}

static uint32_t can_count(const struct software *software)
{
    const struct rootfs *root = software->node.root;
    uint32_t can = bit(COUNTER_CPU_NS) | bit(COUNTER_USER_NS) | bit(COUNTER_SYSTEM_NS) |
                   bit(COUNTER_FAULTS) | bit(COUNTER_THREADS) | bit(COUNTER_RSS_BYTES) |
                   bit(COUNTER_SWITCHES) | bit(COUNTER_VOLUNTARY) | bit(COUNTER_INVOLUNTARY);

    if (software->ways.taskstats || rootfs_exists(root, "proc/self/schedstat"))
        can |= bit(COUNTER_RUN_DELAY_NS);
    if (software->ways.lock_time)
        can |= bit(COUNTER_LOCK_WAIT_NS);
    return can;
}

static int software_open(const struct counters_node *node, void **state, uint32_t *can,
                         char say[COUNTERS_SAY], struct berth_error *err)
{
    struct software *software = calloc(1, sizeof(*software));
    struct rlimit files = {.rlim_cur = 1024};

    if (software)
        software->maps = maps_reader_open(node->root, MAPS_LIMIT_S);
    if (!software || !software->maps) {
        free(software);
        return berth_no_memory(err);
    }
    getrlimit(RLIMIT_NOFILE, &files);
    software->node = *node;
    software->ways = (struct usage_ways){
        .root = node->root,
        .stats = node->stats,
        .descriptors_max = files.rlim_cur == RLIM_INFINITY ? SIZE_MAX : files.rlim_cur / 4};
    choose_taskstats(software);
    choose_lock_time(software);
    *can = can_count(software);
    say_ways(software, say);
    *state = software;
    return 0;
}

static void software_close(void *state)
{
    struct software *software = state;

    if (software->ways.taskstats)
        taskstats_close(&software->taskstats);
    lock_time_close(software->ways.lock_time);
    maps_reader_close(software->maps);
    free(software);
}

/* ---- a step ---- */

/* How long it takes until this step's share of reading numa_maps suffices. */
static double maps_share_s(const struct software *software, const struct software_step *step)
{
    double one_s = (double)step->usage.tally.n / MAPS_PROCESSES_PER_S +
                   step_usage_rss(&step->usage) / MAPS_BYTES_PER_S;

    return one_s * (double)software->steps;
}

/* A time, a quarter longer or shorter. */
static double about(struct software_step *step, double time_s)
{
    step->random = step->random * 1664525 + 1013904223;
    return time_s * (0.75 + 0.5 * (double)(step->random >> 8) / (double)(1u << 24));
}

/* Makes the list of the step's processes its own, for the caller to free: the one that was made
 * just now, or a new one. 0, or -1 with errno. */
static int list_processes(struct enforce *enforce, const struct counters_target *target,
                          pid_t **pid, size_t *n)
{
    const struct enforce_pids *listed = target->listed;

    if (!listed)
        return enforce_step_pids(enforce, target->body, pid, n);
    *pid = calloc(listed->n + 1, sizeof(**pid));
    if (!*pid)
        return -1;
    if (listed->n)
        memcpy(*pid, listed->pid, listed->n * sizeof(**pid));
    *n = listed->n;
    return 0;
}

static int software_attach(void *state, const struct counters_target *target, void **out,
                           struct berth_error *err)
{
    struct software *software = state;
    const struct counters_node *node = &software->node;
    struct software_step *step = calloc(1, sizeof(*step));
    pid_t *pid = NULL;
    size_t n = 0;

    if (!step)
        return berth_no_memory(err);
    if (list_processes(node->enforce, target, &pid, &n) < 0) {
        berth_error_set(err, "its processes cannot be listed: %s", strerror(errno));
        free(step);
        return -1;
    }
    step->paired = true;
    step->random = target->body->id.job * 64 + target->body->id.step;
    step->list_at_s = step->stat_at_s = target->elapsed_s;
    step_folder_open(&step->folder, node, target->body->id, pid, n);
    if (step_usage_begin(&step->usage, &software->ways, target->body->uid, pid, n) < 0) {
        step_folder_close(&step->folder);
        free(pid);
        free(step);
        return berth_no_memory(err);
    }
    free(pid);
    software->steps++;
    if (!step->folder.cgroup.memory)
        step->next_nodes_s =
            target->elapsed_s + about(step, fmax(MAPS_FIRST_S, maps_share_s(software, step)));
    *out = step;
    return 0;
}

static void software_detach(void *state, void *arg)
{
    struct software *software = state;
    struct software_step *step = arg;

    step_usage_end(&step->usage, &software->ways);
    step_folder_close(&step->folder);
    maps_reader_drop(software->maps, step->ask);
    free(step);
    software->steps--;
}

/* ---- a sample ---- */

static void set_total(const struct software_step *step, struct counters_sample *sample,
                      enum counter counter, enum process_sums_count count)
{
    counters_set(sample, counter, step_usage_total(&step->usage, count));
}

static void add_processes(const struct software *software, const struct software_step *step,
                          struct counters_sample *sample)
{
    const struct step_usage *usage = &step->usage;

    if (!step->folder.cpu) {
        counters_set(sample, COUNTER_CPU_NS,
                     step_usage_total(usage, PROCESS_SUMS_USER_NS) +
                         step_usage_total(usage, PROCESS_SUMS_SYSTEM_NS));
        set_total(step, sample, COUNTER_USER_NS, PROCESS_SUMS_USER_NS);
        set_total(step, sample, COUNTER_SYSTEM_NS, PROCESS_SUMS_SYSTEM_NS);
    }
    if (!step->folder.memory) {
        set_total(step, sample, COUNTER_FAULTS, PROCESS_SUMS_FAULTS);
        counters_set(sample, COUNTER_RSS_BYTES, step_usage_rss(usage));
    }
    if (usage->run_delay_known)
        set_total(step, sample, COUNTER_RUN_DELAY_NS, PROCESS_SUMS_RUN_DELAY_NS);
    if (usage->switches_known) {
        set_total(step, sample, COUNTER_SWITCHES, PROCESS_SUMS_SWITCHES);
        set_total(step, sample, COUNTER_VOLUNTARY, PROCESS_SUMS_VOLUNTARY);
        set_total(step, sample, COUNTER_INVOLUNTARY, PROCESS_SUMS_INVOLUNTARY);
    }
    if (software->ways.lock_time)
        set_total(step, sample, COUNTER_LOCK_WAIT_NS, PROCESS_SUMS_LOCK_WAIT_NS);
    counters_set(sample, COUNTER_THREADS, step_usage_threads(usage));
}

/* May somebody have been born on the machine since it was looked at it then? */
static bool is_older(const struct software *software, pid_t newest, double age_s)
{
    return !newest || age_s >= SAME_S || listed_newest(software->node.root) != newest;
}

/* Look for new processes when it is time, or when some have ended. 0, or -1 and err. */
static int find_processes(struct software *software, struct software_step *step,
                          const struct counters_target *target, size_t gone,
                          struct berth_error *err)
{
    double most_s = fmax(LIST_MIN_S, (double)software->steps / LISTS_PER_S);
    double age_s = target->elapsed_s - step->list_at_s;
    pid_t newest, *pid = NULL;
    size_t n = 0;
    long fresh;

    if (!gone && (target->elapsed_s < step->next_list_s || age_s < LISTED_S ||
                  !is_older(software, step->list_newest, age_s)))
        return 0;
    newest = listed_newest(software->node.root);
    if (enforce_step_pids(software->node.enforce, target->body, &pid, &n) < 0)
        return berth_error_set(err, "its processes cannot be listed: %s", strerror(errno));
    fresh = step_usage_enter(&step->usage, &software->ways, pid, n);
    free(pid);
    if (fresh < 0)
        return berth_no_memory(err);
    step->next_list_s = target->elapsed_s;
    if (!gone && !fresh)
        step->next_list_s += about(step, fmin(2 * age_s, most_s));
    step->list_at_s = target->elapsed_s;
    step->list_newest = newest;
    return 0;
}

/* Will it be time to read the processes? */
static bool is_soon(const struct software_step *step, double elapsed_s)
{
    return !step->paired || elapsed_s >= step->next_pair_s;
}

/* Is there something that only its processes' stat tells? */
static bool wants_stat(const struct software *software, const struct software_step *step,
                       double elapsed_s)
{
    double age_s = elapsed_s - step->stat_at_s;

    return !step->counted || step->usage.read != HANDS_DONE ||
           (age_s >= (step->folder.threads ? SAME_S : GAUGES_S) &&
            is_older(software, step->stat_newest, age_s));
}

static void software_prepare(void *state, void *arg, double elapsed_s)
{
    struct software *software = state;
    struct software_step *step = arg;

    if (is_soon(step, elapsed_s) && wants_stat(software, step, elapsed_s))
        step_usage_prepare(&step->usage, &software->ways);
}

/* Is it time to read the processes? */
static bool is_due(const struct software *software, struct software_step *step, double elapsed_s)
{
    double share = PROCESSES_PER_S / (double)software->steps;
    double every_s = (double)step->usage.tally.n / share;

    if (!step->paired) {
        step->paired = true;
        return true;
    }
    if (elapsed_s < step->next_pair_s)
        return false;
    step->next_pair_s = elapsed_s + about(step, 2 * every_s);
    step->paired = false;
    return true;
}

/* Reads what their stat has. How many have gone, or -1: they cannot be read now. */
static long read_stat(struct software *software, struct software_step *step,
                      const struct counters_target *target)
{
    bool hung = step->usage.read == HANDS_HUNG;
    pid_t newest = listed_newest(software->node.root);
    long gone = step_usage_see(&step->usage, &software->ways);

    if (!hung && step->usage.read == HANDS_HUNG)
        log_warn("step %u.%u: a process of it lets nobody read its stat: what its processes use is "
                 "not known any more",
                 target->body->id.job, target->body->id.step);
    if (gone < 0)
        return -1;
    step->stat_at_s = target->elapsed_s;
    step->stat_newest = newest;
    return gone;
}

/* 0, or -1 and err. */
static int read_processes(struct software *software, struct software_step *step,
                          const struct counters_target *target, struct counters_sample *sample,
                          struct berth_error *err)
{
    long gone = 0;

    if (!is_due(software, step, target->elapsed_s))
        return 0;
    if (wants_stat(software, step, target->elapsed_s))
        gone = read_stat(software, step, target);
    if (gone < 0)
        return 0;
    if (find_processes(software, step, target, (size_t)gone, err) < 0)
        return -1;
    step_usage_waits(&step->usage, &software->ways);
    if (step->usage.read == HANDS_DONE)
        add_processes(software, step, sample);
    return 0;
}

/* By numa_maps, of steps that are small enough: the answer comes later. 0, or -1: not known. */
static int ask_maps(const struct software *software, struct software_step *step, uint32_t user)
{
    const struct process_sums *tally = &step->usage.tally;
    pid_t pid[MAPS_PROCESSES_MAX];

    if (step->nodes_read == HANDS_HUNG || tally->n == 0 || tally->n > MAPS_PROCESSES_MAX ||
        step_usage_rss(&step->usage) > MAPS_BYTES_MAX)
        return -1;
    for (size_t i = 0; i < tally->n; i++)
        pid[i] = tally->process[i].pid;
    if (!step->ask)
        step->ask = maps_reader_ask(software->maps, user, pid, tally->n);
    return step->ask ? 0 : -1;
}

/* Takes the answer, if there is one. */
static void take_maps(const struct software *software, struct software_step *step,
                      struct wire_step_id id)
{
    enum maps_answer answer;

    if (!step->ask)
        return;
    answer = maps_reader_take(software->maps, step->ask, &step->nodes);
    if (answer == MAPS_WAIT)
        return;
    step->ask = NULL;
    step->nodes_read = answer == MAPS_HUNG      ? HANDS_HUNG
                       : answer == MAPS_REFUSED ? HANDS_REFUSED
                                                : HANDS_DONE;
    if (answer != MAPS_READ)
        step->nodes.n = 0;
    if (answer != MAPS_HUNG)
        return;
    log_warn("step %u.%u: a process of it lets nobody read its numa_maps: memory by node of the "
             "step is not known any more",
             id.job, id.step);
}

/* Where there is one node all memory is on it: nothing has to be read that takes CAP_SYS_PTRACE. */
static int take_all(const struct software *software, struct software_step *step)
{
    if (memory_nodes_count(software->node.root) != 1)
        return -1;
    step->nodes = (struct memory_nodes){.n = 1, .bytes = {step_usage_rss(&step->usage)}};
    return 0;
}

/* 0, or -1: not known. */
static int take_cgroup(const struct software *software, struct software_step *step)
{
    step->nodes = (struct memory_nodes){0};
    return memory_nodes_of_cgroup(&step->nodes, software->node.root, step->folder.cgroup.memory);
}

/* Memory by node, as it was when it was read last. */
static void add_nodes(const struct software *software, struct software_step *step,
                      const struct counters_target *target, struct counters_sample *sample)
{
    const char *cgroup = step->folder.cgroup.memory;
    int rc;

    if (sample->nodes)
        return;
    if (target->elapsed_s >= step->next_nodes_s) {
        rc = cgroup                          ? take_cgroup(software, step)
             : take_all(software, step) == 0 ? 0
                                             : ask_maps(software, step, target->body->uid);
        if (rc < 0)
            step->nodes.n = 0;
        step->next_nodes_s = target->elapsed_s +
                             about(step, cgroup ? CGROUP_NODES_EVERY_S
                                                : fmax(MAPS_EVERY_S, maps_share_s(software, step)));
    }
    take_maps(software, step, target->body->id);
    sample->nodes = step->nodes.n;
    sample->nodes_read = step->nodes_read;
    memcpy(sample->rss_node, step->nodes.bytes, step->nodes.n * sizeof(*sample->rss_node));
}

static int software_read(void *state, void *arg, const struct counters_target *target,
                         struct counters_sample *sample, struct berth_error *err)
{
    struct software *software = state;
    struct software_step *step = arg;
    int rc;

    _Static_assert(MEMORY_NODES_MAX <= COUNTERS_NODES_MAX, "a sample has room for all nodes");
    step_folder_add(&step->folder, sample);
    step->counted = counters_know(sample, COUNTER_CPU_NS) &&
                    counters_know(sample, COUNTER_USER_NS) && counters_know(sample, COUNTER_FAULTS);
    rc = read_processes(software, step, target, sample, err);
    sample->processes_read = step->usage.read;
    add_nodes(software, step, target, sample);
    return rc;
}

static void about_taskstats(struct software *software, struct counters_about *about)
{
    about->used = software->ways.taskstats;
    about->say = about->used ? "waiting and switches of whole processes" : software->taskstats_why;
}

static void about_lock_time(struct software *software, struct counters_about *about)
{
    about->used = software->ways.lock_time;
    about->say = about->used ? "by eBPF" : software->lock_why;
}

static void about_maps(struct software *software, struct counters_about *about)
{
    size_t hung = maps_reader_hung(software->maps);

    about->used = hung < HANDS_HUNG_MAX;
    about->say = software->maps_say;
    if (hung == 0)
        snprintf(software->maps_say, sizeof(software->maps_say),
                 "memory by node of steps without a memory cgroup, by a thread of its own");
    else
        snprintf(software->maps_say, sizeof(software->maps_say),
                 "%zu of %d threads that read numa_maps hang: a process lets nobody read it%s",
                 hung, HANDS_HUNG_MAX, about->used ? "" : "; none is read until one comes back");
}

static bool software_part(void *state, size_t i, struct counters_about *about)
{
    static const struct {
        const char *name;
        void (*tell)(struct software *software, struct counters_about *about);
    } parts[] = {
        {"taskstats", about_taskstats}, {"lock_time", about_lock_time}, {"numa_maps", about_maps}};

    if (i >= sizeof(parts) / sizeof(parts[0]))
        return false;
    *about = (struct counters_about){.name = parts[i].name};
    parts[i].tell(state, about);
    return true;
}

static struct lock_time *software_locks(void *state)
{
    return ((struct software *)state)->ways.lock_time;
}

const struct counters_backend counters_software = {
    .name = "software",
    .without = "waiting, switches and memory by node are not known",
    .open = software_open,
    .close = software_close,
    .attach = software_attach,
    .prepare = software_prepare,
    .read = software_read,
    .detach = software_detach,
    .locks = software_locks,
    .part = software_part};
