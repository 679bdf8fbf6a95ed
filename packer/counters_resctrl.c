/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters_resctrl - occupancy of the last-level caches and memory traffic of a step, from the
 * kernel's resctrl file system (Documentation/filesystems/resctrl.rst; Intel RDT, AMD QoS, Arm
 * MPAM).
 *
 * Each step gets a monitoring group, TREE-JOB.STEP, in the control group that its tasks are in: a
 * task can be monitored in its own control group only. Children inherit the group. A step that
 * somebody else monitors already is left to him.
 *
 * What the numbers are worth:
 *   - The hardware's counters are of 24 to 62 bits and wrap; the kernel reads them once a second
 *     and adds up 64 bits, since it has had monitoring groups (Linux 4.14). So 64 bits are assumed
 *     here, and a difference is taken modulo 2^64. What falls for another reason (a domain whose
 *     CPUs were offline, counters that were configured or assigned anew) makes a difference that no
 *     memory can have moved: it is absent once, and counting goes on from there.
 *   - A domain that says "Unavailable", "Unassigned" or "Error" makes the sum absent: a sum
 *     without it would be too low.
 *   - A group's RMID may have been somebody else's before: up to info/L3_MON's
 *     max_threshold_occupancy bytes of the occupancy may be his. For the same reason a freed RMID
 *     cannot be used again until its lines have left the cache. */
#include "counters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RESCTRL "/sys/fs/resctrl"
#define L3_MON RESCTRL "/info/L3_MON"
#define NAME_BYTES 256

/* Above what the memory of any one cache can deliver: 10 TB/s. */
#define MOST_BYTES_PER_S 1e13

enum event { OCCUPANCY, TOTAL, LOCAL, EVENTS };

static const struct {
    const char *file;
    enum counter counter;
} events[EVENTS] = {
    [OCCUPANCY] = {"llc_occupancy", COUNTER_OCCUPANCY_BYTES},
    [TOTAL] = {"mbm_total_bytes", COUNTER_BYTES},
    [LOCAL] = {"mbm_local_bytes", COUNTER_BYTES_LOCAL},
};

struct resctrl {
    struct counters_node node;
    bool has[EVENTS];
};

/* A domain's file of an event, and what it said last. */
struct source {
    int fd; /* open as long as the step lives; -1: it could not be opened */
    bool known;
    uint64_t value;
    double at_s; /* the step's elapsed time */
};

struct domain {
    char name[NAME_BYTES]; /* mon_L3_00 */
    struct source source[EVENTS];
};

struct resctrl_step {
    char group[NAME_BYTES];    /* the group's name */
    char dir[ENFORCE_DIR_MAX]; /* and its folder */
    double bytes[EVENTS];      /* counted since it was attached */
    size_t domains;
    struct domain *domain;
};

/* ---- is it there? ---- */

/* Does a line of the file contain the word? */
static bool file_has(const struct rootfs *root, const char *path, const char *word)
{
    char *text = rootfs_read(root, path);
    bool has = text && strstr(text, word);

    free(text);
    return has;
}

static int why_not(const struct rootfs *root, struct berth_error *err)
{
    bool cpu = file_has(root, "/proc/cpuinfo", " cqm_llc") ||
               file_has(root, "/proc/cpuinfo", " cqm_mbm_total");

    if (rootfs_exists(root, RESCTRL "/info"))
        return berth_error_set(err, RESCTRL " is mounted, but this machine monitors no cache");
    if (file_has(root, "/proc/filesystems", "\tresctrl\n"))
        return berth_error_set(err, "not mounted: mount -t resctrl resctrl " RESCTRL);
    if (cpu)
        return berth_error_set(err, "the processor monitors its caches (cqm), but the kernel has "
                                    "no resctrl, or it was turned off when it was booted");
    return berth_error_set(err, "neither the processor (as it is shown here) monitors its caches, "
                                "nor has the kernel resctrl");
}

/* Is the word a line of the text? */
static bool has_line(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strcspn(line, "\n") == length && strncmp(line, word, length) == 0)
            return true;
    return false;
}

