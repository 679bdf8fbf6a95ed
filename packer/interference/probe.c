/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe - see probe.h: when and where. What results say is in probe/estimate.c. */
#include "packer/interference/probe.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/interference/child.h"
#include "packer/interference/estimate.h"

#define IDLE_TICKS_OF_100 95
#define TICKS_MIN 50
#define LOOK_STALE_S 10.0
#define REFERENCES 8 /* after so many probes an idle cache is probed seldom */
#define SELDOM 10    /* times probe_every */
#define WAIT_MIN_S 0.05

struct probe {
    struct counters_node node;
    struct probe_history *history;
    double *last_s; /* [llcs]: when each was probed last; -INFINITY never */
    double next_s;  /* nothing is to be done before */
    char *look;     /* /proc/stat at look_s, or NULL */
    double look_s;
    bool at_work;
    struct probe_child child;
    size_t llc;           /* that is probed, */
    struct probe_set set; /* with these steps on it, */
    bool spoiled;         /* one of which has ended meanwhile */
};

/* ---- decisions ---- */

/* A CPU's line in /proc/stat. */
struct ticks {
    size_t cpu;
    uint64_t busy, all;
};

/* Read a line "cpu3 ...". False for other lines, and for "cpu ...", the sum of all. */
static bool read_ticks(const char *line, struct ticks *ticks)
{
    unsigned long long t[8] = {0}; /* user nice system idle iowait irq softirq steal */

    if (strncmp(line, "cpu", 3) != 0 || line[3] == ' ' ||
        sscanf(line, "cpu%zu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks->cpu, &t[0], &t[1],
               &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) < 5)
        return false;
    ticks->busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
    ticks->all = ticks->busy + t[3] + t[4];
    return ticks->cpu < CPUS_MAX;
}

/* The next line of the text, or its end. */
static const char *next_line(const char *text)
{
    text += strcspn(text, "\n");
    return text + (*text == '\n');
}

/* Find the CPU's line from *text on, and go behind it. False, and *text as it was: there is none.
 */
static bool find_ticks(const char **text, size_t cpu, struct ticks *ticks)
{
    for (const char *line = *text; *line; line = next_line(line))
        if (read_ticks(line, ticks) && ticks->cpu == cpu) {
            *text = next_line(line);
            return true;
        }
    return false;
}

int probe_idle_cpus(const char *before, const char *after, struct cpus *idle)
{
    struct ticks was, is;
    bool any = false;

    cpus_zero(idle);
    for (; *after; after = next_line(after)) {
        if (!read_ticks(after, &is) || !find_ticks(&before, is.cpu, &was))
            continue; /* the kernel writes the CPUs in one order */
        any = true;
        if (is.all >= was.all + TICKS_MIN && is.busy >= was.busy &&
            100 * (is.busy - was.busy) <= (100 - IDLE_TICKS_OF_100) * (is.all - was.all))
            cpus_add(idle, is.cpu);
    }
    return any ? 0 : -1;
}

struct held {
    struct cpus *cpus;
    struct berth_error *err;
    size_t tops; /* of Slurm's trees */
};

/* The folder of cpusets: of cgroup v1, else of the unified hierarchy. */
static bool is_v1(const struct enforce *enforce, char *dir)
{
    snprintf(dir, CGROUP_DIR_MAX, "%s/cpuset", enforce->cgroup_root);
    if (rootfs_exists(enforce->root, dir))
        return true;
    snprintf(dir, CGROUP_DIR_MAX, "%s", enforce->cgroup_root);
    return false;
}

/* A job that Slurm left behind, without a process, holds nothing. */
static int add_job(struct enforce *enforce, const char *path, void *arg)
{
    struct slurm_job job = {.unified = !is_v1(enforce, job.dir)};
    struct held *held = arg;
    struct berth_error why;
    struct cpus cpus;

    snprintf(job.dir, sizeof(job.dir), "%s", path);
    /* it has ended, or Slurm has left it behind */
    if (!slurm_job_lives(enforce_slurm(enforce), &job))
        return 0;
    if (enforce_read_cpus(enforce->root, path, "cpuset.cpus", &cpus, &why) < 0) {
        if (!rootfs_exists(enforce->root, path))
            return 0;
        return berth_error_set(held->err, "%s", why.text);
    }
    if (cpus_empty(&cpus))
        return berth_error_set(held->err, "%s: its job may run anywhere", path);
    cpus_or(held->cpus, &cpus);
    return 0;
}

static int add_user(struct enforce *enforce, const char *path, void *arg)
{
    return enforce_each_dir(enforce, path, "job_", add_job, arg);
}

static int add_top1(struct enforce *enforce, const char *path, void *arg)
{
    ((struct held *)arg)->tops++;
    return enforce_each_dir(enforce, path, "uid_", add_user, arg);
}

