/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_cgroup - see perf_cgroup.h.
 *
 * Processes are moved while they may fork: a child is where its parent was when it was forked, so
 * the list is made and moved again until nobody on it is elsewhere. */
#include "packer/counters/perf_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/text.h"

/* ---- the hierarchy ---- */

/* The controllers that Slurm's cgroup/v1 uses. */
static bool is_shared(const char *options)
{
    static const char *const slurms[] = {"cpuset",  "memory", "freezer",
                                         "devices", "cpu",    "cpuacct"};

    for (size_t i = 0; i < sizeof(slurms) / sizeof(slurms[0]); i++)
        if (text_lists(options, slurms[i]))
            return true;
    return false;
}

/* The mount that perf_event has: its own of version 1, else the first of version 2. True where
 * Slurm places its steps by it. */
static bool find_mount(struct perf_hierarchy *found, char *mounts)
{
    char *save;

    for (char *line = strtok_r(mounts, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char where[256], type[32], options[512];

        if (sscanf(line, "%*s %255s %31s %511s", where, type, options) != 3)
            continue;
        if (strcmp(type, "cgroup") == 0 && text_lists(options, "perf_event")) {
            found->unified = false;
            strcpy(found->mount, where);
            return is_shared(options);
        }
        if (strcmp(type, "cgroup2") == 0 && !found->mount[0]) {
            found->unified = true;
            strcpy(found->mount, where);
        }
    }
    return false;
}

/* Is perf_event in a version 1 hierarchy, mounted or not? */
static bool is_version1(const struct rootfs *root)
{
    char *text = rootfs_read(root, "/proc/self/cgroup");
    bool is = text && strstr(text, "perf_event");

    free(text);
    return is;
}

int perf_hierarchy_find(struct perf_hierarchy *hierarchy, const struct rootfs *root,
                        struct berth_error *err)
{
    char *mounts = rootfs_read(root, "/proc/self/mounts");
    struct perf_hierarchy found = {.mount = ""};
    bool shared;

    if (!mounts)
        return berth_error_set(err, "/proc/self/mounts: %s", strerror(errno));
    shared = find_mount(&found, mounts);
    free(mounts);
    if (shared)
        return berth_error_set(err,
                               "%s: perf_event is mounted together with a controller that "
                               "Slurm uses",
                               found.mount);
    if (!found.mount[0] || (found.unified && is_version1(root)))
        return berth_error_set(err, "no cgroup hierarchy with perf_event is mounted: mount -t "
                                    "cgroup -o perf_event, or cgroup2");
    *hierarchy = found;
    return 0;
}

/* ---- berth's tree ---- */

static void tree_dir(const struct perf_hierarchy *hierarchy, const struct enforce *enforce,
                     char dir[PERF_CGROUP_MAX])
{
    snprintf(dir, PERF_CGROUP_MAX, "%s/%s", hierarchy->mount, enforce->tree);
}

int perf_tree_open(const struct perf_hierarchy *hierarchy, const struct enforce *enforce,
                   struct berth_error *err)
{
    char dir[PERF_CGROUP_MAX];
    int fd;

    tree_dir(hierarchy, enforce, dir);
    if (rootfs_mkdir(enforce->root, dir, err) < 0)
        return -1;
    fd = rootfs_openat(enforce->root, dir, O_RDONLY | O_DIRECTORY);
    return fd < 0 ? berth_error_set(err, "%s: %s", dir, strerror(errno)) : fd;
}

void perf_tree_close(const struct perf_hierarchy *hierarchy, const struct enforce *enforce, int fd)
{
    char dir[PERF_CGROUP_MAX];

    close(fd);
    tree_dir(hierarchy, enforce, dir);
    rootfs_rmdir(enforce->root, dir, NULL); /* stays while a step stands in it */
}

bool perf_hierarchy_wake(const struct perf_hierarchy *hierarchy, const struct rootfs *root)
{
    static const char *const harmless[] = {"misc", "rdma", "hugetlb", "pids"};
    char path[300], *have, *given;
    bool woken = false;

    snprintf(path, sizeof(path), "%s/cgroup.controllers", hierarchy->mount);
    have = rootfs_read(root, path);
    snprintf(path, sizeof(path), "%s/cgroup.subtree_control", hierarchy->mount);
    given = rootfs_read(root, path);
    if (have && given)
        have[strcspn(have, "\n")] = given[strcspn(given, "\n")] = '\0';
    for (size_t i = 0; hierarchy->unified && have && given && !woken && i < 4; i++) {
        char word[16];

        if (!text_lists(have, harmless[i]) || text_lists(given, harmless[i]))
            continue;
        snprintf(word, sizeof(word), "+%s", harmless[i]);
        woken = rootfs_write(root, path, word, NULL) == 0;
        word[0] = '-';
        if (woken)
            rootfs_write(root, path, word, NULL);
    }
    free(have);
    free(given);
    return woken;
}

/* ---- where a process is ---- */

/* The path of a process in the hierarchy ("/system.slice/..."), from /proc/PID/cgroup. 0, or -1. */
static int path_of(const struct perf_hierarchy *hierarchy, const struct rootfs *root, pid_t pid,
                   char path[PERF_CGROUP_MAX])
{
    char name[64], *text, *save;
    int rc = -1;

    snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
    text = rootfs_read(root, name);
    for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && rc < 0;
         line = strtok_r(NULL, "\n", &save)) { /* NUMBER:CONTROLLERS:PATH */
        char *controllers = strchr(line, ':'),
             *at = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!at || strlen(at + 1) >= PERF_CGROUP_MAX)
            continue;
        *at = '\0';
        if (hierarchy->unified ? controllers[1] == '\0' : text_lists(controllers + 1, "perf_event"))
            rc = 0;
        if (rc == 0)
            strcpy(path, strcmp(at + 1, "/") == 0 ? "" : at + 1);
    }
    free(text);
    return rc;
}