/* The first line of a small file, or "?". */
static void first_line(const struct rootfs *root, const char *path, char *line, size_t size)
{
    char *text = rootfs_read(root, path);

    snprintf(line, size, "%.*s", text ? (int)strcspn(text, "\n") : 1, text ? text : "?");
    free(text);
}

static int resctrl_open(const struct counters_node *node, void **state, uint32_t *can,
                        char say[COUNTERS_SAY], struct berth_error *err)
{
    char *features = rootfs_read(node->root, L3_MON "/mon_features"), rmids[32], names[128] = "";
    struct resctrl *resctrl;

    if (!features)
        return why_not(node->root, err);
    resctrl = calloc(1, sizeof(*resctrl));
    *can = 0;
    for (size_t e = 0; resctrl && e < EVENTS; e++) {
        resctrl->has[e] = has_line(features, events[e].file);
        if (!resctrl->has[e])
            continue;
        *can |= 1u << events[e].counter;
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", *names ? ", " : "",
                 events[e].file);
    }
    free(features);
    if (!resctrl || *can == 0) {
        free(resctrl);
        return berth_error_set(err, resctrl ? L3_MON "/mon_features names nothing that is used"
                                            : "out of memory");
    }
    resctrl->node = *node;
    first_line(node->root, L3_MON "/num_rmids", rmids, sizeof(rmids));
    snprintf(say, COUNTERS_SAY, "%s by a monitoring group per step; %s groups (RMIDs) in all",
             names, rmids);
    *state = resctrl;
    return 0;
}

static void resctrl_close(void *state)
{
    free(state);
}

/* ---- which group ---- */

/* The value of "KEY:VALUE" in the text, without a leading slash. False when there is none. */
static bool value_of(const char *text, const char *key, char value[NAME_BYTES])
{
    const char *at = strstr(text, key);

    if (!at)
        return false;
    at += strlen(key);
    at += *at == '/';
    snprintf(value, NAME_BYTES, "%.*s", (int)strcspn(at, "\n"), at);
    return true;
}

/* The control group ("" the default one) and the monitoring group ("" none) of a process, as the
 * kernel says since Linux 5.6. False where it does not. */
static bool groups_of(const struct rootfs *root, pid_t pid, char control[NAME_BYTES],
                      char monitor[NAME_BYTES])
{
    char path[64], *text;
    bool said;

    snprintf(path, sizeof(path), "/proc/%d/cpu_resctrl_groups", (int)pid);
    text = rootfs_read(root, path);
    said = text && value_of(text, "res:", control) && value_of(text, "\nmon:", monitor);
    free(text);
    return said;
}

static bool is_control(const char *name)
{
    return strcmp(name, "info") != 0 && strcmp(name, "mon_groups") != 0 &&
           strcmp(name, "mon_data") != 0;
}

/* The control group whose list names the process, for kernels that do not say; "" when none does:
 * the default one. */
static void search_control(const struct rootfs *root, pid_t pid, char control[NAME_BYTES])
{
    char path[sizeof(RESCTRL) + NAME_BYTES + 16], line[16], *text, **name;

    control[0] = '\0';
    snprintf(line, sizeof(line), "%d", (int)pid);
    name = rootfs_list(root, RESCTRL);
    for (size_t i = 0; name && name[i] && !control[0]; i++) {
        if (!is_control(name[i]))
            continue;
        snprintf(path, sizeof(path), RESCTRL "/%s/tasks", name[i]); /* a plain file has none */
        text = rootfs_read(root, path);
        if (text && has_line(text, line))
            snprintf(control, NAME_BYTES, "%s", name[i]);
        free(text);
    }
    rootfs_list_free(name);
}

static void group_name(const struct resctrl *resctrl, struct wire_step_id id, char *name)
{
    char step[WIRE_STEP_NAME_MAX];

    wire_step_name(id, step);
    snprintf(name, NAME_BYTES, "%s-%s", resctrl->node.enforce->tree, step);
}