int probe_held_cpus(struct enforce *enforce, struct cpus *held, struct berth_error *err)
{
    struct held arg = {.cpus = held, .err = err};
    char dir[CGROUP_DIR_MAX];
    int rc;

    cpus_zero(held);
    if (is_v1(enforce, dir))
        rc = enforce_each_dir(enforce, dir, "slurm", add_top1, &arg);
    else
        rc = enforce_each_job(enforce, NULL, &arg.tops, add_job, &arg);
    if (rc == 0 && arg.tops == 0)
        return berth_error_set(err, "%s: no cpusets of Slurm (ConstrainCores=no, or no job yet)",
                               dir);
    return rc;
}

long probe_choose_cpu(const struct topo *topo, size_t llc, const struct cpus *held,
                      const struct cpus *idle)
{
    for (size_t i = topo->cores; i-- > 0;) {
        struct cpus core;

        topo_whole(topo, i, &core);
        if (topo->core[i].llc == llc && !cpus_empty(&core) && cpus_subset(&core, idle) &&
            !cpus_intersect(&core, held))
            return (long)cpus_next(&core, 0);
    }
    return -1;
}

double probe_rank(double intensity, double typical, double neutral_pmi, double devil_pmi)
{
    if (!(typical > 0))
        return neutral_pmi;
    if (intensity <= typical)
        return neutral_pmi * intensity / typical;
    return neutral_pmi + (devil_pmi - neutral_pmi) * (1 - typical / intensity);
}

/* ---- one probe ---- */

int probe_open(struct probe **out, const struct counters_node *node, struct berth_error *err)
{
    char dir[CGROUP_DIR_MAX];
    struct probe *probe;

    if (node->conf->probe == CONF_OFF)
        return berth_error_set(err, "off (probe = off)");
    if (!is_v1(node->enforce, dir) && !rootfs_exists(node->root, dir))
        return berth_error_set(err, "%s: no cpusets, so nobody knows which cores are free",
                               node->enforce->cgroup_root);
    probe = calloc(1, sizeof(*probe));
    if (!probe)
        return berth_no_memory(err);
    probe->node = *node;
    probe->last_s = malloc(node->topo->llcs * sizeof(*probe->last_s));
    probe->history = probe_history_new();
    if (!probe->last_s || !probe->history) {
        probe_close(probe);
        return berth_no_memory(err);
    }
    for (size_t i = 0; i < node->topo->llcs; i++)
        probe->last_s[i] = -INFINITY;
    *out = probe;
    return 0;
}

void probe_close(struct probe *probe)
{
    struct probe_child_result result;

    if (!probe)
        return;
    if (probe->at_work)
        probe_child_finish(&probe->child, &result, NULL);
    while (!probe_child_gone(&probe->child))
        usleep(1000);
    probe_history_free(probe->history);
    free(probe->last_s);
    free(probe->look);
    free(probe);
}

/* The CPUs where one of the steps may run. */
static void steps_cpus(const struct probe_step *step, size_t n, struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t i = 0; i < n; i++)
        cpus_or(cpus, &step[i].cpus);
}

double probe_wait_s(const struct probe *probe, double now_s)
{
    double until_s = probe->look ? probe->look_s + PROBE_LOOK_S : probe->next_s;

    return until_s - now_s > WAIT_MIN_S ? until_s - now_s : WAIT_MIN_S;
}

/* Has the cache its turn? An idle one only now and then, once the reference is known. */
static bool is_due(const struct probe *probe, size_t llc, const struct probe_set *set, double now_s)
{
    double every_s = (double)probe->node.conf->probe_every_ms / 1e3;

    if (set->steps == 0 &&
        probe_history_count(probe->history, probe->node.topo->llc[llc].size_bytes, set) >=
            REFERENCES)
        every_s *= SELDOM;
    return now_s - probe->last_s[llc] >= every_s;
}

/* What a cache needs for a probe, at this moment. */
struct moment {
    const struct probe_step *step;
    size_t n;
    double now_s;
    struct cpus held; /* by jobs and steps */
    struct cpus own;  /* of it: the steps' */
    struct cpus idle;
};

/* The CPU to probe the cache from, and the steps on it; -1 and err when it cannot or need not be
 * probed. */
static long choose(const struct probe *probe, size_t llc, const struct moment *moment,
                   struct probe_set *set, struct berth_error *err)
{
    const struct topo_llc *cache = &probe->node.topo->llc[llc];
    struct cpus strangers = cache->cpus;
    long cpu;

    set->steps = 0;
    for (size_t i = 0; i < moment->n; i++)
        if (cpus_intersect(&moment->step[i].cpus, &cache->cpus) &&
            probe_set_add(set, moment->step[i].id) < 0)
            return berth_error_set(err, "cache %zu: too many steps to tell them apart", llc);
    if (!is_due(probe, llc, set, moment->now_s))
        return -1;
    cpus_andnot(&strangers, &moment->idle);
    cpus_andnot(&strangers, &moment->own);
    if (!cpus_empty(&strangers))
        return berth_error_set(err, "cache %zu: CPU %zu of it is at work for somebody else", llc,
                               cpus_next(&strangers, 0));
    cpu = probe_choose_cpu(probe->node.topo, llc, &moment->held, &moment->idle);
    return cpu >= 0 ? cpu : berth_error_set(err, "cache %zu: no idle core beside the jobs", llc);
}