/* Cut the path of a task down to Slurm's cgroup of its step: .../step_S, or the `user` in it,
 * which slurmstepd is not in. False where there is none. */
static bool find_slurms(const struct perf_hierarchy *hierarchy, const struct rootfs *root,
                        struct wire_step_id id, const char *path, char dir[PERF_CGROUP_MAX])
{
    const char *end = step_cgroup_find(path, id);
    size_t length;

    if (!end)
        return false;
    length = strlen(hierarchy->mount) + (size_t)(end - path);
    if (length + sizeof("/user") > PERF_CGROUP_MAX)
        return false;
    sprintf(dir, "%s%.*s/user", hierarchy->mount, (int)(end - path), path);
    if (!rootfs_exists(root, dir))
        dir[length] = '\0';
    return true;
}

static int own_dir(const struct perf_hierarchy *hierarchy, const char *tree, struct wire_step_id id,
                   char dir[PERF_CGROUP_MAX])
{
    char name[WIRE_STEP_NAME_MAX];

    wire_step_name(id, name);
    return snprintf(dir, PERF_CGROUP_MAX, "%s/%s/%s", hierarchy->mount, tree, name);
}

/* ---- moving ---- */

/* Moves a process into a cgroup of this hierarchy, which confines nobody: 1, 0 where it has
 * vanished, or -1 and err. */
static int move_pid(const struct rootfs *root, pid_t pid, const char *dir, struct berth_error *err)
{
    char path[PERF_CGROUP_MAX + 16], text[16];

    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    snprintf(text, sizeof(text), "%d", (int)pid);
    if (rootfs_write(root, path, text, err) == 0)
        return 1;
    return errno == ESRCH ? 0 : -1;
}

/* Processes that are moved in one go, each of which takes some 50 us: with more, a step that has no
 * cgroup of Slurm's is not counted here. */
#define MOVES_MAX 512

static int too_many(size_t n, const char *dir, struct berth_error *err)
{
    return berth_error_set(err, "%zu processes are too many to be moved to %s", n, dir);
}

/* One round. How many were elsewhere; -1 and err. */
static long gather_once(const struct rootfs *root, struct enforce *enforce,
                        const struct enforce_step *step, const char *dir, struct berth_error *err)
{
    struct enforce_pids here = {0};
    size_t n = 0;
    long moved = 0;
    pid_t *pid = NULL;

    enforce_pids_cgroup(root, NULL, dir, &here);
    if (enforce_step_pids(enforce, step, &pid, &n) < 0)
        moved = berth_error_set(err, "cannot list the step's processes: %s", strerror(errno));
    else if (n > MOVES_MAX)
        moved = too_many(n, dir, err);
    for (size_t i = 0; moved >= 0 && i < n; i++) {
        if (enforce_pids_have(&here, pid[i]) || enforce_exiting(root, pid[i]))
            continue;
        moved = move_pid(root, pid[i], dir, err) < 0 ? -1 : moved + 1;
    }
    free(here.pid);
    free(pid);
    return moved;
}

static int gather(struct enforce *enforce, const struct enforce_step *step, const char *dir,
                  struct berth_error *err)
{
    long moved = 1;

