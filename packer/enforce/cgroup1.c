/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enforce_cgroup1 - placements on nodes where Slurm uses cgroup/v1's cpuset hierarchy.
 *
 * Slurm's tree is slurm_NODE/uid_U/job_J/step_S (the leaf; Slurm 24.11 has task_N below it), and
 * slurmstepd sits in the leaf too. Each new step of a job makes Slurm write the job's cpuset again;
 * were a running step outside it then, that write would fail with EBUSY, and every later step of
 * the job with it. Therefore
 *   - a step that stands inside its job's CPUs stands in Slurm's leaf, whose cpuset.cpus is
 * narrowed, or widened within the job's where the step is `wide`;
 *   - one that stands outside them stands in berth's own tree, berth/J.S, and Slurm's leaf, with
 * slurmstepd, is as Slurm made it; the freezer, which Slurm tracks processes by, is another
 * hierarchy and knows nothing of it;
 *   - a job's cpuset is never written.
 * Without Slurm's cpusets (ConstrainCores=no) every step stands in berth's tree. A task that forks
 * while it is moved leaves children behind, which inherit where their parent was: each move is
 * repeated until nobody is left. Before a step leaves berth's tree, its cpuset there gets the CPUs
 * that the step goes to: one write takes all off the core that they have to vacate, and what they
 * fork from then on. */
#include "packer/enforce/enforce.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/enforce/leaf_mark.h"
#include "packer/enforce/list.h"
#include "packer/system/process_look.h"

/* ---- where things are ---- */

/* Slurm's leaf of the step, or the root of the hierarchy where there is none. */
static void leaf_dir(const struct enforce *enforce, const struct enforce_step *step, char *dir)
{
    snprintf(dir, CGROUP_DIR_MAX, "%s/cpuset%s%s", enforce->cgroup_root, step->leaf[0] ? "/" : "",
             step->leaf);
}

/* berth's own cgroup of the step. */
static void own_dir(const struct enforce *enforce, struct wire_step_id id, char *dir)
{
    char name[WIRE_STEP_NAME_MAX];

    wire_step_name(id, name);
    snprintf(dir, CGROUP_DIR_MAX, "%s/cpuset/%s/%s", enforce->cgroup_root, enforce->tree, name);
}

/* Add the processes that are in berth's cgroup of the step. */
static int own_pids(struct enforce *enforce, const struct enforce_step *step,
                    struct enforce_pids *list)
{
    char own[CGROUP_DIR_MAX];

    own_dir(enforce, step->id, own);
    return enforce_pids_cgroup(enforce->root, NULL, own, list); /* slurmstepd is never in it */
}

/* Add the step's processes that Slurm does not confine and berth has not moved. */
static int unconfined_pids(struct enforce *enforce, const struct enforce_step *step,
                           struct enforce_pids *list)
{
    struct enforce_pids all = {0}, own = {0};
    int rc = -1;

    if (enforce_pids_descend(enforce, step, &all) == 0 && own_pids(enforce, step, &own) == 0)
        rc = 0;
    enforce_pids_sort(&own);
    for (size_t i = 0; rc == 0 && i < all.n; i++)
        if (!enforce_pids_sorted_have(&own, all.pid[i]))
            rc = enforce_pids_add(list, all.pid[i]);
    free(all.pid);
    free(own.pid);
    return rc;
}

/* Add the processes that are in Slurm's leaf. */
static int leaf_pids(struct enforce *enforce, const struct enforce_step *step,
                     struct enforce_pids *list)
{
    char leaf[CGROUP_DIR_MAX];

    if (!step->leaf[0])
        return unconfined_pids(enforce, step, list);
    leaf_dir(enforce, step, leaf);
    return enforce_pids_leaf(enforce, step, leaf, list);
}

static int cgroup1_pids(struct enforce *enforce, const struct enforce_step *step,
                        struct enforce_pids *list)
{
    if (own_pids(enforce, step, list) < 0)
        return -1;
    list->own = list->n;
    return leaf_pids(enforce, step, list);
}

/* ---- finding a step ---- */

static int cgroup1_probe(const struct rootfs *root, const char *cgroup_root,
                         struct berth_error *err)
{
    char path[CGROUP_DIR_MAX];

