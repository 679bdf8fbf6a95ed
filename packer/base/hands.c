/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hands - see hands.h
 *
 * All is under one mutex, which nobody holds while run() is at work. A thread that was given up has
 * its argument alone, and goes when it comes back. */
#include "packer/base/hands.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>

#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "packer/base/log.h"
#include "packer/base/worker.h"

#define AWAIT_REST 99 /* times as long as it was waited in vain */

struct hands_work {
    TAILQ_ENTRY(hands_work) link; /* while it waits for its turn */
    enum hands_state state;
    bool awaited; /* the event loop waits for it */
    uint32_t user;
    const struct hands_task *task;
    void *arg;               /* NULL once it is somebody else's */
    struct hands_hand *hand; /* who is at it; NULL: nobody */
};
TAILQ_HEAD(works, hands_work);

struct hands_hand {
    LIST_ENTRY(hands_hand) link;
    struct hands *hands;
    const struct hands_task *task; /* what it is at; NULL: nothing */
    void *arg;
    uint32_t user;
    struct hands_work *work; /* who wants to know; NULL: nobody any more */
    double since_s;          /* its last sign of life; INFINITY: it rests */
    bool hung;               /* it was given up */
};

struct hands {
    const char *what;
    struct hands_limits limits;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool stopping;
    struct works waiting;
    LIST_HEAD(, hands_hand) all; /* threads */
    struct hands_hand *now;      /* the one that takes work; NULL: none */
    int wake;                    /* an eventfd; -1: none */
    double rest_until_s;         /* until then the event loop waits for nobody */
    uint32_t last;               /* whose work was taken last */
    size_t hung;
    struct hands *next;
};

/* Those with a thread that hung when they were closed: they are never freed. */
static struct hands *left;

void hands_lock(struct hands *hands)
{
    pthread_mutex_lock(&hands->mutex);
}

void hands_unlock(struct hands *hands)
{
    pthread_mutex_unlock(&hands->mutex);
}

void hands_changed(struct hands *hands)
{
    pthread_cond_broadcast(&hands->changed);
}

/* ---- a thread ---- */

/* Takes what is its turn: work of another user than the last one's, where there is some. NULL:
 * there is none. */
static struct hands_work *take_turn(struct hands *hands)
{
    struct hands_work *work, *first = TAILQ_FIRST(&hands->waiting);

    TAILQ_FOREACH(work, &hands->waiting, link)
    if (work->user != hands->last)
        break;
    work = work ? work : first;
    if (work)
        TAILQ_REMOVE(&hands->waiting, work, link);
    return work;
}

static void give_work(struct hands_hand *hand, struct hands_work *work)
{
    hand->hands->last = work->user;
    hand->task = work->task;
    hand->arg = work->arg;
    hand->user = work->user;
    hand->work = work;
    hand->since_s = clock_s();
    work->arg = NULL;
    work->hand = hand;
}

/* The argument goes back to who waits for it. Of what nobody waits for nobody is told: the event
 * loop would wake up for each of 64 pieces when it needs the last. */
static void take_back(struct hands_hand *hand)
{
    struct hands_work *work = hand->work;
    bool tell = !work || work->awaited;

    if (work) {
        work->arg = hand->arg;
        work->state = HANDS_DONE;
        work->hand = NULL;
        if (hand->hands->wake >= 0)
            eventfd_write(hand->hands->wake, 1);
    } else {
        hand->task->release(hand->arg);
    }
    hand->task = NULL;
    hand->arg = NULL;
    hand->work = NULL;
    if (tell)
        hands_changed(hand->hands);
}

static void go(struct hands_hand *hand)
{
    struct hands *hands = hand->hands;

    LIST_REMOVE(hand, link);
    hands->hung -= hand->hung;
    if (hands->now == hand)
        hands->now = NULL;
    free(hand);
    hands_changed(hands);
}

static void *hand_main(void *arg)
{
    struct hands_hand *hand = arg;
    struct hands *hands = hand->hands;

    hands_lock(hands);
    while (!hands->stopping && !hand->hung) {
        struct hands_work *work = take_turn(hands);

        if (!work) {
            clock_wait(&hands->changed, &hands->mutex, INFINITY);
            continue;
        }
        give_work(hand, work);
        hands_unlock(hands);
        hand->task->run(hand->arg, hand);
        hands_lock(hands);
        take_back(hand);
    }
    go(hand);
    hands_unlock(hands);
    return NULL;
}

static bool is_wanted(const struct hands_hand *hand)
{
    return hand->work && !hand->hands->stopping;
}

bool hands_go_on(struct hands_hand *hand)
{
    bool wanted;

    hands_lock(hand->hands);
    hand->since_s = clock_s();
    wanted = is_wanted(hand);
    hands_unlock(hand->hands);
    return wanted;
}

bool hands_rest(struct hands_hand *hand, double until_s)
{
    bool early = false;

    if (is_wanted(hand)) {
        hand->since_s = INFINITY;
        early = clock_wait(&hand->hands->changed, &hand->hands->mutex, until_s);
        hand->since_s = clock_s();
    }
    return early && is_wanted(hand);
}

/* ---- the event loop's side ---- */

static size_t hung_for(const struct hands *hands, uint32_t user)
{
    const struct hands_hand *hand;
    size_t n = 0;

    LIST_FOREACH(hand, &hands->all, link)
    n += hand->hung && hand->user == user;
    return n;
}

