/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_folders - see slurm_folders.h */
#include "packer/slurm/slurm_folders.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/slurm/step_cgroup.h"
#include "packer/system/process.h"

#define SCOPE "slurmstepd.scope"
#define SCOPES_MAX 8    /* that are remembered */
#define SLICES_MAX 8    /* below each other */
#define LOOK_AGAIN_S 10 /* for scopes: slurmd may have been started in another slice */
#define SLUID_MAX 16

struct named {
    char sluid[SLUID_MAX];
    uint32_t job;
    bool seen; /* in this walk over all folders */
};

struct slurm_folders {
    size_t nscopes, n, room;
    char scope[SCOPES_MAX][CGROUP_DIR_MAX];
    bool told[SCOPES_MAX]; /* a step of this node was found there: its name does not matter */
    double looked_s;       /* for scopes, last; 0: never */
    struct named *job;     /* [n] */
};

struct slurm_folders *slurm_folders_new(void)
{
    return calloc(1, sizeof(struct slurm_folders));
}

void slurm_folders_free(struct slurm_folders *folders)
{
    if (!folders)
        return;
    free(folders->job);
    free(folders);
}

/* The last part of a path. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int slurm_each_dir(struct slurm_cgroups slurm, const char *dir, const char *prefix,
                   slurm_visit_dir *visit, void *arg)
{
    char **name = rootfs_list_folders(slurm.root, dir), path[CGROUP_DIR_MAX];
    int rc = 0;

    for (size_t i = 0; rc == 0 && name && name[i]; i++)
        if (strncmp(name[i], prefix, strlen(prefix)) == 0 &&
            (size_t)snprintf(path, sizeof(path), "%s/%s", dir, name[i]) < sizeof(path))
            rc = visit(slurm, path, arg);
    rootfs_list_free(name);
    return rc;
}

char *slurm_read_procs(struct slurm_cgroups slurm, const char *dir)
{
    char path[CGROUP_DIR_MAX + 32];

    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    return rootfs_read(slurm.root, path);
}

/* ---- scopes ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), of_end = strlen(end);

    return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

/* Is the scope the node's (NULL: any node's)? */
static bool is_scope(const char *path, const char *node)
{
    const char *name = name_of(path);
    size_t length = node ? strlen(node) : 0;

    if (!node)
        return ends_with(name, SCOPE);
    return strcmp(name, SCOPE) == 0 ||
           (strncmp(name, node, length) == 0 && strcmp(name + length, "_" SCOPE) == 0);
}

static long find_scope(const struct slurm_folders *folders, const char *path)
{
    for (size_t i = 0; i < folders->nscopes; i++)
        if (strcmp(folders->scope[i], path) == 0)
            return (long)i;
    return -1;
}

static long add_scope(struct slurm_folders *folders, const char *path)
{
    long at = find_scope(folders, path);

    if (at >= 0 || folders->nscopes == SCOPES_MAX)
        return at;
    at = (long)folders->nscopes++;
    snprintf(folders->scope[at], sizeof(folders->scope[at]), "%s", path);
    folders->told[at] = false;
    return at;
}

struct walk {
    struct slurm_folders *folders;
    size_t depth;
};

/* Looks for scopes in a slice, and in those below it. */
static int walk_slice(struct slurm_cgroups slurm, const char *path, void *arg)
{
    struct walk *walk = arg;

    if (ends_with(path, SCOPE))
        add_scope(walk->folders, path);
    if (!ends_with(path, ".slice") || walk->depth == SLICES_MAX)
        return 0;
    walk->depth++;
    slurm_each_dir(slurm, path, "", walk_slice, arg);
    walk->depth--;
    return 0;
}

/* Finds all scopes of the host anew; those that are gone are forgotten. */
static void look_for_scopes(struct slurm_cgroups slurm, struct slurm_folders *folders)
{
    struct walk walk = {.folders = folders};

    for (size_t i = folders->nscopes; i-- > 0;)
        if (!rootfs_exists(slurm.root, folders->scope[i])) {
            folders->nscopes--;
            memmove(folders->scope[i], folders->scope[folders->nscopes], CGROUP_DIR_MAX);
            folders->told[i] = folders->told[folders->nscopes];
        }
    slurm_each_dir(slurm, slurm.top, "", walk_slice, &walk);
    folders->looked_s = clock_s();
}

/* ---- whose folder it is ---- */

static struct named *find_named(const struct slurm_folders *folders, const char *sluid)
{
    for (size_t i = 0; folders && i < folders->n; i++)
        if (strcmp(folders->job[i].sluid, sluid) == 0)
            return &folders->job[i];
    return NULL;
}

static void remember(struct slurm_folders *folders, const char *sluid, uint32_t job)
{
    struct named *named = find_named(folders, sluid);

    if (!folders || (!named && array_grow(&folders->job, &folders->room, folders->n + 1,
                                          sizeof(*folders->job)) < 0))
        return;
    if (!named) {
        named = &folders->job[folders->n++];
        snprintf(named->sluid, sizeof(named->sluid), "%s", sluid);
    }
    named->job = job;
    named->seen = true;
}

/* Forgets the jobs whose folders were not seen since the last time. */
static void forget_unseen(struct slurm_folders *folders)
{
    size_t kept = 0;

    for (size_t i = 0; i < folders->n; i++)
        if (folders->job[i].seen) {
            folders->job[i].seen = false;
            folders->job[kept++] = folders->job[i];
        }
    folders->n = kept;
}

