/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enforce - making a placement hold: one vtable, several ways, chosen at start and shown by
 * `berthctl doctor`.
 *
 *   cgroup1  Slurm's leaf where the CPUs lie inside the job's allocation, berth's own cpuset tree
 * where not (Slurm's job-level cpusets are never written: a later step would fail to launch)
 *   cgroup2  job and step widened to the pool, leaves pinned
 *   dryrun   nothing is touched; for `observe` nodes and tests
 *
 * The registry decides and journals; a way only does, reads back and reports. */
#ifndef BERTH_ENFORCE_ENFORCE_H
#define BERTH_ENFORCE_ENFORCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/enforce/masks.h"
#include "packer/slurm/slurm_folders.h"
#include "packer/slurm/slurm_jobs.h"
#include "packer/system/process_table.h"
#include "packer/system/rootfs.h"
#include "packer/slurm/step_cgroup.h"
#include "packer/wire/wire.h"

/* One task of a step: its first process. Children are found through the cgroup and belong to the
 * task they descend from. Its pid may become a stranger's: whoever uses it checks `started`. */
struct enforce_task {
    pid_t pid;
    uint64_t started;  /* ticks since boot, by locate(): with the pid, who it is; 0: not known */
    struct cpus home;  /* where Slurm put it: affinity within the step's cpuset at registration */
    struct cpus sized; /* those of them that sizing left it */
    struct cpus use;   /* what it uses: these, or its part where jobs share cores (share.h) */
    struct cpus cpus;  /* where it shall run: where these stand now */
};

#define ENFORCE_LEAF_MAX 512

/* One step as a way sees it. */
struct enforce_step {
    struct wire_step_id id;
    uint32_t uid;
    char leaf[ENFORCE_LEAF_MAX]; /* the step's cpuset directory below the cpuset root (Slurm's),
                       found by locate(); "" none (ConstrainCores=no) */
    struct cpus job_home;        /* CPUs of Slurm's allocation of the job here */
    struct cpus step_home;       /* CPUs of Slurm's step cpuset as it was at registration */
    struct cpus mems_home;
    pid_t stepd; /* the tasks' parent when the step was registered, and its start; 0: not known */
    uint64_t stepd_started;
    size_t ntasks;
    struct enforce_task *task; /* [ntasks] */
    struct cpus begun; /* where its program began, if it has to stay: it may bind threads to these
                          as long as it runs; else empty */
    bool wide;         /* its cpuset has its home, too: binding to what Slurm gave works */
    bool moving;       /* and its tasks' CPUs are others than when it was applied last */
    struct enforce_masks masks;
    bool ranks; /* they are ranks that a launcher has started; who descends from none of them (the
                   launcher, the batch script) stays on step_home */
};

struct enforce;
struct hand_link; /* packer/hand/ask.h */

/* Processes, as a growing list. All zero is the empty one; free(list.pid) ends it. */
struct enforce_pids {
    size_t n, room;
    size_t own; /* so many, the first ones, are in a cgroup of berth's own (cgroup1) */
    pid_t *pid; /* [n] */
};

enum enforce_where { ENFORCE_HOME, ENFORCE_PLACE }; /* a task's home, or its cpus */

struct enforce_way {
    const char *name; /* "cgroup1", ... */
    bool touches;     /* it moves what it is told to, and reads back that it stands there */

    /* Is this way usable on this node? 1 yes, 0 no (err says why). */
    int (*probe)(const struct rootfs *root, const char *cgroup_root, struct berth_error *err);

    /* Find the step's cgroup and read leaf, job_home, step_home, mems_home and each task's home. 0,
     * or -1 and err (e.g. the step is gone). */
    int (*locate)(struct enforce *enforce, const char *node, struct enforce_step *step,
                  struct berth_error *err);

    /* Make every thread of every process of the step stand where step->task[].cpus says (children
     * follow the task they descend from; a process that cannot be told apart gets the union; a
     * thread with a mask of its own gets that one's cpus): the cpuset first, which confines them
     * all, and is read back; then the affinity of every thread, until nobody lacks his. 0; 1: they
     * are confined, and enforce_turn() does the rest; or -1 and err with what could not be
     * verified; the caller then asks for restore. Of a step that is `wide` only the affinity keeps
     * threads off their home. */
    int (*apply)(struct enforce *enforce, const struct enforce_step *step, struct berth_error *err);

    /* Back to Slurm's: leaf, cpuset and affinity as at registration; berth's own cgroup of the step
     * removed. A vanished step is success. 0, 1 or -1 as apply: 1 says that nobody of the step can
     * run anywhere but at home any more. */
    int (*restore)(struct enforce *enforce, const struct enforce_step *step,
                   struct berth_error *err);

    /* Removes berth's cgroups that belong to no step of `known` (after a crash), moving stray tasks
     * home to Slurm's leaf or its nearest living parent. NULL: it makes none, and what a crash left
     * is undone step by step, from the journal. */
    int (*clean)(struct enforce *enforce, const struct wire_step_id *known, size_t n,
                 struct berth_error *err);

    /* Gives steps that are not in `known` the CPUs back that Slurm gave them, where berth has
     * changed Slurm's own folder and no journal knows of it (leaf_mark.h). Returns how many were;
     * err: what could not be. NULL: berth changes none. */
    size_t (*give_back)(struct enforce *enforce, const struct wire_step_id *known, size_t n,
                        struct berth_error *err);

    /* The path of the list that Slurm writes again when a step of the job starts, and that apply()
     * has changed: the job's other steps want a new apply() then. NULL: there is none such. */
    void (*job_list)(const struct enforce *enforce, const struct enforce_step *step,
                     char path[CGROUP_DIR_MAX]);

    /* The folder in or below which the processes of a step are that stands on cores which are not
     * its job's. NULL: nobody can tell. */
    void (*folder)(const struct enforce *enforce, const struct enforce_step *step,
                   char dir[CGROUP_DIR_MAX]);

    /* What enforce_settle() asks a way; NULL: nothing is to be done or seen.
     * stands: do the step's cgroups have the CPUs of where it shall stand? 0, or -1 and err.
     * gather: where those of berth's own cgroup shall go, "": they stay.
     * gone: has everybody of the step gone, or its cgroup? Then it is where it should be.
     * left: all are at home; removes what was berth's. 0, or -1 and err. */
    int (*stands)(struct enforce *enforce, const struct enforce_step *step,
                  struct berth_error *err);
    void (*gather)(struct enforce *enforce, const struct enforce_step *step,
                   enum enforce_where where, char dir[CGROUP_DIR_MAX]);
    bool (*gone)(struct enforce *enforce, const struct enforce_step *step);
    int (*left)(struct enforce *enforce, const struct enforce_step *step, struct berth_error *err);

    /* Add all processes of the step to list, without slurmstepd; a vanished step has none. 0, or -1
     * with errno. Changes nothing, and may be called by another thread. */
    int (*pids)(struct enforce *enforce, const struct enforce_step *step,
                struct enforce_pids *list);

    /* Calls visit with each of Slurm's jobs on the node (slurm_jobs.h). NULL: nobody can tell. */
    void (*jobs)(struct slurm_cgroups slurm, const char *node, slurm_visit_job *visit, void *arg);
};

struct enforce {
    const struct enforce_way *way;
    const struct rootfs *root;
    char cgroup_root[256]; /* e.g. "/sys/fs/cgroup" */
    char tree[64]; /* cgroup1: berth's own cpuset below the root; "berth" after enforce_open */
    bool rebinds;  /* this kernel locks a process's memory map to move it between cpusets */
    struct cpus offline; /* CPUs that are off (enact/offline.h) */
    bool anew;  /* threads are set, though their step's cgroups stand and they are inside */
    bool paced; /* this turn may look at so many more threads, until CLOCK_MONOTONIC says: */
    size_t looks;
    double until_s;
    struct enforce_settling *later; /* steps whose threads wait for their turn */
    struct slurm_folders *folders;  /* of cgroup2; NULL: nothing is remembered */
    struct listed *listed;  /* processes, as they were listed last; NULL: nothing is remembered */
    struct hand_link *hand; /* who does what takes root; NULL: nothing can be changed */
};

/* What packer/slurm is asked with for Slurm's folders. */
struct slurm_cgroups enforce_slurm(const struct enforce *enforce);

extern const struct enforce_way enforce_cgroup1, enforce_cgroup2, enforce_dryrun;

/* Choose a way: name NULL or "auto" takes the first usable of cgroup2, cgroup1; else the one named.
 * 0, and the caller ends it by enforce_close(), or -1 and err with why none fits. */
int enforce_open(struct enforce *enforce, const struct rootfs *root, const char *cgroup_root,
                 const char *name, struct berth_error *err);

/* Forgets what is left for later turns, and what it remembers of Slurm's folders. */
void enforce_drop(struct enforce *enforce);

/* The same, and lets go of the hand: nothing can be changed any more. */
void enforce_close(struct enforce *enforce);

/* Tells the hand of a step that was located, or is in the journal, by root's word: only then it can
 * be changed. 0, or -1 and err. */
int enforce_register(struct enforce *enforce, const struct enforce_step *step,
                     struct berth_error *err);

/* Tells it that nothing of the step is to be changed any more. */
void enforce_unregister(struct enforce *enforce, struct wire_step_id id);

/* Begins a turn: until the next one so many threads may be looked at, and for so many seconds. A
 * step that has more is confined at once, and its threads are given their CPUs by enforce_turn().
 * To look at a thread takes 3 us, to move a process to another cgroup as much, but up to 2.5 ms
 * while two dozen others fork all the time (measured). ENFORCE_ALL, as after enforce_open: there is
 * no limit. */
#define ENFORCE_ALL SIZE_MAX
void enforce_pace(struct enforce *enforce, size_t looks, double turn_s);

/* One thread more is looked at. Returns false where the turn has no more of that. */
bool enforce_may_look(struct enforce *enforce);

/* What a turn of berthd has: threads that are looked at before a request is answered, and in each
 * turn after it, and for how long. */
#define ENFORCE_LOOKS 2000
#define ENFORCE_TURN_S 0.005

/* Goes on with the steps that apply() and restore() have left for later, as far as the pace allows.
 * `settled` is told how each one ended: 0, or -1 and err; it may ask for another apply() or
 * restore(). Returns whether there is more to do. */
typedef void enforce_settled(struct wire_step_id id, enum enforce_where where, int rc,
                             const struct berth_error *err, void *arg);
bool enforce_turn(struct enforce *enforce, enforce_settled *settled, void *arg);

/* Says whether the step is on its way there, left for later turns. */
bool enforce_settles(const struct enforce *enforce, struct wire_step_id id,
                     enum enforce_where where);

/* Has nothing more done for the step by later turns. */
void enforce_forget(struct enforce *enforce, struct wire_step_id id);

/* Is any process of the step alive, slurmstepd apart? */
bool enforce_step_alive(struct enforce *enforce, const struct enforce_step *step);

/* All processes of the step, without slurmstepd, into *pids (the caller frees it). 0, or -1 with
 * errno. */
int enforce_step_pids(struct enforce *enforce, const struct enforce_step *step, pid_t **pids,
                      size_t *n);

/* ---- shared by the ways: processes (enforce/processes.c) ---- */

/* Lists of processes: add one; add those of a cgroup (a vanished one has none), slurmstepd left out
 * where a step is given; add those that descend from the step's tasks. 0, or -1 with errno. */
int enforce_pids_add(struct enforce_pids *list, pid_t pid);
bool enforce_pids_have(const struct enforce_pids *list, pid_t pid);
int enforce_pids_cgroup(const struct rootfs *root, const struct enforce_step *step, const char *dir,
                        struct enforce_pids *list);
int enforce_pids_descend(struct enforce *enforce, const struct enforce_step *step,
                         struct enforce_pids *list);

/* Sorts a list by number, which forgets whose cgroup they are in; tells who is in a sorted one. */
void enforce_pids_sort(struct enforce_pids *list);
bool enforce_pids_sorted_have(const struct enforce_pids *list, pid_t pid);

/* Notes when each of the tasks began, and who their slurmstepd is. A task that has vanished is left
 * as it is. */
void enforce_know_tasks(const struct enforce *enforce, struct enforce_step *step);

/* Finds the tasks among the processes of the step's cgroup, and notes the same of them. What was
 * registered as a task's number may be its number in a PID namespace of its own: then task[].pid
 * becomes the one outside. 0, or -1 and err where a task is not there. */
int enforce_find_tasks(struct enforce *enforce, struct enforce_step *step, struct berth_error *err);

/* Does the same among these processes. */
int enforce_tell_tasks(struct enforce *enforce, struct enforce_step *step,
                       const struct enforce_pids *list, struct berth_error *err);

/* Says whether a process that has the task's number is the task. */
bool enforce_is_task(const struct rootfs *root, const struct enforce_task *task);

/* The task that a process descends from: its index, or -1. */
long enforce_task_of(struct process_table *table, const struct enforce_step *step, pid_t pid);

/* Has this process or thread vanished, or does it run only to exit? The kernel moves it no more. */
bool enforce_exiting(const struct rootfs *root, pid_t pid);

/* ---- threads (enforce/threads.c) ---- */

/* Scans of a step that keeps forking before berth gives up on it; none of them sleeps. */
#define ENFORCE_ROUNDS 20

/* Affinity of one thread as the kernel reports it. 0, or -1 with errno. */
int enforce_get_affinity(pid_t pid, struct cpus *cpus);

/* Has that of a step's thread set. 0, or it has ended meanwhile; or -1 and err. */
int enforce_set_thread(struct enforce *enforce, struct wire_step_id id, pid_t tid,
                       const struct cpus *cpus, struct berth_error *err);

/* What was seen of threads: how many, how many were changed, how many had ended, or may have been
 * left out of the kernel's list. */
struct enforce_seen {
    size_t threads, changed, missed;
};

/* Where the threads of a process shall run. */
struct enforce_wish {
    const struct cpus *cpus;           /* those that have no mask of their own */
    const struct enforce_masks *masks; /* those that have; NULL: none has */
    enum enforce_where where;
    struct wire_step_id id; /* whose it is; {0, 0}: berthd's own process */
    uint64_t started;       /* the process; 0: not known */
    bool launcher; /* of ranks: these are its home; only threads that have as many CPUs or more, and
                      others, are seen to: a cpuset's new list has widened them, or a placement of
                      the step as a whole has moved them. Who has fewer is a rank not seen yet. */
};

/* Looks at each thread of a process, which has so many (0: not known), and adds to seen. `set`:
 * sets the affinity of those that have another one; else nobody is touched, and who reaches outside
 * is an error. 0, or -1 and err. */
int enforce_visit_threads(struct enforce *enforce, pid_t pid, size_t threads,
                          const struct enforce_wish *wish, bool set, struct enforce_seen *seen,
                          struct berth_error *err);

/* Set the affinity of every thread of a step's process ({0, 0}: of berthd's own), until a scan
 * finds none with another one. 0 (a vanished process too), or -1 and err. */
int enforce_set_affinity(struct enforce *enforce, struct wire_step_id id, pid_t pid,
                         const struct cpus *cpus, struct berth_error *err);

/* The CPUs of all the step's tasks. */
void enforce_union(const struct enforce_step *step, enum enforce_where where, struct cpus *cpus);

/* Has every task the CPUs that Slurm gave it? */
bool enforce_at_home(const struct enforce_step *step);

/* The CPUs of the step's cpuset where it stands: those of its tasks; where it is `wide`, or they
 * are ranks, those that Slurm gave, too; and those where it began, if it has to stay. */
void enforce_bounds(const struct enforce_step *step, struct cpus *cpus);

/* Fill the tasks' homes: affinity within `within`. 0, or -1 and err when a task is gone. */
int enforce_read_homes(struct enforce_step *step, const struct cpus *within,
                       struct berth_error *err);

/* Reads the homes of a step that has no cpuset of Slurm's, whose tasks were found: only their
 * affinities say what Slurm gave, and they say nothing when they are what slurmstepd itself, their
 * parent, has. 0, or -1 and err. */
int enforce_read_unconfined(struct enforce *enforce, struct enforce_step *step,
                            struct berth_error *err);

/* ---- all threads of a step, in one turn or in several (enforce/settle.c) ---- */

/* Gives every thread of the step its task's CPUs, until a scan finds none that lacks them; at the
 * end the way's `stands`, or `left`, is asked. `stands`: the step's cgroups were found as they
 * shall be; then nobody is touched whose threads are inside their task's CPUs (one may have
 * narrowed itself), unless a settling of this step is for later: that one is begun anew. 0; 1: the
 * pace allows no more, enforce_turn() goes on; -1 and err. */
int enforce_settle(struct enforce *enforce, const struct enforce_step *step,
                   enum enforce_where where, bool stands, struct berth_error *err);

/* ---- and those of cgroups (enforce/cgroup.c) ---- */

/* Read a CPU list from a cgroup's file. 0, or -1 with errno and err. */
int enforce_read_cpus(const struct rootfs *root, const char *dir, const char *file,
                      struct cpus *cpus, struct berth_error *err);

/* Does a cgroup's file hold this list? 0, or -1 with err. */
int enforce_check_cpus(const struct rootfs *root, const char *dir, const char *file,
                       const struct cpus *cpus, struct berth_error *err);

/* Says whether a file of the cgroups can be written: what `probe` returns, and err. */
int enforce_probe_file(const struct rootfs *root, const char *path, struct berth_error *err);

/* Says whether this machine's kernel locks a process's memory map to move it between cpusets. */
bool enforce_kernel_rebinds(const struct rootfs *root);

/* Says whether the process may be moved to another cpuset of version 1: 0, or -1 and err. Where
 * `rebinds` is, a process of which a thread waits in the kernel may not: it may hold its memory map
 * for ever, and the kernel would wait for that with all cgroups of the node locked. */
int enforce_may_move(const struct enforce *enforce, pid_t pid, struct berth_error *err);

/* Says whether the step is in known[n]. */
bool enforce_step_known(struct wire_step_id id, const struct wire_step_id *known, size_t n);

/* Call visit with each folder in dir whose name begins with prefix, until it returns non-zero. What
 * visit returned last, else 0. */
int enforce_each_dir(struct enforce *enforce, const char *dir, const char *prefix,
                     int (*visit)(struct enforce *enforce, const char *path, void *arg), void *arg);

/* The same with the folder of each of Slurm's jobs under cgroup v2 (slurm_folders_each). */
int enforce_each_job(struct enforce *enforce, const char *node, size_t *scopes,
                     int (*visit)(struct enforce *enforce, const char *path, void *arg), void *arg);

/* As enforce_pids_cgroup, of Slurm's cgroup of a step and of the task_N below it. */
int enforce_pids_leaf(struct enforce *enforce, const struct enforce_step *step, const char *dir,
                      struct enforce_pids *list);

#endif
