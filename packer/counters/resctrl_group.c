/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/counters/resctrl_group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is the word a line of the text? */
bool resctrl_has_line(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strcspn(line, "\n") == length && strncmp(line, word, length) == 0)
            return true;
    return false;
}

void resctrl_rmids(const struct rootfs *root, char text[32])
{
    char *all = rootfs_read(root, RESCTRL_L3_MON "/num_rmids");

    snprintf(text, 32, "%.*s", all ? (int)strcspn(all, "\n") : 1, all ? all : "?");
    free(all);
}

/* ---- which group ---- */

/* The value of "KEY:VALUE" in the text, without a leading slash. False when there is none. */
static bool value_of(const char *text, const char *key, char value[RESCTRL_NAME_MAX])
{
    const char *at = strstr(text, key);

    if (!at)
        return false;
    at += strlen(key);
    at += *at == '/';
    snprintf(value, RESCTRL_NAME_MAX, "%.*s", (int)strcspn(at, "\n"), at);
    return true;
}

/* The control group ("" the default one) and the monitoring group ("" none) of a process, as the
 * kernel says since Linux 5.6. False where it does not. */
static bool groups_of(const struct rootfs *root, pid_t pid, char control[RESCTRL_NAME_MAX],
                      char monitor[RESCTRL_NAME_MAX])
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
static void search_control(const struct rootfs *root, pid_t pid, char control[RESCTRL_NAME_MAX])
{
    char path[sizeof(RESCTRL) + RESCTRL_NAME_MAX + 16], line[16], *text, **name;

    control[0] = '\0';
    snprintf(line, sizeof(line), "%d", (int)pid);
    name = rootfs_list(root, RESCTRL);
    for (size_t i = 0; name && name[i] && !control[0]; i++) {
        if (!is_control(name[i]))
            continue;
        snprintf(path, sizeof(path), RESCTRL "/%s/tasks", name[i]); /* a plain file has none */
        text = rootfs_read(root, path);
        if (text && resctrl_has_line(text, line))
            snprintf(control, RESCTRL_NAME_MAX, "%s", name[i]);
        free(text);
    }
    rootfs_list_free(name);
}

/* Fill in name and dir. 0, or -1 and err. */
static int choose(struct resctrl_group *group, const struct enforce *enforce,
                  const struct enforce_step *step, struct berth_error *err)
{
    char control[RESCTRL_NAME_MAX], monitor[RESCTRL_NAME_MAX] = "", id[WIRE_STEP_NAME_MAX];
    pid_t pid = enforce_is_task(enforce->root, &step->task[0]) ? step->task[0].pid : 0;

    wire_step_name(step->id, id);
    snprintf(group->name, sizeof(group->name), "%s-%s", enforce->tree, id);
    if (!groups_of(enforce->root, pid, control, monitor))
        search_control(enforce->root, pid, control);
    if (monitor[0] && strcmp(monitor, group->name) != 0)
        return berth_error_set(err, "is monitored already, by the group '%.200s'", monitor);
    snprintf(group->dir, sizeof(group->dir), RESCTRL "%s%s/mon_groups/%s", control[0] ? "/" : "",
             control, group->name);
    return 0;
}

int resctrl_group_make(struct resctrl_group *group, const struct enforce *enforce,
                       const struct enforce_step *step, struct berth_error *err)
{
    char rmids[32];

    if (step->ntasks == 0)
        return berth_error_set(err, "no tasks");
    if (choose(group, enforce, step, err) < 0)
        return -1;
    if (rootfs_mkdir(enforce->root, group->dir, err) == 0)
        return 0;
    if (errno == ENOSPC) {
        resctrl_rmids(enforce->root, rmids);
        berth_error_set(err, "not counted: all %s monitoring groups (RMIDs) are in use", rmids);
    } else if (errno == EBUSY) {
        berth_error_set(err, "not counted: the RMIDs that are free have lines in the cache yet");
    }
    return -1;
}

void resctrl_group_remove(const struct resctrl_group *group, const struct enforce *enforce)
{
    rootfs_rmdir(enforce->root, group->dir, NULL);
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
            moved = berth_no_memory(err);
        else
            moved++;
    }
    rootfs_list_free(thread);
    return moved;
}