/* Fill the step's group and dir. 0, or -1 and err. */
static int choose_group(const struct resctrl *resctrl, const struct counters_target *target,
                        pid_t pid, struct resctrl_step *step, struct berth_error *err)
{
    const struct rootfs *root = resctrl->node.root;
    char control[NAME_BYTES], monitor[NAME_BYTES] = "";

    group_name(resctrl, target->body->id, step->group);
    if (!groups_of(root, pid, control, monitor))
        search_control(root, pid, control);
    if (monitor[0] && strcmp(monitor, step->group) != 0)
        return berth_error_set(err, "is monitored already, by the group '%.200s'", monitor);
    snprintf(step->dir, sizeof(step->dir), RESCTRL "%s%s/mon_groups/%s", control[0] ? "/" : "",
             control, step->group);
    return 0;
}

static int make_group(const struct resctrl *resctrl, const struct resctrl_step *step,
                      struct berth_error *err)
{
    char rmids[32];

    if (rootfs_mkdir(resctrl->node.root, step->dir, err) == 0)
        return 0;
    first_line(resctrl->node.root, L3_MON "/num_rmids", rmids, sizeof(rmids));
    if (errno == ENOSPC)
        berth_error_set(err, "not counted: all %s monitoring groups (RMIDs) are in use", rmids);
    else if (errno == EBUSY)
        berth_error_set(err, "not counted: the RMIDs that are free have lines in the cache yet");
    return -1;
}

/* ---- moving the step's threads ---- */

/* Write those threads of the process that are not in done, and add them. How many, or -1 and err.
 */
static long move_process(const struct rootfs *root, pid_t pid, const char *tasks,
                         struct enforce_pids *done, struct berth_error *err)
{
    char path[64], **thread;
    long moved = 0;
    int tid;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(root, path);
    for (size_t i = 0; moved >= 0 && thread && thread[i]; i++) {
        if (sscanf(thread[i], "%d", &tid) != 1 || enforce_pids_have(done, (pid_t)tid))
            continue;
        if (rootfs_write(root, tasks, thread[i], err) < 0 && errno != ESRCH)
            moved = -1;
        else if (enforce_pids_add(done, (pid_t)tid) < 0)
            moved = berth_error_set(err, "out of memory");
        else
            moved++;
    }
    rootfs_list_free(thread);
    return moved;
}

/* One scan over the step's processes. How many threads it moved, or -1 and err. */
static long move_round(const struct resctrl *resctrl, const struct enforce_step *body,
                       const char *tasks, struct enforce_pids *done, struct berth_error *err)
{
    pid_t *pid = NULL;
    size_t n = 0;
    long moved = 0, one;

    if (enforce_step_pids(resctrl->node.enforce, body, &pid, &n) < 0)
        return berth_error_set(err, "cannot list the step's processes: %s", strerror(errno));
    for (size_t i = 0; moved >= 0 && i < n; i++) {
        one = move_process(resctrl->node.root, pid[i], tasks, done, err);
        moved = one < 0 ? -1 : moved + one;
    }
    free(pid);
    return moved;
}

/* Move all threads of the step into its group, until two scans find none to move: what was forked
 * by one that had not been moved yet is found by the next. */
static int move_step(const struct resctrl *resctrl, const struct enforce_step *body,
                     const struct resctrl_step *step, struct berth_error *err)
{
    struct enforce_pids done = {0};
    char tasks[ENFORCE_DIR_MAX + 8];
    long moved = 0;
    int clean = 0;

    snprintf(tasks, sizeof(tasks), "%s/tasks", step->dir);
    for (int round = 0; moved >= 0 && clean < 2 && round < ENFORCE_ROUNDS; round++) {
        moved = move_round(resctrl, body, tasks, &done, err);
        clean = moved == 0 ? clean + 1 : 0;
    }
    free(done.pid);
    if (moved < 0)
        return -1;
    return clean == 2 ? 0 : berth_error_set(err, "forks faster than its threads can be listed");
}

/* ---- reading ---- */

