/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reference SEED - a million operations on mutexes of all kinds, condition variables and spin
 * locks, drawn at random, and for each what it has to return.
 *
 * Four threads have turns, so that what each lock is at any time is known; who waits for a
 * condition gives his turn away until he is woken. Between the rounds they fight for the locks, so
 * that many get a cohort. Prints "SEED right cohorts N", and what was wrong. What hangs is ended by
 * who runs it. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 4
#define ROUNDS 10
#define OPERATIONS 1000000
#define FIGHTS 400
#define NOBODY (-1)

static const int kinds[] = {PTHREAD_MUTEX_NORMAL,     PTHREAD_MUTEX_ADAPTIVE_NP,
                            PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE,
                            PTHREAD_MUTEX_NORMAL,     PTHREAD_MUTEX_DEFAULT};
static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_REALTIME};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct lock {
    pthread_mutex_t mutex;
    int kind, owner;
    unsigned depth;
};

struct cond {
    pthread_cond_t cond;
    clockid_t clock;
    int waiter; /* one at most: which one is woken nobody can tell */
    struct lock *with;
};

struct spin {
    pthread_spinlock_t spin;
    int owner;
};

static struct lock locks[COUNT(kinds)];
static struct cond conds[COUNT(clocks)];
static struct spin spins[2];

static struct {
    sem_t turn[THREADS];
    atomic_bool back[THREADS]; /* from waiting for a condition */
    bool waits[THREADS], over[THREADS];
    struct lock *leaves; /* whose owner gave his turn away, and is about to let go of it */
    pthread_barrier_t barrier;
    unsigned draws;
    long left; /* operations */
} game;

static atomic_int wrong;

static void want(const char *what, int wanted, int got)
{
    if (wanted == got)
        return;
    if (wrong++ < 5)
        fprintf(stderr, "wrong: %s: %d, not %d\n", what, got, wanted);
}

static unsigned draw(unsigned below)
{
    game.draws = game.draws * 1664525 + 1013904223;
    return (game.draws >> 8) % below;
}

/* ---- making ---- */

static void make_lock(struct lock *lock)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, lock->kind);
    want("init", 0, pthread_mutex_init(&lock->mutex, &attributes));
    pthread_mutexattr_destroy(&attributes);
    lock->owner = NOBODY;
    lock->depth = 0;
}

static void make_cond(struct cond *cond)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, cond->clock);
    want("cond init", 0, pthread_cond_init(&cond->cond, &attributes));
    pthread_condattr_destroy(&attributes);
    cond->waiter = NOBODY;
    cond->with = NULL;
}

static void make_all(unsigned seed)
{
    game.draws = seed;
    pthread_barrier_init(&game.barrier, NULL, THREADS);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        locks[i].kind = kinds[i];
        make_lock(&locks[i]);
    }
    for (size_t i = 0; i < COUNT(clocks); i++) {
        conds[i].clock = clocks[i];
        make_cond(&conds[i]);
    }
    for (size_t i = 0; i < COUNT(spins); i++) {
        pthread_spin_init(&spins[i].spin, PTHREAD_PROCESS_PRIVATE);
        spins[i].owner = NOBODY;
    }
    for (size_t i = 0; i < THREADS; i++)
        sem_init(&game.turn[i], 0, 0);
}

/* ---- mutexes ---- */

/* Returns what an attempt is to return; `otherwise`: where somebody has the lock. */
static int wanted_of(const struct lock *lock, int me, int own, int otherwise)
{
    if (lock->owner == NOBODY || (lock->owner == me && lock->kind == PTHREAD_MUTEX_RECURSIVE))
        return 0;
    return lock->owner == me && lock->kind == PTHREAD_MUTEX_ERRORCHECK ? own : otherwise;
}

static void tried(struct lock *lock, int me, const char *what, int wanted, int got)
{
    want(what, wanted, got);
    if (wanted)
        return;
    lock->owner = me;
    lock->depth++;
}

static void try(struct lock *lock, int me)
{
    int wanted = wanted_of(lock, me, EBUSY, EBUSY);

    tried(lock, me, "trylock", wanted, pthread_mutex_trylock(&lock->mutex));
}