    snprintf(path, sizeof(path), "%s/cpuset/cpuset.cpus", cgroup_root);
    return enforce_probe_file(root, path, err);
}

/* Finds Slurm's folder of the step in the hierarchy of a controller. Slurm names its tree by the
 * node where several slurmd may run on one host (as Debian builds it), else not. 0, or -1 and "".
 */
static int find_folder(struct enforce *enforce, const char *node, const struct enforce_step *step,
                       const char *controller, char folder[ENFORCE_LEAF_MAX])
{
    char top[2][80], name[STEP_CGROUP_NAME_MAX], dir[CGROUP_DIR_MAX];

    step_cgroup_name(step->id, name);
    snprintf(top[0], sizeof(top[0]), "slurm_%s", node);
    snprintf(top[1], sizeof(top[1]), "slurm");
    for (size_t i = 0; i < 2; i++) {
        snprintf(folder, ENFORCE_LEAF_MAX, "%s/uid_%u/%s", top[i], step->uid, name);
        snprintf(dir, sizeof(dir), "%s/%s/%s", enforce->cgroup_root, controller, folder);
        if (rootfs_exists(enforce->root, dir))
            return 0;
    }
    folder[0] = '\0';
    return -1;
}

/* Is the process in no cpuset but the root? 0, or -1 and err: then this step's leaf has another
 * name, and a task taken out of it could not be brought back. */
static int check_in_root(struct enforce *enforce, pid_t pid, struct berth_error *err)
{
    char path[64], *text, *at;
    int rc = 0;

    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    text = rootfs_read(enforce->root, path);
    if (!text) /* it has gone, or the number is none of this namespace */
        return 0;
    at = strstr(text, ":cpuset:");
    at = at ? at + strlen(":cpuset:") : text;
    at[strcspn(at, "\n")] = '\0';
    if (strcmp(at, "/") != 0)
        rc = berth_error_set(
            err, "task %d: is in cpuset %.200s, which is not where its step is looked for",
            (int)pid, at);
    free(text);
    return rc;
}

/* Adds the processes of the step as another controller's hierarchy has them: Slurm tracks them by
 * the freezer, or accounts for them. 1; 0: it has none; -1 with errno. */
static int tracked_pids(struct enforce *enforce, const char *node, const struct enforce_step *step,
                        struct enforce_pids *list)
{
    static const char *const controller[] = {"freezer", "cpuacct", "memory", "devices"};
    char folder[ENFORCE_LEAF_MAX], dir[CGROUP_DIR_MAX];

    for (size_t i = 0; i < sizeof(controller) / sizeof(controller[0]); i++) {
        if (find_folder(enforce, node, step, controller[i], folder) < 0)
            continue;
        snprintf(dir, sizeof(dir), "%s/%s/%s", enforce->cgroup_root, controller[i], folder);
        return enforce_pids_leaf(enforce, step, dir, list) < 0 ? -1 : 1;
    }
    return 0;
}

/* Adds the registered processes whose parent is the step's slurmstepd: where Slurm has no cgroup at
 * all, nothing else tells. */
static int children_of_stepd(struct enforce *enforce, const struct enforce_step *step,
                             struct enforce_pids *list)
{
    struct process_look look;

    for (size_t i = 0; i < step->ntasks; i++)
        if (process_look(enforce->root, step->task[i].pid, &look) == 0 &&
            slurm_folders_stepd(enforce->root, look.parent, step->id) &&
            enforce_pids_add(list, step->task[i].pid) < 0)
            return -1;
    return 0;
}

/* Finds the tasks of a step that is in no cpuset. 0, or -1 and err. */
static int find_unconfined(struct enforce *enforce, const char *node, struct enforce_step *step,
                           struct berth_error *err)
{
    struct enforce_pids list = {0};
    int rc = tracked_pids(enforce, node, step, &list);

    if (rc == 0)
        rc = children_of_stepd(enforce, step, &list);
    if (rc < 0)
        berth_error_set(err, "cannot list the step's processes: %s", strerror(errno));
    else
        rc = enforce_tell_tasks(enforce, step, &list, err);
    free(list.pid);
    return rc;
}

