/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth_tasks - tasks that wait for their children, run by workers that steal from each other
 * within a memory node before they go to another one (Vikranth 2018, chapters 3 to 6).
 *
 * A pool has a worker for each CPU that the process may use, pinned there. A task is a function and
 * a copy of its arguments; it may create others, its children, and wait for them. It has ended when
 * its function has returned and all its children have ended. Who waits runs other tasks meanwhile.
 *
 *     struct range { double *cell; size_t n; };
 *
 *     static void fill(const void *arguments)
 *     {
 *         struct range all = *(const struct range *)arguments, left = all, right = all;
 *
 *         if (all.n <= 4096) {
 *             ...
 *             return;
 *         }
 *         left.n = all.n / 2;
 *         right = (struct range){all.cell + left.n, all.n - left.n};
 *         berth_task_on(left.cell, left.n * sizeof(double), fill, &left, sizeof(left));
 *         berth_task_on(right.cell, right.n * sizeof(double), fill, &right, sizeof(right));
 *     }
 *
 *     struct berth_tasks *pool = berth_tasks_start(NULL);
 *     berth_tasks_run(pool, fill, &all, sizeof(all));        (waits until all is filled)
 *     berth_tasks_stop(pool);
 *
 * Nothing fails for want of memory: a task for which there is none runs at once, in the thread that
 * creates it. So does one when very many wait already, a few thousand of a worker's own or 65536
 * for a domain, and so memory has a bound. And so do all tasks in a child of fork(), which has none
 * of the pool's workers; where a task has forked, the child does not return from its function.
 *
 * A task's function returns: it neither throws, nor jumps out of itself, by which the program ends,
 * nor ends its thread. It holds no lock of its own while it waits for its children, because the
 * task that runs meanwhile may want the same one.
 *
 * Where a step of Slurm runs under berth, workers stand where berthd's page of the step says
 * (BERTH_RT_PAGE), and follow when the step is moved. Else /sys tells which CPUs share a memory
 * node or, where there is only one, a last level cache: a domain of stealing.
 *
 * A complete program is in berth_tasks(3).
 *
 * Build with `pkg-config --cflags --libs berth-tasks`. */
#ifndef BERTH_TASKS_H
#define BERTH_TASKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_TASKS_WORKERS_MAX 1024
#define BERTH_TASKS_DOMAINS_MAX 64

struct berth_tasks;      /* a pool */
struct berth_task_group; /* tasks that are waited for together */

/* A task. The arguments are its own copy, aligned for any type, until it returns. */
typedef void berth_task_function(const void *arguments);

/* From whom a worker that has nothing to do steals. The first is meant to be used, the others to be
 * compared with it. */
enum berth_tasks_stealing {
    BERTH_TASKS_TOPOLOGY,  /* whose queue is long enough, in its own domain first (section 4.4) */
    BERTH_TASKS_THRESHOLD, /* whose queue is long enough (section 3.5) */
    BERTH_TASKS_RANDOM,    /* anybody, by chance */
    BERTH_TASKS_LITERAL    /* as sections 3.4 and 4.4 are printed: a queue is stolen from only after
                              it was exactly as long as its capacity, and until it is empty */
};

struct berth_tasks_options {
    uint32_t size;                      /* sizeof(struct berth_tasks_options) */
    uint32_t workers;                   /* 0: as many as there are CPUs that the process may use */
    enum berth_tasks_stealing stealing; /* 0: by topology */
    uint32_t capacity; /* C of eq. 3.3, tasks; 0: 2. From so many on a queue is stolen from */
};

/* What the workers of a pool have done since its start. */
struct berth_tasks_counts {
    uint64_t run;         /* tasks that ended */
    uint64_t steals;      /* tasks taken from the queue of another worker */
    uint64_t remote;      /* of these, from another domain */
    uint64_t misses;      /* attempts that found the queue empty, or lost the race for its task */
    uint64_t dealt;       /* tasks without an object that their creator's domain gave to another */
    uint64_t placed;      /* tasks that were created for a domain because of their objects */
    uint64_t placed_away; /* of these, tasks that then ran in another domain */
    uint64_t asked;       /* times the kernel was asked where pages are */
    uint64_t sleeps;      /* times a worker found nothing and slept */
};

/* Memory that a task works on. */
struct berth_task_object {
    const void *address; /* of the data, not of a pointer to it */
    size_t bytes;        /* the part that is used */
};

/* Starts a pool. options: NULL: the usual ones. Returns NULL and errno: EINVAL, options; ENOMEM;
 * EAGAIN, no threads. Workers have all signals blocked. */
struct berth_tasks *berth_tasks_start(const struct berth_tasks_options *options);

/* Waits for all tasks of the pool, ends its workers and frees it; NULL is fine. Returns -1 and
 * errno EDEADLK, and has done nothing, in one of its own tasks. Nobody may use the pool meanwhile,
 * nor afterwards; groups that were made in it are still to be freed. */
int berth_tasks_stop(struct berth_tasks *pool);

/* Runs one task in the pool and waits until it has ended. */
void berth_tasks_run(struct berth_tasks *pool, berth_task_function *function, const void *arguments,
                     size_t bytes);

/* Returns how many workers and domains of stealing there are. */
unsigned berth_tasks_workers(const struct berth_tasks *pool);
unsigned berth_tasks_domains(const struct berth_tasks *pool);

/* Fills what has been counted until now; while tasks run, some of it is about to change. */
void berth_tasks_counts(const struct berth_tasks *pool, struct berth_tasks_counts *counts);

/* Creates a child of the task that calls; in a thread that runs no task it runs at once. arguments:
 * `bytes` of them are copied. */
void berth_task(berth_task_function *function, const void *arguments, size_t bytes);

/* The same, for the domain in which the object lies (section 5.5): it is run there, unless others
 * have nothing to do. An object that nobody has touched will lie where this task runs. */
void berth_task_on(const void *object, size_t object_bytes, berth_task_function *function,
                   const void *arguments, size_t bytes);

/* The same, for the domain that has most of n objects (eq. 5.2). */
void berth_task_on_all(const struct berth_task_object *objects, size_t n,
                       berth_task_function *function, const void *arguments, size_t bytes);

/* Waits until all children of the task that calls have ended. */
void berth_task_wait(void);

/* Returns the domain of the worker that calls, counted from 0, and the worker; -1: it is none. */
int berth_task_domain(void);
int berth_task_worker(void);

/* Makes a group of tasks in a pool. pool: NULL: that of the task that calls. Returns NULL and
 * errno: ENOMEM; EINVAL, there is no pool. */
struct berth_task_group *berth_task_group_new(struct berth_tasks *pool);

/* Adds a task to the group. Any thread may do so that knows that the group is not freed yet: its
 * maker, a task of the group. n objects as in berth_task_on_all(), or 0. */
void berth_task_group_add(struct berth_task_group *group, const struct berth_task_object *objects,
                          size_t n, berth_task_function *function, const void *arguments,
                          size_t bytes);

/* Waits until all tasks of the group have ended. Returns -1 and errno: EDEADLK, it was made by
 * another task, or outside of the pool's tasks, and one of them calls; ECANCELED, this is a child
 * of fork(), where tasks of its parent never end. */
int berth_task_group_wait(struct berth_task_group *group);

/* Waits for the group, and frees it; NULL is fine. Returns as berth_task_group_wait(), and has then
 * freed nothing but after ECANCELED. Who made a group in a task frees it in the same task. */
int berth_task_group_free(struct berth_task_group *group);

#ifdef __cplusplus
}
#endif

#endif
