/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enforce - see enforce.h: choosing a way, and what is the same in all of them. */
#include "enforce.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct enforce_way *const ways[] = {&enforce_cgroup2, &enforce_cgroup1,
                                                 &enforce_dryrun};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* The first usable way that changes anything. NULL and err with each one's reason. */
static const struct enforce_way *choose(const struct rootfs *root, const char *cgroup_root,
                                        struct berth_error *err)
{
    struct berth_error why[WAYS] = {{""}};

    for (size_t i = 0; i < WAYS; i++)
        if (ways[i] != &enforce_dryrun && ways[i]->probe(root, cgroup_root, &why[i]) == 1)
            return ways[i];
    berth_error_set(err, "no way to enforce a placement: %s: %.200s; %s: %.200s", ways[0]->name,
                    why[0].text, ways[1]->name, why[1].text);
    return NULL;
}

/* The way of that name, if it is usable. NULL and err. */
static const struct enforce_way *named(const char *name, const struct rootfs *root,
                                       const char *cgroup_root, struct berth_error *err)
{
    struct berth_error why = {""};

    for (size_t i = 0; i < WAYS; i++) {
        if (strcmp(ways[i]->name, name) != 0)
            continue;
        if (ways[i]->probe(root, cgroup_root, &why) == 1)
            return ways[i];
        berth_error_set(err, "%s: %.400s", name, why.text);
        return NULL;
    }
    berth_error_set(err, "%s: no such way to enforce; there are auto, cgroup1, cgroup2, dryrun",
                    name);
    return NULL;
}

int enforce_open(struct enforce *enforce, const struct rootfs *root, const char *cgroup_root,
                 const char *name, struct berth_error *err)
{
    const struct enforce_way *way;

    if (strlen(cgroup_root) >= sizeof(enforce->cgroup_root))
        return berth_error_set(err, "%.64s...: the path is too long", cgroup_root);
    way = !name || strcmp(name, "auto") == 0 ? choose(root, cgroup_root, err)
                                             : named(name, root, cgroup_root, err);
    if (!way)
        return -1;
    *enforce = (struct enforce){.way = way, .root = root, .tree = "berth"};
    strcpy(enforce->cgroup_root, cgroup_root);
    return 0;
}

int enforce_step_pids(struct enforce *enforce, const struct enforce_step *step, pid_t **pids,
                      size_t *n)
{
    struct enforce_pids list = {0};

    if (enforce->way->pids(enforce, step, &list) < 0) {
        free(list.pid);
        return -1;
    }
    *pids = list.pid;
    *n = list.n;
    return 0;
}

bool enforce_step_alive(struct enforce *enforce, const struct enforce_step *step)
{
    struct enforce_pids list = {0};
    bool alive = enforce->way->pids(enforce, step, &list) < 0 || list.n > 0;

    free(list.pid);
    return alive;
}

int enforce_read_cpus(const struct rootfs *root, const char *dir, const char *file,
                      struct cpus *cpus, struct berth_error *err)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    return rootfs_read_cpus(root, path, cpus, err);
}

int enforce_check_cpus(const struct rootfs *root, const char *dir, const char *file,
                       const struct cpus *cpus, struct berth_error *err)
{
    char text[CPUS_TEXT_MAX] = "?", want[CPUS_TEXT_MAX] = "?";
    struct cpus now;

    if (enforce_read_cpus(root, dir, file, &now, err) < 0)
        return -1;
    if (cpus_equal(&now, cpus))
        return 0;
    cpus_format(&now, text, sizeof(text));
    cpus_format(cpus, want, sizeof(want));
    errno = EIO;
    return berth_error_set(err, "%.300s/%s: is '%.64s', not '%.64s'", dir, file, text, want);
}

int enforce_write_cpus(const struct rootfs *root, const char *dir, const char *file,
                       const struct cpus *cpus, struct berth_error *err)
{
    char path[PATH_MAX];

    if (enforce_check_cpus(root, dir, file, cpus, NULL) == 0)
        return 0;
    snprintf(path, sizeof(path), "%s/%s", dir, file);
    if (rootfs_write_cpus(root, path, cpus, err) < 0)
        return -1;
    return enforce_check_cpus(root, dir, file, cpus, err);
}

int enforce_each_dir(struct enforce *enforce, const char *dir, const char *prefix,
                     int (*visit)(struct enforce *enforce, const char *path, void *arg), void *arg)
{
    char **name = rootfs_list(enforce->root, dir), path[ENFORCE_DIR_MAX];
    int rc = 0;

    for (size_t i = 0; rc == 0 && name && name[i]; i++)
        if (strncmp(name[i], prefix, strlen(prefix)) == 0 &&
            (size_t)snprintf(path, sizeof(path), "%s/%s", dir, name[i]) < sizeof(path))
            rc = visit(enforce, path, arg);
    rootfs_list_free(name);
    return rc;
}

struct pids_of {
    const struct enforce_step *step;
    struct enforce_pids *list;
};

static int add_pids(struct enforce *enforce, const char *dir, void *arg)
{
    struct pids_of *of = arg;

    return enforce_pids_cgroup(enforce, of->step, dir, of->list);
}

int enforce_pids_leaf(struct enforce *enforce, const struct enforce_step *step, const char *dir,
                      struct enforce_pids *list)
{
    struct pids_of of = {.step = step, .list = list};

    if (add_pids(enforce, dir, &of) < 0)
        return -1;
    return enforce_each_dir(enforce, dir, "task_", add_pids, &of);
}