static int locate_unconfined(struct enforce *enforce, const char *node, struct enforce_step *step,
                             struct berth_error *err)
{
    char top[CGROUP_DIR_MAX];

    leaf_dir(enforce, step, top);
    if (find_unconfined(enforce, node, step, err) < 0) {
        check_in_root(enforce, step->task[0].pid, err); /* says it better */
        return -1;
    }
    if (check_in_root(enforce, step->task[0].pid, err) < 0 ||
        enforce_read_cpus(enforce->root, top, "cpuset.mems", &step->mems_home, err) < 0)
        return -1;
    return enforce_read_unconfined(enforce, step, err);
}

static int cgroup1_locate(struct enforce *enforce, const char *node, struct enforce_step *step,
                          struct berth_error *err)
{
    char leaf[CGROUP_DIR_MAX], job[CGROUP_DIR_MAX];

    if (step->ntasks == 0)
        return berth_error_set(err, "the step has no tasks");
    if (find_folder(enforce, node, step, "cpuset", step->leaf) < 0)
        return locate_unconfined(enforce, node, step, err);
    if (enforce_find_tasks(enforce, step, err) < 0)
        return -1;
    leaf_dir(enforce, step, leaf);
    strcpy(job, leaf);
    *strrchr(job, '/') = '\0';
    if (enforce_read_cpus(enforce->root, job, "cpuset.cpus", &step->job_home, err) < 0 ||
        enforce_read_cpus(enforce->root, leaf, "cpuset.cpus", &step->step_home, err) < 0 ||
        enforce_read_cpus(enforce->root, leaf, "cpuset.mems", &step->mems_home, err) < 0)
        return -1;
    return enforce_read_homes(step, &step->step_home, err);
}

/* ---- moving ---- */

/* Tells whether a process that was found in two listings can only be dying: of such a one the
 * kernel moves nothing. One that was found once may have been replaced by its child meanwhile. */
static bool is_dying(struct enforce *enforce, const struct enforce_pids *before, pid_t pid)
{
    for (size_t i = 0; i < before->n; i++)
        if (before->pid[i] == pid)
            return enforce_exiting(enforce->root, pid);
    return false;
}

/* Nobody of a step is moved of which one may not be. 0, or -1 and err. */
static int may_move_all(const struct enforce *enforce, const struct enforce_pids *list,
                        struct berth_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < list->n; i++)
        rc = enforce_may_move(enforce, list->pid[i], err);
    return rc;
}

/* As many as one message has, from `from` on. 0, or -1 and err. */
static int move_some(struct enforce *enforce, const struct enforce_step *step,
                     const struct enforce_pids *list, size_t from, enum hand_place to,
                     struct berth_error *err)
{
    size_t n = list->n - from < HAND_THREADS_MAX ? list->n - from : HAND_THREADS_MAX;

    return hand_ask_move(enforce->hand, step->id, to, list->pid + from, n, err) < 0 ? -1 : 0;
}

/* Moves whom `list` finds to that place, again and again (so many rounds at most) until nobody is
 * left but who is dying. Returns 0; 1 and err when processes appear faster than they can be moved;
 * or -1 and err. */
static int drain(struct enforce *enforce, const struct enforce_step *step,
                 int (*list)(struct enforce *, const struct enforce_step *, struct enforce_pids *),
                 enum hand_place to, int rounds, struct berth_error *err)
{
    struct enforce_pids found = {0}, before = {0};
    size_t alive = 1;
    int rc = 0;

    for (int round = 0; rc == 0 && alive > 0 && round < rounds; round++) {
        struct enforce_pids last = before;

        before = found;
        found = last;
        found.n = alive = 0;
        if (list(enforce, step, &found) < 0)
            rc = berth_error_set(err, "cannot list the step's processes: %s", strerror(errno));
        if (rc == 0)
            rc = may_move_all(enforce, &found, err);
        for (size_t i = 0; rc == 0 && i < found.n; i += HAND_THREADS_MAX)
            rc = move_some(enforce, step, &found, i, to, err);
        for (size_t i = 0; rc == 0 && i < found.n; i++)
            alive += !is_dying(enforce, &before, found.pid[i]);
    }
    free(found.pid);
    free(before.pid);
    if (rc == 0 && alive > 0) {
        berth_error_set(err, "%s: processes appear faster than they can be moved there",
                        to == HAND_OWN ? "berth's own cpuset" : "Slurm's cpuset");
        return 1;
    }
    return rc;
}

