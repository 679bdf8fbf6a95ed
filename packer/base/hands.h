/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hands - threads that do what may never come back, for the event loop, which must not wait.
 *
 * What looks at a process of a user may hang for as long as that user likes: the kernel takes a
 * lock of the process for it (its mmap_lock, its exec_update_lock) or asks a file server that is
 * the user's own. A thread that hangs in the kernel cannot be ended. So work is put into a list,
 * with the user on whose account it is, and one thread takes it piece by piece, of each user in
 * turn. One that gives no sign of life for limit_s is given up, and the work with it; another
 * thread goes on with the rest. So many may hang for one user, and for all of them: what is put for
 * a user who has his fill is refused, until a thread comes back.
 *
 * The event loop's calls below say what has become of a piece; they give up and refuse. Work that
 * is given up belongs to the thread that hangs: what it uses must be its own. */
#ifndef BERTH_BASE_HANDS_H
#define BERTH_BASE_HANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hands;
struct hands_hand; /* a thread */
struct hands_work; /* a piece of work */

#define HANDS_HUNG_MAX 8
#define HANDS_HUNG_USER_MAX 2

struct hands_limits {
    double limit_s;         /* without a sign of life */
    size_t hung, hung_user; /* threads that may hang, in all and for one user */
};

/* What is to be done with a piece's argument, in a thread; release: nobody wants it any more. */
struct hands_task {
    void (*run)(void *arg, struct hands_hand *hand);
    void (*release)(void *arg);
};

enum hands_state {
    HANDS_WAIT,   /* for its turn, or for the thread */
    HANDS_DONE,   /* run() has returned */
    HANDS_HUNG,   /* its thread was given up */
    HANDS_REFUSED /* too many hang; or there is no thread to be had */
};

/* Returns hands without a thread: the first piece of work starts one. `what` says for the log what
 * they do ("read numa_maps"), and must stay. NULL for want of memory. */
struct hands *hands_open(const char *what, const struct hands_limits *limits);

/* Has an eventfd told each time that a piece of work is done; called before any is put. 0, or -1
 * with errno. */
int hands_notify(struct hands *hands, int eventfd);

/* Ends them, and waits WORKER_CLOSE_S at most for a thread that is at work. True: all have ended,
 * and everything is freed. False: one has not, and whatever run() uses must stay for ever. All that
 * was put is taken or dropped before. NULL is fine. */
bool hands_close(struct hands *hands);

/* Puts a piece of work, whose argument is the hands' from then on. The task must stay. NULL for
 * want of memory: it is released. */
struct hands_work *hands_put(struct hands *hands, uint32_t user, const struct hands_task *task,
                             void *arg);

/* Says what has become of it, without waiting. */
enum hands_state hands_look(struct hands *hands, struct hands_work *work);

/* Takes the argument of work that is HANDS_DONE back; the work is forgotten. */
void *hands_take(struct hands *hands, struct hands_work *work);

/* Forgets a piece of work, in whatever state: its argument is released when nobody uses it. NULL is
 * fine. */
void hands_drop(struct hands *hands, struct hands_work *work);

/* Waits until work is done, given up or refused, or until the time until_s (CLOCK_MONOTONIC). */
void hands_wait(struct hands *hands, struct hands_work *work, double until_s);

/* Waits so long at most, for an answer that is wanted at once. Once that was in vain it waits for
 * nobody for 99 times as long: all waiting is a hundredth of the time at most, whoever hangs.
 * Returns what has become of the work. */
enum hands_state hands_await(struct hands *hands, struct hands_work *work, double wait_s);

/* Returns how many threads hang now. */
size_t hands_hung(struct hands *hands);

/* Guards what run() and the event loop share; hands_changed() wakes who rests, under the lock. */
void hands_lock(struct hands *hands);
void hands_unlock(struct hands *hands);
void hands_changed(struct hands *hands);

/* ---- for run(), in its thread ---- */

/* Gives a sign of life. Returns whether the work is still wanted: else run() shall return. */
bool hands_go_on(struct hands_hand *hand);

/* Rests until that time (CLOCK_MONOTONIC), or until something has changed: it does not hang
 * meanwhile. Returns false when the time has come, or the work is not wanted any more. Called under
 * the lock. */
bool hands_rest(struct hands_hand *hand, double until_s);

#endif