/* The number in the file. 0, or -1 and err with what is there instead. */
static int read_number(const struct source *source, uint64_t *value, struct berth_error *err)
{
    char text[64], *end;
    ssize_t got = pread(source->fd, text, sizeof(text) - 1, 0);

    if (got < 0)
        return berth_error_set(err, "%s", strerror(errno));
    text[got] = '\0';
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (end == text || text[0] == '-' || errno || (*end && *end != '\n'))
        return berth_error_set(err, "'%.*s'", (int)strcspn(text, "\n"), text);
    return 0;
}

/* Add what a domain counted since the last time. 0, or -1 and err: that is not known. */
static int add_count(struct source *source, uint64_t value, double at_s, double *bytes,
                     struct berth_error *err)
{
    double grown = (double)(value - source->value), passed_s = at_s - source->at_s;
    bool sound = source->known && grown <= MOST_BYTES_PER_S * (passed_s > 1 ? passed_s : 1);

    source->known = true;
    source->value = value;
    source->at_s = at_s;
    if (!sound)
        return berth_error_set(err, "began anew");
    *bytes += grown;
    return 0;
}

/* Sum up an event over all domains. 0, or -1 and err: one does not say. */
static int read_event(struct resctrl_step *step, enum event event, double at_s, double *sum,
                      struct berth_error *err)
{
    struct berth_error why;
    uint64_t value = 0;
    int rc = 0;

    *sum = 0;
    for (size_t d = 0; d < step->domains; d++) {
        struct source *source = &step->domain[d].source[event];

        if (read_number(source, &value, &why) == 0 &&
            (event == OCCUPANCY || add_count(source, value, at_s, &step->bytes[event], &why) == 0))
            *sum += (double)value;
        else
            rc = berth_error_set(err, "%.300s: %s of %.64s: %.100s", step->dir, events[event].file,
                                 step->domain[d].name, why.text);
    }
    if (event != OCCUPANCY)
        *sum = step->bytes[event];
    return rc;
}

/* Open the domain's files of the events that there are. */
static void open_domain(const struct resctrl *resctrl, const struct resctrl_step *step,
                        struct domain *domain, const char *name)
{
    char path[ENFORCE_DIR_MAX + 2 * NAME_BYTES];

    snprintf(domain->name, sizeof(domain->name), "%s", name);
    for (enum event e = 0; e < EVENTS; e++) {
        snprintf(path, sizeof(path), "%s/mon_data/%s/%s", step->dir, name, events[e].file);
        domain->source[e].fd =
            resctrl->has[e] ? rootfs_openat(resctrl->node.root, path, O_RDONLY) : -1;
    }
}

/* Open the files of the group's domains, and see where their counters stand. 0, or -1 and err. */
static int open_domains(const struct resctrl *resctrl, struct resctrl_step *step, double at_s,
                        struct berth_error *err)
{
    char path[ENFORCE_DIR_MAX + 16], **name;
    size_t n = 0;
    double sum;

    snprintf(path, sizeof(path), "%s/mon_data", step->dir);
    name = rootfs_list(resctrl->node.root, path);
    while (name && name[n])
        n++;
    step->domain = calloc(n + 1, sizeof(*step->domain));
    for (size_t i = 0; step->domain && i < n; i++)
        if (strncmp(name[i], "mon_L3_", strlen("mon_L3_")) == 0)
            open_domain(resctrl, step, &step->domain[step->domains++], name[i]);
    rootfs_list_free(name);
    if (step->domains == 0)
        return berth_error_set(err, "%.400s: no domain of a cache in it", path);
    for (enum event e = 0; e < EVENTS; e++)
        if (resctrl->has[e])
            read_event(step, e, at_s, &sum, NULL);
    return 0;
}

/* ---- the backend ---- */

static void free_step(struct resctrl_step *step)
{
    for (size_t d = 0; d < step->domains; d++)
        for (enum event e = 0; e < EVENTS; e++)
            if (step->domain[d].source[e].fd >= 0)
                close(step->domain[d].source[e].fd);
    free(step->domain);
    free(step);
}

static int resctrl_attach(void *state, const struct counters_target *target, void **out,
                          struct berth_error *err)
{
    const struct resctrl *resctrl = state;
    struct resctrl_step *step = calloc(1, sizeof(*step));

