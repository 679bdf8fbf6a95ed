/* SPDX-License-Identifier: GPL-2.0-or-later */
/* message - what berthd's head can ask of the hand, which alone changes what is the kernel's or
 * other users': fixed structs, without a pointer, so that they can cross between two processes as
 * they are. hand.c has the table that says of each kind how long it is, who may ask, and what is
 * checked.
 *
 * A message names a step and a place, never a path: the hand makes the path itself. */
#ifndef BERTH_HAND_MESSAGE_H
#define BERTH_HAND_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/system/taskstats.h"
#include "packer/wire/wire.h"

enum hand_kind {
    HAND_STEP,    /* root's plugin has registered a step */
    HAND_FORGET,  /* nothing of it is changed any more */
    HAND_LIST,    /* a CPU list of a cpuset, or its list of memory nodes */
    HAND_FOLDER,  /* berth's own cpuset of a step (v1), or that of all: made or removed */
    HAND_MOVE,    /* processes change between berth's own cpuset and Slurm's (v1) */
    HAND_MARK,    /* what Slurm gave is noted on its folder, or the note is removed */
    HAND_CLEAN,   /* berth's own cpuset of a step that nobody knows is emptied and removed (v1) */
    HAND_THREADS, /* threads get other CPUs */
    HAND_CLASS,   /* threads get a scheduling class and a time slice */
    HAND_FILE,    /* a file that only root may read is opened */
    HAND_PAGES,   /* pages of a process: on which memory nodes they are, or shall be */
    HAND_USAGE,   /* what the kernel counts of processes, or of a thread (taskstats) */
    HAND_KINDS
};

/* Who asks, as the socket tells it that the message came by; not what the message says. */
enum hand_who {
    HAND_BY_ROOT = 1, /* root's plugin, or root's files */
    HAND_BY_HEAD = 2
};

/* Where the hand is a process of its own: the socket pairs that it shares with the head, which has
 * its ends of them as descriptors HAND_FD_FIRST and on, and HAND_APART in its environment. */
enum hand_socket {
    HAND_LINK_ROOT, /* what root's plugin said: berthd's word for it yet (berth-security(7)) */
    HAND_LINK_HEAD,
    HAND_LINK_DOOR, /* connections of root's plugin come by it */
    HAND_LINKS
};
#define HAND_FD_FIRST 3
#define HAND_APART "BERTH_HAND"

enum hand_place {
    HAND_LEAF, /* Slurm's folder of the step */
    HAND_JOB,  /* and of its job (v2) */
    HAND_USER, /* what its tasks are in (v2) */
    HAND_TASK, /* Slurm's folder of a task of it */
    HAND_OWN,  /* berth's own of the step (v1) */
    HAND_TREE, /* what those are in (v1) */
    HAND_PLACES
};

#define HAND_LEAF_MAX 512
#define HAND_TASK_MAX 32      /* bytes of the name of a task's folder: "task_0" */
#define HAND_THREADS_MAX 64   /* threads, or processes, of one message */
#define HAND_FILE_MAX 256     /* bytes of a path */
#define HAND_PAGES_MAX 1024   /* pages of one message */
#define HAND_SLICE_MAX_MS 100 /* of a time slice: the kernel gives no more */

struct hand_task {
    int32_t pid;
    uint32_t unused;
    uint64_t started; /* with the pid, who it is (system/process_look.h); 0: not known */
};

struct hand_step {
    uint32_t uid;
    int32_t stepd; /* its slurmstepd, which is never touched; 0: not known */
    uint64_t stepd_started;
    char leaf[HAND_LEAF_MAX]; /* Slurm's folder below the root of cpusets; "": it has none */
    struct cpus job_home;     /* that Slurm gave its job */
    struct hand_task task[HAND_THREADS_MAX]; /* where it has no folder: who tells whose a process
                                                is; a second message adds to the first */
};

struct hand_list {
    uint32_t place; /* enum hand_place */
    uint32_t mems;  /* 1: it is of memory nodes */
    char task[HAND_TASK_MAX];
    struct cpus cpus; /* of berth's own folders' memory nodes, and of HAND_TREE: what the hand finds
                         itself has to be the same */
};

struct hand_folder {
    uint32_t place, make; /* HAND_OWN, HAND_TREE; 1: it is made, 0: removed */
};

struct hand_move {
    uint32_t place, unused; /* HAND_OWN; HAND_LEAF, or where that is no more the nearest above it */
    struct hand_task process[HAND_THREADS_MAX];
};

struct hand_mark {
    uint32_t put, unused;
    struct cpus cpus;
};

struct hand_thread {
    int32_t tid, pid; /* pid: its process; 0: not known */
    uint64_t started; /* the process; 0: not known */
    struct cpus cpus;
};

struct hand_threads {
    struct hand_thread thread[HAND_THREADS_MAX];
};

struct hand_class {
    uint32_t batch, unused; /* 1: SCHED_BATCH, 0: SCHED_OTHER with no slice of its own */
    uint64_t slice_ns;      /* with batch */
    struct hand_task thread[HAND_THREADS_MAX]; /* by their tid and the thread's beginning */
};

struct hand_file {
    uint32_t link, unused; /* 1: to learn its name (O_PATH), not to read it */
    char path[HAND_FILE_MAX];
};

struct hand_page {
    uint64_t address;
    int32_t node, unused; /* that it shall be on; where `move` says so */
};

struct hand_pages {
    int32_t pid;
    uint32_t move;        /* 1: as move_pages(2) with nodes, 0: it is only asked where they are */
    uint64_t started;     /* the process; 0: not known */
    uint32_t all, unused; /* 1: also pages that several processes map (MPOL_MF_MOVE_ALL) */
    struct hand_page page[HAND_PAGES_MAX];
};

struct hand_usage {
    uint32_t thread, unused; /* 1: the only one is a thread, of which it is asked when it began */
    int32_t pid[TASKSTATS_BATCH];
};

struct hand_message {
    uint32_t kind, n;       /* how many of its array are filled */
    struct wire_step_id id; /* {0, 0}: berthd itself, or no step */
    union {
        struct hand_step step;
        struct hand_list list;
        struct hand_folder folder;
        struct hand_move move;
        struct hand_mark mark;
        struct hand_threads threads;
        struct hand_class class;
        struct hand_file file;
        struct hand_pages pages;
        struct hand_usage usage;
    };
};

/* `rc`: 0; or -1, and `error` is its errno and `why` says why. `fd`: of HAND_FILE, the asker's
 * to close; else -1. `status`: one for each of the array's, up to where it failed: 1 done, 0 it has
 * gone, or -errno; of HAND_PAGES, what move_pages(2) says. Of HAND_USAGE it is `usage`, one for
 * each, or `thread`. */
struct hand_answer {
    int32_t rc, error, fd;
    uint32_t n;
    struct berth_error why;
    union {
        int32_t status[HAND_PAGES_MAX];
        struct taskstats_usage usage[TASKSTATS_BATCH];
        struct taskstats_thread thread;
    };
};

#endif