struct writing {
    struct wire_step_id id;
    const struct cpus *cpus;
    struct berth_error *err;
};

static int write_task_dir(struct enforce *enforce, const char *dir, void *arg)
{
    const struct writing *writing = arg;
    const struct enforce_list list = {writing->id, HAND_TASK, false};

    return enforce_write_list(enforce, &list, dir, writing->cpus, writing->err);
}

/* Write the CPUs of Slurm's leaf and what is below it: a parent is never smaller than its children.
 */
static int set_leaf(struct enforce *enforce, const struct enforce_step *step,
                    const struct cpus *want, struct berth_error *err)
{
    struct writing writing = {.id = step->id, .cpus = want, .err = err};
    const struct enforce_list list = {step->id, HAND_LEAF, false};
    char leaf[CGROUP_DIR_MAX];
    struct cpus both;

    leaf_dir(enforce, step, leaf);
    if (enforce_read_cpus(enforce->root, leaf, "cpuset.cpus", &both, err) < 0)
        return -1;
    cpus_or(&both, want);
    return enforce_write_list(enforce, &list, leaf, &both, err) < 0 ||
                   enforce_each_dir(enforce, leaf, "task_", write_task_dir, &writing) < 0
               ? -1
               : enforce_write_list(enforce, &list, leaf, want, err);
}

/* Gives Slurm's leaf back what Slurm gave it. */
static int clear_leaf(struct enforce *enforce, const struct enforce_step *step,
                      struct berth_error *err)
{
    if (set_leaf(enforce, step, &step->step_home, err) < 0)
        return -1;
    hand_ask_mark(enforce->hand, step->id, NULL);
    return 0;
}

/* Notes on Slurm's leaf that the step stands in it, and not at home. */
static void mark_leaf(struct enforce *enforce, const struct enforce_step *step)
{
    hand_ask_mark(enforce->hand, step->id, enforce_at_home(step) ? NULL : &step->step_home);
}

/* Make berth's cgroup of the step. The memory nodes stay the step's: pages are where they were. */
static int make_own(struct enforce *enforce, const struct enforce_step *step,
                    const struct cpus *want, struct berth_error *err)
{
    const struct enforce_list tree_list[] = {{step->id, HAND_TREE, false},
                                             {step->id, HAND_TREE, true}},
                              own_list[] = {{step->id, HAND_OWN, false},
                                            {step->id, HAND_OWN, true}};
    char top[CGROUP_DIR_MAX], tree[CGROUP_DIR_MAX], own[CGROUP_DIR_MAX];
    struct cpus cpus, mems;

    snprintf(top, sizeof(top), "%s/cpuset", enforce->cgroup_root);
    snprintf(tree, sizeof(tree), "%s/cpuset/%s", enforce->cgroup_root, enforce->tree);
    own_dir(enforce, step->id, own);
    if (enforce_read_cpus(enforce->root, top, "cpuset.cpus", &cpus, err) < 0 ||
        enforce_read_cpus(enforce->root, top, "cpuset.mems", &mems, err) < 0)
        return -1;
    if (hand_ask_folder(enforce->hand, step->id, HAND_TREE, true, err) < 0 ||
        enforce_write_list(enforce, &tree_list[0], tree, &cpus, err) < 0 ||
        enforce_write_list(enforce, &tree_list[1], tree, &mems, err) < 0)
        return -1;
    if (hand_ask_folder(enforce->hand, step->id, HAND_OWN, true, err) < 0 ||
        enforce_write_list(enforce, &own_list[1], own, &step->mems_home, err) < 0)
        return -1;
    return enforce_write_list(enforce, &own_list[0], own, want, err);
}

/* Remove berth's cgroup. One that is busy only because its last process is still exiting is left to
 * clean(). */
static int remove_own(struct enforce *enforce, struct wire_step_id id, enum hand_place place,
                      struct berth_error *err)
{
    if (hand_ask_folder(enforce->hand, id, place, false, err) == 0 || errno == EBUSY)
        return 0;
    return -1;
}