    if (!step || target->body->ntasks == 0) {
        free(step);
        return berth_error_set(err, step ? "no tasks" : "out of memory");
    }
    if (choose_group(resctrl, target, target->body->task[0].pid, step, err) < 0 ||
        make_group(resctrl, step, err) < 0) {
        free_step(step);
        return -1;
    }
    if (open_domains(resctrl, step, target->elapsed_s, err) < 0 ||
        move_step(resctrl, target->body, step, err) < 0) {
        rootfs_rmdir(resctrl->node.root, step->dir, NULL);
        free_step(step);
        return -1;
    }
    *out = step;
    return 0;
}

/* Has somebody taken the step's first task to another group? What it does is counted there then. */
static int check_there(const struct resctrl *resctrl, const struct resctrl_step *step,
                       const struct counters_target *target, struct berth_error *err)
{
    char control[NAME_BYTES], monitor[NAME_BYTES];

    if (target->body->ntasks == 0 ||
        !groups_of(resctrl->node.root, target->body->task[0].pid, control, monitor))
        return 0; /* it has ended, or the kernel does not say */
    if (strcmp(monitor, step->group) == 0)
        return 0;
    return berth_error_set(err, "its tasks were moved away from %.200s: to '%.100s/%.100s'",
                           step->dir, control, monitor);
}

static int resctrl_read(void *state, void *opaque, const struct counters_target *target,
                        struct counters_sample *sample, struct berth_error *err)
{
    const struct resctrl *resctrl = state;
    struct resctrl_step *step = opaque;
    bool any = false;
    double sum;

    if (check_there(resctrl, step, target, err) < 0)
        return -1;
    for (enum event e = 0; e < EVENTS; e++)
        if (resctrl->has[e] && read_event(step, e, target->elapsed_s, &sum, err) == 0) {
            counters_set(sample, events[e].counter, sum);
            any = true;
        }
    return any ? 0 : -1;
}

static void resctrl_detach(void *state, void *opaque)
{
    const struct resctrl *resctrl = state;
    struct resctrl_step *step = opaque;

    rootfs_rmdir(resctrl->node.root, step->dir, NULL);
    free_step(step);
}

/* ---- what a crash left ---- */

static bool is_known(struct wire_step_id id, const struct wire_step_id *known, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (known[i].job == id.job && known[i].step == id.step)
            return true;
    return false;
}

/* Remove this berthd's groups in a control group but those of known steps. */
static void sweep_control(const struct resctrl *resctrl, const char *control,
                          const struct wire_step_id *known, size_t n)
{
    char dir[sizeof(RESCTRL) + NAME_BYTES + 16], path[sizeof(dir) + NAME_BYTES], **name;
    const char *tree = resctrl->node.enforce->tree;
    struct wire_step_id id;
    size_t length = strlen(tree);

    snprintf(dir, sizeof(dir), RESCTRL "/%s/mon_groups", control);
    name = rootfs_list(resctrl->node.root, dir);
    for (size_t i = 0; name && name[i]; i++) {
        if (strncmp(name[i], tree, length) != 0 || name[i][length] != '-' ||
            wire_step_parse(name[i] + length + 1, &id) < 0 || is_known(id, known, n))
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, name[i]);
        rootfs_rmdir(resctrl->node.root, path, NULL);
    }
    rootfs_list_free(name);
}

static void resctrl_sweep(void *state, const struct wire_step_id *known, size_t n)
{
    const struct resctrl *resctrl = state;
    char **name = rootfs_list(resctrl->node.root, RESCTRL);

    sweep_control(resctrl, ".", known, n);
    for (size_t i = 0; name && name[i]; i++)
        if (is_control(name[i]))
            sweep_control(resctrl, name[i], known, n);
    rootfs_list_free(name);
}

const struct counters_backend counters_resctrl = {.name = "resctrl",
                                                  .open = resctrl_open,
                                                  .close = resctrl_close,
                                                  .attach = resctrl_attach,
                                                  .read = resctrl_read,
                                                  .detach = resctrl_detach,
                                                  .sweep = resctrl_sweep};