    for (int round = 0; moved > 0 && round < ENFORCE_ROUNDS; round++)
        moved = gather_once(enforce->root, enforce, step, dir, err);
    if (moved > 0)
        return berth_error_set(err, "%s: processes appear faster than they can be moved there",
                               dir);
    return moved < 0 ? -1 : 0;
}

/* Empty and remove a cgroup of berth's. False while it is busy, or has more processes than are
 * moved in one go. */
static bool remove_own(const struct rootfs *root, const char *dir, const char *origin,
                       const char *mount)
{
    size_t left = 1, moves = 0;

    for (int round = 0; left > 0 && moves < MOVES_MAX && round < ENFORCE_ROUNDS; round++) {
        struct enforce_pids list = {0};

        enforce_pids_cgroup(root, NULL, dir, &list);
        left = list.n;
        for (size_t i = 0; i < list.n && moves < MOVES_MAX; i++, moves++)
            if (move_pid(root, list.pid[i], origin, NULL) < 0)
                move_pid(root, list.pid[i], mount, NULL);
        free(list.pid);
    }
    return rootfs_rmdir(root, dir, NULL) == 0;
}

/* ---- steps ---- */

static int make_own(struct perf_cgroup *cgroup, const struct perf_hierarchy *hierarchy,
                    struct enforce *enforce, const struct enforce_step *step,
                    struct berth_error *err)
{
    const struct rootfs *root = enforce->root;
    char tree[PERF_CGROUP_MAX];

    tree_dir(hierarchy, enforce, tree);
    if (rootfs_mkdir(root, tree, err) < 0 || rootfs_mkdir(root, cgroup->dir, err) < 0)
        return -1;
    cgroup->own = true;
    if (gather(enforce, step, cgroup->dir, err) == 0)
        return 0;
    perf_cgroup_leave(cgroup, hierarchy, root);
    return -1;
}

int perf_cgroup_enter(struct perf_cgroup *cgroup, const struct perf_hierarchy *hierarchy,
                      struct enforce *enforce, const struct enforce_step *step, size_t processes,
                      struct berth_error *err)
{
    const struct rootfs *root = enforce->root;
    struct perf_cgroup found = {.dir = ""};
    char path[PERF_CGROUP_MAX] = "";

    for (size_t i = 0; i < step->ntasks; i++) /* a task may have gone */
        if (enforce_is_task(root, &step->task[i]) &&
            path_of(hierarchy, root, step->task[i].pid, path) == 0)
            break;
    *cgroup = found;
    if (find_slurms(hierarchy, root, step->id, path, cgroup->dir))
        return 0;
    if (own_dir(hierarchy, enforce->tree, step->id, cgroup->dir) >= PERF_CGROUP_MAX ||
        snprintf(cgroup->origin, PERF_CGROUP_MAX, "%s%s", hierarchy->mount, path) >=
            PERF_CGROUP_MAX)
        return berth_error_set(err, "%.64s...: the path is too long", hierarchy->mount);
    if (strcmp(cgroup->origin, cgroup->dir) == 0) /* of a berthd before this one */
        strcpy(cgroup->origin, hierarchy->mount);
    if (processes > MOVES_MAX)
        return too_many(processes, cgroup->dir, err);
    return make_own(cgroup, hierarchy, enforce, step, err);
}

bool perf_cgroup_leave(const struct perf_cgroup *cgroup, const struct perf_hierarchy *hierarchy,
                       const struct rootfs *root)
{
    return !cgroup->own || remove_own(root, cgroup->dir, cgroup->origin, hierarchy->mount);
}

bool perf_cgroup_remove(const struct perf_hierarchy *hierarchy, const struct enforce *enforce,
                        struct wire_step_id id)
{
    char dir[PERF_CGROUP_MAX];

    return own_dir(hierarchy, enforce->tree, id, dir) >= PERF_CGROUP_MAX ||
           remove_own(enforce->root, dir, hierarchy->mount, hierarchy->mount);
}

void perf_cgroup_sweep(const struct perf_hierarchy *hierarchy, const struct enforce *enforce,
                       const struct wire_step_id *known, size_t n)
{
    char tree[PERF_CGROUP_MAX], **name;
    struct wire_step_id id;

    tree_dir(hierarchy, enforce, tree);
    name = rootfs_list(enforce->root, tree);
    for (size_t i = 0; name && name[i]; i++)
        if (wire_step_parse(name[i], &id) == 0 && !enforce_step_known(id, known, n))
            perf_cgroup_remove(hierarchy, enforce, id);
    rootfs_list_free(name);
    rootfs_rmdir(enforce->root, tree, NULL); /* stays while a known step stands in it */
}