/* Lets berth's cgroup of the step, where there is one, have the CPUs that the step goes to: nobody
 * of it can run elsewhere then. 0, or -1 and err. */
static int redirect_own(struct enforce *enforce, const struct enforce_step *step,
                        const struct cpus *to, struct berth_error *err)
{
    const struct enforce_list list = {step->id, HAND_OWN, false};
    char own[CGROUP_DIR_MAX];

    own_dir(enforce, step->id, own);
    return rootfs_exists(enforce->root, own) ? enforce_write_list(enforce, &list, own, to, err) : 0;
}

/* Does the same for who goes to Slurm's leaf; one by one where it cannot be done at once. */
static int vacate_own(struct enforce *enforce, const struct enforce_step *step,
                      const struct cpus *to, struct berth_error *err)
{
    if (redirect_own(enforce, step, to, NULL) == 0)
        return 0;
    return drain(enforce, step, own_pids, HAND_LEAF, ENFORCE_ROUNDS, err) != 0 ? -1 : 0;
}

static int go_inside(struct enforce *enforce, const struct enforce_step *step,
                     const struct cpus *want, struct berth_error *err)
{
    if (set_leaf(enforce, step, want, err) < 0)
        return -1;
    return vacate_own(enforce, step, want, err);
}

static int go_outside(struct enforce *enforce, const struct enforce_step *step,
                      const struct cpus *want, struct berth_error *err)
{
    if (make_own(enforce, step, want, err) < 0 ||
        drain(enforce, step, leaf_pids, HAND_OWN, ENFORCE_ROUNDS, err) != 0)
        return -1;
    return step->leaf[0] ? clear_leaf(enforce, step, err) : 0;
}

/* ---- reading back ---- */

/* Checks that nobody is where nobody should be, but for who is dying. */
static int check_empty(struct enforce *enforce, const struct enforce_step *step,
                       int (*list)(struct enforce *, const struct enforce_step *,
                                   struct enforce_pids *),
                       struct berth_error *err)
{
    struct enforce_pids found = {0};
    int rc = list(enforce, step, &found);

    if (rc < 0)
        berth_error_set(err, "cannot list the step's processes: %s", strerror(errno));
    for (size_t i = 0; rc == 0 && i < found.n; i++)
        if (!enforce_exiting(enforce->root, found.pid[i]))
            rc = berth_error_set(err, "process %d was left behind", (int)found.pid[i]);
    free(found.pid);
    return rc;
}

/* Checks that nobody is left in berth's cgroup of the step, unless that has the CPUs that the step
 * stands on in Slurm's. */
static int check_own(struct enforce *enforce, const struct enforce_step *step,
                     const struct cpus *want, struct berth_error *err)
{
    char own[CGROUP_DIR_MAX];
    struct cpus cpus;

    own_dir(enforce, step->id, own);
    if (enforce_read_cpus(enforce->root, own, "cpuset.effective_cpus", &cpus, NULL) == 0 &&
        cpus_subset(&cpus, want))
        return 0;
    return check_empty(enforce, step, own_pids, err);
}

static bool goes_inside(const struct enforce_step *step, const struct cpus *want)
{
    return step->leaf[0] && cpus_subset(want, &step->job_home);
}

static int cgroup1_stands(struct enforce *enforce, const struct enforce_step *step,
                          struct berth_error *err)
{
    char dir[CGROUP_DIR_MAX];
    struct cpus want;
    bool inside;

    enforce_bounds(step, &want);
    inside = goes_inside(step, &want);
    inside ? leaf_dir(enforce, step, dir) : own_dir(enforce, step->id, dir);
    if (enforce_check_cpus(enforce->root, dir, "cpuset.cpus", &want, err) < 0 ||
        enforce_check_cpus(enforce->root, dir, "cpuset.effective_cpus", &want, err) < 0)
        return -1;
    if (!inside &&
        enforce_check_cpus(enforce->root, dir, "cpuset.effective_mems", &step->mems_home, err) < 0)
        return -1;
    return inside ? check_own(enforce, step, &want, err)
                  : check_empty(enforce, step, leaf_pids, err);
}