/* Fill held, own and idle. 0, or -1 and err. */
static int look_around(struct probe *probe, struct moment *moment, struct berth_error *err)
{
    char *now = rootfs_read(probe->node.root, "/proc/stat");
    int rc = now && probe->look ? probe_idle_cpus(probe->look, now, &moment->idle) : -1;

    free(now);
    free(probe->look);
    probe->look = NULL;
    if (rc < 0)
        return berth_error_set(err, "/proc/stat: names no CPU");
    for (size_t i = 0; i < moment->n; i++)
        if (!moment->step[i].confined)
            return berth_error_set(err, "a step is in no cpuset, so nobody knows which cores are "
                                        "free");
    if (probe_held_cpus(probe->node.enforce, &moment->held, err) < 0)
        return -1;
    steps_cpus(moment->step, moment->n, &moment->own);
    cpus_or(&moment->held, &moment->own);
    return 0;
}

/* Start the reporter beside the cache whose last probe is the oldest. Its descriptor, or -1 and
 * err. */
static int start(struct probe *probe, const struct moment *moment, struct berth_error *err)
{
    const struct conf *conf = probe->node.conf;
    const struct topo *topo = probe->node.topo;
    struct probe_child_task task = {.time_ms = (unsigned)conf->probe_time_ms};
    double oldest_s = INFINITY;
    struct probe_set set;
    long cpu = -1, found;

    for (size_t llc = 0; llc < topo->llcs; llc++) {
        if (probe->last_s[llc] >= oldest_s || (found = choose(probe, llc, moment, &set, err)) < 0)
            continue;
        cpu = found;
        oldest_s = probe->last_s[llc];
        probe->llc = llc;
        probe->set = set;
    }
    if (cpu < 0)
        return -1;
    task.cpu = (unsigned)cpu;
    task.bytes = probe_child_bytes(topo->llc[probe->llc].size_bytes);
    if (probe_child_start(&probe->child, &task, err) < 0)
        return -1;
    probe->at_work = true;
    probe->spoiled = false;
    probe->last_s[probe->llc] = moment->now_s;
    return probe->child.fd;
}

int probe_begin(struct probe *probe, double now_s, const struct probe_step *step, size_t n,
                struct berth_error *err)
{
    const struct conf *conf = probe->node.conf;
    struct moment moment = {.step = step, .n = n, .now_s = now_s};
    int fd;

    berth_error_set(err, "%s", "");
    if (probe->at_work || now_s < probe->next_s || !probe_child_gone(&probe->child))
        return -1;
    if (probe->look && now_s - probe->look_s > LOOK_STALE_S) {
        free(probe->look);
        probe->look = NULL;
    }
    if (!probe->look) {
        probe->look = rootfs_read(probe->node.root, "/proc/stat");
        probe->look_s = now_s;
        return probe->look ? -1 : berth_error_set(err, "/proc/stat: %s", strerror(errno));
    }
    if (now_s - probe->look_s < PROBE_LOOK_S)
        return -1;
    fd = look_around(probe, &moment, err) < 0 ? -1 : start(probe, &moment, err);
    /* a tenth of probe_every: another cache may be due, or a core become free, before */
    probe->next_s = now_s + fmax(PROBE_SHARE * (double)conf->probe_time_ms / 1e3,
                                 (double)conf->probe_every_ms / 1e4);
    return fd;
}

bool probe_at_work(const struct probe *probe)
{
    return probe->at_work;
}

int probe_end(struct probe *probe, struct probe_result *result, struct berth_error *err)
{
    struct probe_child_result report;
    int rc;

    if (!probe->at_work)
        return berth_error_set(err, "no probe is at work");
    rc = probe_child_finish(&probe->child, &report, err);
    probe->at_work = false;
    *result =
        (struct probe_result){.llc = probe->llc, .steps = probe->set.steps, .cpu_s = report.cpu_s};
    if (rc < 0)
        return -1;
    if (probe->spoiled)
        return berth_error_set(err, "a step ended meanwhile");
    result->ratio = report.access_ns / report.op_ns;
    return probe_history_add(probe->history, probe->node.topo->llc[probe->llc].size_bytes,
                             &probe->set, result->ratio, err);
}

bool probe_estimate(const struct probe *probe, struct wire_step_id id,
                    struct probe_estimate *estimate)
{
    return probe_history_estimate(probe->history, id, estimate);
}

void probe_forget(struct probe *probe, struct wire_step_id id)
{
    probe->spoiled |= probe->at_work && probe_set_has(&probe->set, id);
    probe_history_forget(probe->history, id);
}