void slurm_folders_learn(struct slurm_cgroups slurm, const char *dir, uint32_t job)
{
    struct slurm_folders *folders = slurm.folders;
    char scope[CGROUP_DIR_MAX];
    long at;

    if (!folders || (size_t)snprintf(scope, sizeof(scope), "%s", dir) >= sizeof(scope) ||
        !strrchr(scope, '/'))
        return;
    *strrchr(scope, '/') = '\0';
    at = add_scope(folders, scope);
    if (at >= 0)
        folders->told[at] = true;
    if (step_cgroup_is_sluid(name_of(dir)))
        remember(folders, name_of(dir), job);
}

/* Reads a number that is a job's; 0: it is none. */
static uint32_t read_number(const char *text, char end)
{
    unsigned long number;
    char *rest;

    errno = 0;
    number = strtoul(text, &rest, 10);
    if (errno || rest == text || *rest != end || number > UINT32_MAX || text[0] == '-')
        return 0;
    return (uint32_t)number;
}

/* Returns the title of a process behind "slurmstepd: [", which the caller frees, where it is root's
 * and has such a one; else NULL. */
static char *read_title(const struct rootfs *root, pid_t pid)
{
    static const char title[] = "slurmstepd: [";
    char path[64], *text;

    if (process_uid(root, pid) != 0) /* a user's process can keep its readers waiting for ever */
        return NULL;
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    text = rootfs_read(root, path);
    if (text && strncmp(text, title, strlen(title)) == 0) {
        memmove(text, text + strlen(title), strlen(text + strlen(title)) + 1);
        return text;
    }
    free(text);
    return NULL;
}

/* The title is "[JOB.STEP]", with "+N" for a part of a heterogeneous step, or with other words
 * behind a blank. */
bool slurm_folders_stepd(const struct rootfs *root, pid_t pid, struct wire_step_id id)
{
    char name[WIRE_STEP_NAME_MAX], *title = read_title(root, pid);
    bool is;

    wire_step_name(id, name);
    is = title && strncmp(title, name, strlen(name)) == 0 && title[strlen(name)] &&
         strchr("] +", title[strlen(name)]);
    free(title);
    return is;
}

/* Asks the slurmstepd of one of the job's steps. Returns whether it has told. */
static int ask_step(struct slurm_cgroups slurm, const char *step, void *arg)
{
    char dir[CGROUP_DIR_MAX + 8], *text, *at, *end;
    uint32_t *job = arg;

    snprintf(dir, sizeof(dir), "%s/slurm", step);
    at = text = slurm_read_procs(slurm, dir);
    for (long pid; at && *job == 0 && (pid = strtol(at, &end, 10)) > 0 && pid <= INT_MAX;
         at = end) {
        char *title = read_title(slurm.root, (pid_t)pid);

        *job = title ? read_number(title, '.') : 0;
        free(title);
    }
    free(text);
    return *job != 0;
}

/* FNV-1a: one SLUID, one number. */
static uint32_t unknown_number(const char *sluid)
{
    uint32_t hash = UINT32_C(2166136261);

    for (; *sluid; sluid++)
        hash = (hash ^ (unsigned char)*sluid) * UINT32_C(16777619);
    return hash | SLURM_FOLDERS_UNKNOWN;
}

uint32_t slurm_folders_job(struct slurm_cgroups slurm, const char *dir)
{
    const char *name = name_of(dir);
    struct named *named;
    uint32_t job = 0;

    if (strncmp(name, "job_", 4) == 0)
        return read_number(name + 4, '\0');
    if (!step_cgroup_is_sluid(name))
        return 0;
    named = find_named(slurm.folders, name);
    if (named) {
        named->seen = true;
        return named->job;
    }
    slurm_each_dir(slurm, dir, "step_", ask_step, &job);
    if (job)
        remember(slurm.folders, name, job);
    return job ? job : unknown_number(name);
}

/* ---- all folders ---- */

struct visiting {
    slurm_visit_dir *visit;
    void *arg;
};

static int visit_job(struct slurm_cgroups slurm, const char *path, void *arg)
{
    const struct visiting *visiting = arg;
    const char *name = name_of(path);
    struct named *named = find_named(slurm.folders, name);

    if (named)
        named->seen = true;
    return strncmp(name, "job_", 4) == 0 || step_cgroup_is_sluid(name)
               ? visiting->visit(slurm, path, visiting->arg)
               : 0;
}

int slurm_folders_each(struct slurm_cgroups slurm, const char *node, size_t *scopes,
                       slurm_visit_dir *visit, void *arg)
{
    struct slurm_folders once = {.looked_s = 0}, *folders = slurm.folders ? slurm.folders : &once;
    struct visiting visiting = {visit, arg};
    size_t seen = 0;
    int rc = 0;

    if (folders->looked_s == 0 || clock_s() - folders->looked_s >= LOOK_AGAIN_S)
        look_for_scopes(slurm, folders);
    for (size_t i = 0; rc == 0 && i < folders->nscopes; i++)
        if (folders->told[i] || is_scope(folders->scope[i], node)) {
            rc = slurm_each_dir(slurm, folders->scope[i], "", visit_job, &visiting);
            seen++;
        }
    if (scopes)
        *scopes = seen;
    if (rc == 0)
        forget_unseen(folders);
    return rc;
}