/* What stands already is not touched: a program's own bindings inside its task's CPUs stay. */
static int cgroup1_apply(struct enforce *enforce, const struct enforce_step *step,
                         struct berth_error *err)
{
    struct cpus want;
    bool inside, stands;

    enforce_bounds(step, &want);
    if (cpus_empty(&want))
        return berth_error_set(err, "no CPUs to stand on");
    inside = goes_inside(step, &want);
    stands = cgroup1_stands(enforce, step, NULL) == 0;
    if (inside)
        mark_leaf(enforce, step);
    if (!stands && ((inside ? go_inside : go_outside)(enforce, step, &want, err) < 0 ||
                    cgroup1_stands(enforce, step, err) < 0))
        return -1;
    return enforce_settle(enforce, step, ENFORCE_PLACE, stands, err);
}

/* ---- undoing ---- */

/* Has Slurm removed the leaf, or has everybody gone? */
static bool cgroup1_gone(struct enforce *enforce, const struct enforce_step *step)
{
    char leaf[CGROUP_DIR_MAX];

    leaf_dir(enforce, step, leaf);
    return !enforce_step_alive(enforce, step) ||
           (step->leaf[0] && !rootfs_exists(enforce->root, leaf));
}

/* Who is in berth's cgroup belongs in Slurm's, but where the step stands outside of that. */
static void cgroup1_gather(struct enforce *enforce, const struct enforce_step *step,
                           enum enforce_where where, char *dir)
{
    struct cpus want;

    enforce_bounds(step, &want);
    dir[0] = '\0';
    if (where == ENFORCE_PLACE && !goes_inside(step, &want))
        return;
    leaf_dir(enforce, step, dir); /* or the nearest above it: the hand looks for that */
}

static int cgroup1_left(struct enforce *enforce, const struct enforce_step *step,
                        struct berth_error *err)
{
    return remove_own(enforce, step->id, HAND_OWN, err);
}

static void cgroup1_folder(const struct enforce *enforce, const struct enforce_step *step,
                           char *dir)
{
    own_dir(enforce, step->id, dir);
}

static int cgroup1_restore(struct enforce *enforce, const struct enforce_step *step,
                           struct berth_error *err)
{
    if (vacate_own(enforce, step, &step->step_home, err) < 0 && !cgroup1_gone(enforce, step))
        return -1;
    if (step->leaf[0] && clear_leaf(enforce, step, err) < 0 && !cgroup1_gone(enforce, step))
        return -1;
    return enforce_settle(enforce, step, ENFORCE_HOME, false, err);
}

/* ---- what a crash left ---- */

/* Every stray is tried; err has the last failure. */
static int cgroup1_clean(struct enforce *enforce, const struct wire_step_id *known, size_t n,
                         struct berth_error *err)
{
    char tree[CGROUP_DIR_MAX], **name;
    struct wire_step_id id, nobody = {0};
    int rc = 0;

    snprintf(tree, sizeof(tree), "%s/cpuset/%s", enforce->cgroup_root, enforce->tree);
    name = rootfs_list(enforce->root, tree);
    for (size_t i = 0; name && name[i]; i++)
        if (wire_step_parse(name[i], &id) == 0 && !enforce_step_known(id, known, n) &&
            !enforce_settles(enforce, id, ENFORCE_HOME) &&
            hand_ask_clean(enforce->hand, id, err) < 0)
            rc = -1;
    rootfs_list_free(name);
    if (remove_own(enforce, nobody, HAND_TREE, err) < 0) /* stays while a known step stands in it */
        rc = -1;
    return rc;
}

const struct enforce_way enforce_cgroup1 = {.name = "cgroup1",
                                            .touches = true,
                                            .probe = cgroup1_probe,
                                            .locate = cgroup1_locate,
                                            .apply = cgroup1_apply,
                                            .restore = cgroup1_restore,
                                            .folder = cgroup1_folder,
                                            .stands = cgroup1_stands,
                                            .gather = cgroup1_gather,
                                            .gone = cgroup1_gone,
                                            .left = cgroup1_left,
                                            .clean = cgroup1_clean,
                                            .give_back = leaf_mark_undo,
                                            .pids = cgroup1_pids,
                                            .jobs = slurm_jobs_cgroup1};
