/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hand_impl - what the files of this room share. */
#ifndef BERTH_HAND_HAND_IMPL_H
#define BERTH_HAND_HAND_IMPL_H

#include <pthread.h>

#include "packer/hand/hand.h"
#include "packer/slurm/step_cgroup.h"

/* A step that root has registered. */
struct hand_known {
    struct wire_step_id id;
    uint32_t uid;
    pid_t stepd; /* 0: not known */
    uint64_t stepd_started;
    char leaf[HAND_LEAF_MAX]; /* "": Slurm has no folder of it */
    struct cpus job_home;
    size_t said; /* so many tasks were named */
    size_t ntasks, room;
    struct hand_task *task; /* [ntasks]; of a step without a folder */
};

struct hand {
    struct hand_site site;
    bool idle;
    pthread_mutex_t mutex; /* over what follows: threads of berthd ask, too */
    size_t n, room;
    struct hand_known *known;    /* [n] */
    struct cpus pool;            /* that Slurm has given to their jobs */
    struct taskstats_link usage; /* answers NULL: not opened yet */
};

/* A message that is being answered. `step`: NULL where it names none that is known. */
struct hand_asked {
    struct hand *hand;
    const struct hand_known *step;
    const struct hand_message *message;
    struct hand_answer *answer;
};

/* Refuses: sets errno to EPERM and says why. Returns -1. */
int hand_refuse(struct hand_asked *asked, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The functions of the table: 0, or -1 with errno and the answer's `why`. */
int hand_do_step(struct hand_asked *asked);
int hand_do_forget(struct hand_asked *asked);
int hand_do_list(struct hand_asked *asked);
int hand_do_folder(struct hand_asked *asked);
int hand_do_move(struct hand_asked *asked);
int hand_do_mark(struct hand_asked *asked);
int hand_do_clean(struct hand_asked *asked);
int hand_do_threads(struct hand_asked *asked);
int hand_do_class(struct hand_asked *asked);
int hand_do_usage(struct hand_asked *asked);
int hand_may_open(struct hand_asked *asked);
int hand_do_open(struct hand_asked *asked);
int hand_may_move_pages(struct hand_asked *asked);
int hand_do_pages(struct hand_asked *asked);

/* ---- steps (known.c) ---- */

/* Returns the step of that number, or NULL. */
const struct hand_known *hand_find(const struct hand *hand, struct wire_step_id id);

/* Says whether Slurm has given none of these CPUs to a job that is not registered. */
bool hand_are_nobodys(const struct hand *hand, const struct cpus *cpus);

/* ---- places (place.c) ---- */

/* Writes the path of a place. False: this node has none such, or the step. */
bool hand_place_path(const struct hand *hand, const struct hand_known *step, enum hand_place place,
                     const char *task, char path[CGROUP_DIR_MAX]);

/* The path of berth's own cpuset of any step. */
void hand_own_path(const struct hand *hand, struct wire_step_id id, char path[CGROUP_DIR_MAX]);

/* Reads or writes a list of the folder. 0, or -1 with errno and err. */
int hand_read_cpus(const struct hand *hand, const char *dir, const char *file, struct cpus *cpus,
                   struct berth_error *err);
int hand_write_cpus(const struct hand *hand, const char *dir, const char *file,
                    const struct cpus *cpus, struct berth_error *err);

/* Cuts the last part off dir until it is a cpuset that can take processes (v1). */
void hand_nearest_living(const struct hand *hand, char *dir);

/* Moves a process to a folder: 1, 0 it has gone, or -1 with errno and err. */
int hand_move_process(const struct hand *hand, pid_t pid, const char *dir, struct berth_error *err);

/* ---- processes (belongs.c) ---- */

/* Says whether a thread of that process is the step's: 1; 0: it has gone; -1: it is not. */
int hand_belongs(const struct hand *hand, const struct hand_known *step, pid_t tid, pid_t pid,
                 uint64_t started);

/* Says whether Slurm tracks the process as one of that step, by any cgroup but a cpuset. */
bool hand_is_tracked(const struct hand *hand, const struct hand_known *step, pid_t pid);

/* Returns the step that a process is of, or NULL. */
const struct hand_known *hand_step_of(const struct hand *hand, pid_t pid);

/* Gives a thread its CPUs. 1, 0 it has gone, or -errno. */
int hand_set_affinity(pid_t tid, const struct cpus *cpus);

#endif