/* One scan over the step's processes. How many threads it moved, or -1 and err. */
static long move_round(struct enforce *enforce, const struct enforce_step *step, const char *tasks,
                       struct enforce_pids *done, struct berth_error *err)
{
    pid_t *pid = NULL;
    size_t n = 0;
    long moved = 0, one;

    if (enforce_step_pids(enforce, step, &pid, &n) < 0)
        return berth_error_set(err, "cannot list the step's processes: %s", strerror(errno));
    for (size_t i = 0; moved >= 0 && i < n; i++) {
        one = move_process(enforce->root, pid[i], tasks, done, err);
        moved = one < 0 ? -1 : moved + one;
    }
    free(pid);
    return moved;
}

/* Until two scans find none to move: what was forked by a thread that had not been moved yet is
 * found by the next. */
int resctrl_group_fill(const struct resctrl_group *group, struct enforce *enforce,
                       const struct enforce_step *step, struct berth_error *err)
{
    struct enforce_pids done = {0};
    char tasks[CGROUP_DIR_MAX + 8];
    long moved = 0;
    int clean = 0;

    snprintf(tasks, sizeof(tasks), "%s/tasks", group->dir);
    for (int round = 0; moved >= 0 && clean < 2 && round < ENFORCE_ROUNDS; round++) {
        moved = move_round(enforce, step, tasks, &done, err);
        clean = moved == 0 ? clean + 1 : 0;
    }
    free(done.pid);
    if (moved < 0)
        return -1;
    return clean == 2 ? 0 : berth_error_set(err, "forks faster than its threads can be listed");
}

/* Is the process one of the step's? Its number may have become somebody else's. */
static bool is_of(struct enforce *enforce, const struct enforce_step *step, pid_t pid)
{
    struct enforce_pids list = {0};
    bool is = enforce->way->pids(enforce, step, &list) == 0 && enforce_pids_have(&list, pid);

    free(list.pid);
    return is;
}

int resctrl_group_check(const struct resctrl_group *group, struct enforce *enforce,
                        const struct enforce_step *step, struct berth_error *err)
{
    char control[RESCTRL_NAME_MAX], monitor[RESCTRL_NAME_MAX];

    if (step->ntasks == 0 || !groups_of(enforce->root, step->task[0].pid, control, monitor))
        return 0; /* it has ended, or the kernel does not say */
    if (strcmp(monitor, group->name) == 0 || !is_of(enforce, step, step->task[0].pid))
        return 0;
    return berth_error_set(err, "its tasks were moved away from %.200s: to '%.100s/%.100s'",
                           group->dir, control, monitor);
}

/* ---- what a crash left ---- */

/* Remove this berthd's groups in a control group but those of known steps. */
static void sweep_control(const struct enforce *enforce, const char *control,
                          const struct wire_step_id *known, size_t n)
{
    char dir[sizeof(RESCTRL) + RESCTRL_NAME_MAX + 16], path[sizeof(dir) + RESCTRL_NAME_MAX], **name;
    const char *tree = enforce->tree;
    struct wire_step_id id;
    size_t length = strlen(tree);

    snprintf(dir, sizeof(dir), RESCTRL "/%s/mon_groups", control);
    name = rootfs_list(enforce->root, dir);
    for (size_t i = 0; name && name[i]; i++) {
        if (strncmp(name[i], tree, length) != 0 || name[i][length] != '-' ||
            wire_step_parse(name[i] + length + 1, &id) < 0 || enforce_step_known(id, known, n))
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, name[i]);
        rootfs_rmdir(enforce->root, path, NULL);
    }
    rootfs_list_free(name);
}

void resctrl_group_sweep(const struct enforce *enforce, const struct wire_step_id *known, size_t n)
{
    char **name = rootfs_list(enforce->root, RESCTRL);

    sweep_control(enforce, ".", known, n);
    for (size_t i = 0; name && name[i]; i++)
        if (is_control(name[i]))
            sweep_control(enforce, name[i], known, n);
    rootfs_list_free(name);
}