/* Where it had to wait the time is over, or is no time. */
static void take_timed(struct lock *lock, int me)
{
    struct timespec until = {.tv_sec = 1};
    int late = ETIMEDOUT, wanted;

    if (draw(8) == 0) {
        until.tv_nsec = -1;
        late = EINVAL;
    }
    wanted = wanted_of(lock, me, EDEADLK, late);
    if (draw(2))
        tried(lock, me, "timedlock", wanted, pthread_mutex_timedlock(&lock->mutex, &until));
    else
        tried(lock, me, "clocklock", wanted,
              pthread_mutex_clocklock(&lock->mutex, CLOCK_MONOTONIC, &until));
}

static void take(struct lock *lock, int me)
{
    int wanted = wanted_of(lock, me, EDEADLK, ETIMEDOUT);

    if (wanted == ETIMEDOUT)
        take_timed(lock, me);
    else
        tried(lock, me, "lock", wanted, pthread_mutex_lock(&lock->mutex));
}

static void let_go(struct lock *lock, int me)
{
    bool checks = lock->kind == PTHREAD_MUTEX_ERRORCHECK || lock->kind == PTHREAD_MUTEX_RECURSIVE;

    if (lock->owner == me) {
        if (--lock->depth == 0)
            lock->owner = NOBODY;
        want("unlock", 0, pthread_mutex_unlock(&lock->mutex));
    } else if (checks) {
        want("unlock of another's", EPERM, pthread_mutex_unlock(&lock->mutex));
    }
}

static bool is_waited_with(const struct lock *lock)
{
    for (size_t i = 0; i < COUNT(clocks); i++)
        if (conds[i].waiter != NOBODY && conds[i].with == lock)
            return true;
    return false;
}

static void renew(struct lock *lock)
{
    if (is_waited_with(lock))
        return;
    want("destroy", lock->owner == NOBODY ? 0 : EBUSY, pthread_mutex_destroy(&lock->mutex));
    if (lock->owner == NOBODY)
        make_lock(lock);
}

/* ---- turns ---- */

/* Gives the turn to another one who can go on. Says whether there is one. */
static bool pass(int me)
{
    unsigned from = draw(THREADS);

    for (unsigned i = 0; i < THREADS; i++) {
        unsigned next = (from + i) % THREADS;

        if ((int)next != me && !game.waits[next] && !game.over[next])
            return sem_post(&game.turn[next]) == 0;
    }
    return false;
}

static void await_turn(int me)
{
    while (sem_wait(&game.turn[me]) != 0)
        ;
    if (!game.leaves)
        return;
    pthread_mutex_lock(&game.leaves->mutex); /* its owner waits for the condition from now on */
    pthread_mutex_unlock(&game.leaves->mutex);
    game.leaves = NULL;
}

static bool is_alone(int me)
{
    for (int i = 0; i < THREADS; i++)
        if (i != me && !game.waits[i] && !game.over[i])
            return false;
    return true;
}

/* ---- conditions ---- */

static void wait_in_vain(struct cond *cond, struct lock *lock, int me)
{
    struct timespec until = {.tv_sec = 1, .tv_nsec = draw(4) ? 0 : -1};
    int wanted = until.tv_nsec < 0 ? EINVAL : ETIMEDOUT;

    if (lock->owner != me || lock->depth != 1 || (cond->waiter != NOBODY && cond->with != lock))
        return;
    if (draw(2))
        want("timedwait", wanted, pthread_cond_timedwait(&cond->cond, &lock->mutex, &until));
    else
        want("clockwait", wanted,
             pthread_cond_clockwait(&cond->cond, &lock->mutex, CLOCK_REALTIME, &until));
}

/* Waits until it is woken, and has the lock again when it has the turn. */
static void wait_for(struct cond *cond, struct lock *lock, int me)
{
    if (lock->owner != me || lock->depth != 1 || cond->waiter != NOBODY || is_alone(me))
        return;
    cond->waiter = me;
    cond->with = lock;
    lock->owner = NOBODY;
    lock->depth = 0;
    game.waits[me] = true;
    game.leaves = lock;
    pass(me);
    want("wait", 0, pthread_cond_wait(&cond->cond, &lock->mutex));
    atomic_store(&game.back[me], true);
    await_turn(me);
}