static void give_up(struct hands *hands)
{
    struct hands_hand *hand = hands->now;
    size_t theirs;

    if (hand->work) {
        hand->work->state = HANDS_HUNG;
        hand->work->hand = NULL;
    }
    hand->work = NULL;
    hand->hung = true;
    hands->hung++;
    hands->now = NULL;
    theirs = hung_for(hands, hand->user);
    if (theirs == hands->limits.hung_user || hands->hung == hands->limits.hung)
        log_warn("%zu threads that %s do not come back, %zu of them from processes of user %u: %s",
                 hands->hung, hands->what, theirs, hand->user,
                 hands->hung == hands->limits.hung ? "nothing of the kind is done any more"
                                                   : "nothing of the kind is done for that user");
}

/* Refuses what there may be no thread for. */
static void refuse(struct hands *hands, bool all)
{
    struct hands_work *work = TAILQ_FIRST(&hands->waiting), *next;

    for (; work; work = next) {
        next = TAILQ_NEXT(work, link);
        if (!all && hung_for(hands, work->user) < hands->limits.hung_user)
            continue;
        TAILQ_REMOVE(&hands->waiting, work, link);
        work->state = HANDS_REFUSED;
    }
}

static int start_hand(struct hands *hands)
{
    struct hands_hand *hand = calloc(1, sizeof(*hand));
    int rc = hand ? 0 : ENOMEM;
    pthread_t thread;

    if (hand) {
        hand->hands = hands;
        rc = worker_thread(&thread, hand_main, hand);
    }
    if (rc != 0) {
        log_warn("no thread to %s: %s", hands->what, strerror(rc));
        free(hand);
        return -1;
    }
    pthread_detach(thread);
    LIST_INSERT_HEAD(&hands->all, hand, link);
    hands->now = hand;
    return 0;
}

/* Does what can be done now. Under the lock, as those above. */
static void turn(struct hands *hands)
{
    const struct hands_hand *now = hands->now;

    if (now && now->task && clock_s() - now->since_s >= hands->limits.limit_s)
        give_up(hands);
    if (hands->hung)
        refuse(hands, hands->hung >= hands->limits.hung);
    if (!TAILQ_EMPTY(&hands->waiting) && !hands->now && start_hand(hands) < 0)
        refuse(hands, true);
}

struct hands *hands_open(const char *what, const struct hands_limits *limits)
{
    struct hands *hands = calloc(1, sizeof(*hands));
    pthread_condattr_t clock;

    if (!hands)
        return NULL;
    hands->what = what;
    hands->limits = *limits;
    hands->wake = -1;
    TAILQ_INIT(&hands->waiting);
    LIST_INIT(&hands->all);
    pthread_mutex_init(&hands->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&hands->changed, &clock);
    pthread_condattr_destroy(&clock);
    return hands;
}

int hands_notify(struct hands *hands, int eventfd)
{
    hands->wake = fcntl(eventfd, F_DUPFD_CLOEXEC, 0); /* before any thread: no lock */
    return hands->wake < 0 ? -1 : 0;
}

struct hands_work *hands_put(struct hands *hands, uint32_t user, const struct hands_task *task,
                             void *arg)
{
    struct hands_work *work = calloc(1, sizeof(*work));

    if (!work) {
        task->release(arg);
        return NULL;
    }
    work->user = user;
    work->task = task;
    work->arg = arg;
    hands_lock(hands);
    TAILQ_INSERT_TAIL(&hands->waiting, work, link);
    turn(hands);
    hands_changed(hands);
    hands_unlock(hands);
    return work;
}

enum hands_state hands_look(struct hands *hands, struct hands_work *work)
{
    enum hands_state state;

    hands_lock(hands);
    turn(hands);
    state = work->state;
    hands_unlock(hands);
    return state;
}

void *hands_take(struct hands *hands, struct hands_work *work)
{
    void *arg;

    hands_lock(hands); /* the thread is done with it */
    arg = work->arg;
    hands_unlock(hands);
    free(work);
    return arg;
}

void hands_drop(struct hands *hands, struct hands_work *work)
{
    if (!work)
        return;
    hands_lock(hands);
    if (work->hand)
        work->hand->work = NULL;
    else if (work->state == HANDS_WAIT)
        TAILQ_REMOVE(&hands->waiting, work, link);
    if (work->arg)
        work->task->release(work->arg);
    hands_changed(hands);
    hands_unlock(hands);
    free(work);
}

void hands_wait(struct hands *hands, struct hands_work *work, double until_s)
{
    hands_lock(hands);
    work->awaited = true;
    for (turn(hands);
         work->state == HANDS_WAIT && clock_wait(&hands->changed, &hands->mutex, until_s);
         turn(hands))
        ;
    work->awaited = false;
    hands_unlock(hands);
}

enum hands_state hands_await(struct hands *hands, struct hands_work *work, double wait_s)
{
    double began_s = clock_s();
    enum hands_state state;

    if (began_s >= hands->rest_until_s)
        hands_wait(hands, work, began_s + wait_s);
    state = hands_look(hands, work);
    if (state == HANDS_WAIT && began_s >= hands->rest_until_s)
        hands->rest_until_s = clock_s() + AWAIT_REST * wait_s;
    return state;
}

size_t hands_hung(struct hands *hands)
{
    size_t hung;

    hands_lock(hands);
    turn(hands);
    hung = hands->hung;
    hands_unlock(hands);
    return hung;
}

bool hands_close(struct hands *hands)
{
    double until_s = clock_s() + WORKER_CLOSE_S;
    bool ended;

    if (!hands)
        return true;
    hands_lock(hands);
    hands->stopping = true;
    hands_changed(hands);
    while (hands->now && clock_wait(&hands->changed, &hands->mutex, until_s))
        ;
    ended = LIST_EMPTY(&hands->all);
    if (!ended) {
        hands->next = left;
        left = hands;
    }
    hands_unlock(hands);
    if (!ended)
        return false;
    pthread_cond_destroy(&hands->changed);
    pthread_mutex_destroy(&hands->mutex);
    file_close(hands->wake);
    free(hands);
    return true;
}