static void wake(struct cond *cond, int me)
{
    int (*how)(pthread_cond_t *) = draw(2) ? pthread_cond_signal : pthread_cond_broadcast;
    struct lock *lock = cond->with;
    int waiter = cond->waiter;
    bool mine = lock && lock->owner == me && lock->depth == 1;

    if (waiter != NOBODY && lock->owner != NOBODY && !mine)
        return;
    want("signal", 0, how(&cond->cond));
    if (waiter == NOBODY)
        return;
    if (mine)
        want("unlock for a waiter", 0, pthread_mutex_unlock(&lock->mutex));
    while (!atomic_exchange(&game.back[waiter], false))
        sched_yield();
    lock->owner = waiter;
    lock->depth = 1;
    game.waits[waiter] = false;
    cond->waiter = NOBODY;
}

static void renew_cond(struct cond *cond)
{
    if (cond->waiter != NOBODY)
        return;
    want("cond destroy", 0, pthread_cond_destroy(&cond->cond));
    make_cond(cond);
}

/* ---- spin locks ---- */

static void spin(struct spin *spin, int me)
{
    if (spin->owner == me) {
        want("spin unlock", 0, pthread_spin_unlock(&spin->spin));
        spin->owner = NOBODY;
    } else if (spin->owner == NOBODY && draw(2)) {
        want("spin lock", 0, pthread_spin_lock(&spin->spin));
        spin->owner = me;
    } else {
        want("spin trylock", spin->owner == NOBODY ? 0 : EBUSY, pthread_spin_trylock(&spin->spin));
        spin->owner = spin->owner == NOBODY ? me : spin->owner;
    }
}

/* ---- a thread ---- */

static void operate(int me)
{
    struct lock *lock = &locks[draw(COUNT(kinds))];
    struct cond *cond = &conds[draw(COUNT(clocks))];
    unsigned what = draw(1000);

    if (what < 2)
        renew(lock);
    else if (what < 4)
        renew_cond(cond);
    else if (what < 100)
        spin(&spins[draw(COUNT(spins))], me);
    else if (what < 200)
        wake(cond, me);
    else if (what < 250)
        wait_for(cond, lock, me);
    else if (what < 300)
        wait_in_vain(cond, lock, me);
    else if (what < 400)
        try(lock, me);
    else if (what < 500)
        take_timed(lock, me);
    else if (what < 700)
        take(lock, me);
    else
        let_go(lock, me);
}

static void let_go_of_all(int me)
{
    for (size_t i = 0; i < COUNT(kinds); i++)
        while (locks[i].owner == me)
            let_go(&locks[i], me);
    for (size_t i = 0; i < COUNT(spins); i++)
        if (spins[i].owner == me)
            spin(&spins[i], me);
    for (size_t i = 0; i < COUNT(clocks); i++)
        wake(&conds[i], me);
}

static void fight(void)
{
    for (size_t i = 0; i < COUNT(kinds) * FIGHTS; i++) {
        pthread_mutex_lock(&locks[i / FIGHTS].mutex);
        if (i % 4 == 0)
            sched_yield();
        pthread_mutex_unlock(&locks[i / FIGHTS].mutex);
    }
}

static void *play(void *number)
{
    int me = (int)(intptr_t)number;

    fight();
    if (pthread_barrier_wait(&game.barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        sem_post(&game.turn[0]);
    await_turn(me);
    while (game.left > 0) {
        for (unsigned burst = 1 + draw(32); burst > 0 && game.left > 0; burst--, game.left--)
            operate(me);
        if (game.left > 0 && pass(me))
            await_turn(me);
    }
    let_go_of_all(me);
    game.over[me] = true;
    pass(me);
    return NULL;
}

static void play_round(void)
{
    pthread_t thread[THREADS];

    game.left = OPERATIONS / ROUNDS;
    for (intptr_t i = 0; i < THREADS; i++) {
        game.over[i] = game.waits[i] = false;
        want("create", 0, pthread_create(&thread[i], NULL, play, (void *)i));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* The library marks a mutex that has a cohort in what glibc keeps for robust ones only. */
static unsigned cohorts(void)
{
    unsigned n = 0;

    for (size_t i = 0; i < COUNT(kinds); i++)
        n += (uintptr_t)locks[i].mutex.__data.__list.__next >> 48 == 0xb347;
    return n;
}

int main(int argc, char **argv)
{
    unsigned n = 0;

    make_all(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
    for (int i = 0; i < ROUNDS; i++) {
        play_round();
        n += cohorts();
    }
    printf("%s %s cohorts %u\n", argc > 1 ? argv[1] : "1", wrong ? "wrong" : "right", n);
    return wrong != 0;
}
