/* SPDX-License-Identifier: GPL-2.0-or-later */
/* locks - a program of POSIX threads that fight for mutexes in every way that there is.
 *
 *   locks WORD..      says of each word whether all was right, and what was handed over by a cohort
 *
 * Whether a mutex has one is seen in its links, which glibc leaves alone (runtime/mutex.c). */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "enum_table.h"

#define THREADS 6
#define ROUNDS 600

#define MUST(what)                                                                                 \
    do                                                                                             \
        if (!(what)) {                                                                             \
            printf("line %d wrong: %s\n", __LINE__, #what);                                        \
            fflush(stdout);                                                                        \
            _exit(1);                                                                              \
        }                                                                                          \
    while (0)

typedef void body(void *arg, unsigned thread);

struct call {
    body *run;
    void *arg;
    unsigned thread;
};

static bool pending; /* each thread is about to be cancelled, at the next point where it can be */

static void *begin(void *arg)
{
    struct call *call = arg;

    errno = 77;
    if (pending)
        pthread_cancel(pthread_self());
    call->run(call->arg, call->thread);
    return NULL;
}

/* Has so many threads run it. */
static void together(body *run, void *arg, unsigned threads)
{
    pthread_t thread[64];
    struct call call[64];

    for (unsigned i = 0; i < threads; i++) {
        call[i] = (struct call){run, arg, i};
        MUST(pthread_create(&thread[i], NULL, begin, &call[i]) == 0);
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

static bool has_cohort(pthread_mutex_t *mutex)
{
    return (size_t)mutex->__data.__list.__next >> 48 == 0xb347;
}

/* ---- what a mutex guards ---- */

struct guarded {
    pthread_mutex_t mutex;
    long sum, in;
};

/* The next ones come while it is held: sometimes its thread gives its CPU away. */
static void hold(struct guarded *guarded)
{
    MUST(guarded->in++ == 0);
    if (guarded->sum++ % 4 == 0)
        sched_yield();
    guarded->in--;
}

static void fight(void *arg, unsigned thread)
{
    struct guarded *guarded = arg;

    (void)thread;
    for (int i = 0; i < ROUNDS; i++) {
        MUST(pthread_mutex_lock(&guarded->mutex) == 0);
        hold(guarded);
        MUST(pthread_mutex_unlock(&guarded->mutex) == 0);
    }
    MUST(errno == 77);
}

/* Is it of a kind that may have a cohort, and is there a page that may say so? */
static bool may_have_cohort(const pthread_mutex_t *mutex)
{
    int kind = mutex->__data.__kind & ~512;

    return getenv("BERTH_RT_PAGE") && (kind == 0 || kind == PTHREAD_MUTEX_ADAPTIVE_NP);
}

/* Often enough for a cohort, unless there will be none. */
static void fight_for(struct guarded *guarded)
{
    long before;
    int times = 0;

    do {
        before = guarded->sum;
        together(fight, guarded, THREADS);
        MUST(guarded->sum == before + THREADS * ROUNDS);
    } while (may_have_cohort(&guarded->mutex) && !has_cohort(&guarded->mutex) && times++ < 20);
}

static void say(const char *word, bool cohort)
{
    printf("%s %s\n", word, cohort ? "cohort" : "plain");
}

static void sum(const char *word)
{
    static struct guarded guarded = {.mutex = PTHREAD_MUTEX_INITIALIZER};

    fight_for(&guarded);
    say(word, has_cohort(&guarded.mutex));
}

/* ---- kinds ---- */

enum { NORMAL, DEFAULT, ADAPTIVE, RECURSIVE, CHECKING, ROBUST, SHARED, INHERITING, KINDS };

static const char *const TABLE(kind_name, KINDS) = {
    ROW(NORMAL) = "normal",       ROW(DEFAULT) = "default",       ROW(ADAPTIVE) = "adaptive",
    ROW(RECURSIVE) = "recursive", ROW(CHECKING) = "checking",     ROW(ROBUST) = "robust",
    ROW(SHARED) = "shared",       ROW(INHERITING) = "inheriting",
};
TABLE_COMPLETE(kind_name);

static void make(pthread_mutex_t *mutex, int kind)
{
    static const int SPARSE(type, KINDS) = {[NORMAL] = PTHREAD_MUTEX_NORMAL,
                                            [ADAPTIVE] = PTHREAD_MUTEX_ADAPTIVE_NP,
                                            [RECURSIVE] = PTHREAD_MUTEX_RECURSIVE,
                                            [CHECKING] = PTHREAD_MUTEX_ERRORCHECK};
    pthread_mutexattr_t attributes;

    MUST(pthread_mutexattr_init(&attributes) == 0);
    if (kind == NORMAL || kind == ADAPTIVE || kind == RECURSIVE || kind == CHECKING)
        MUST(pthread_mutexattr_settype(&attributes, type[kind]) == 0);
    if (kind == ROBUST)
        MUST(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    if (kind == SHARED)
        MUST(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    if (kind == INHERITING)
        MUST(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    MUST(pthread_mutex_init(mutex, &attributes) == 0);
    MUST(pthread_mutexattr_destroy(&attributes) == 0);
}

static void die_with(void *mutex, unsigned thread)
{
    (void)thread;
    MUST(pthread_mutex_lock(mutex) == 0);
}

static void check_kind(pthread_mutex_t *mutex, int kind)
{
    if (kind == ROBUST) {
        together(die_with, mutex, 1);
        MUST(pthread_mutex_lock(mutex) == EOWNERDEAD);
        MUST(pthread_mutex_consistent(mutex) == 0);
    } else {
        MUST(pthread_mutex_lock(mutex) == 0);
    }
    if (kind == RECURSIVE) {
        MUST(pthread_mutex_lock(mutex) == 0);
        MUST(pthread_mutex_unlock(mutex) == 0);
    } else {
        MUST(pthread_mutex_trylock(mutex) == EBUSY);
    }
    if (kind == CHECKING)
        MUST(pthread_mutex_lock(mutex) == EDEADLK);
    if (kind < RECURSIVE)
        MUST(pthread_mutex_destroy(mutex) == EBUSY);
    MUST(pthread_mutex_unlock(mutex) == 0);
    if (kind == CHECKING)
        MUST(pthread_mutex_unlock(mutex) == EPERM);
}

static void kinds(const char *word)
{
    struct guarded guarded = {.in = 0};

    (void)word;
    for (int kind = 0; kind < KINDS; kind++) {
        make(&guarded.mutex, kind);
        fight_for(&guarded);
        check_kind(&guarded.mutex, kind);
        fight_for(&guarded);
        say(kind_name[kind], has_cohort(&guarded.mutex));
        MUST(pthread_mutex_destroy(&guarded.mutex) == 0);
    }
}

/* ---- tries and times ---- */

static void later(clockid_t clock, long ms, struct timespec *when)
{
    clock_gettime(clock, when);
    when->tv_nsec += ms * 1000000;
    when->tv_sec += when->tv_nsec / 1000000000;
    when->tv_nsec %= 1000000000;
}

/* Each thread locks in its way, all four until they have it. */
static void mixed_body(void *arg, unsigned thread)
{
    struct guarded *guarded = arg;
    struct timespec when;
    int rc;

    for (int i = 0; i < ROUNDS; i++) {
        do {
            later(thread % 4 == 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC, i % 8 ? 1 : 1000, &when);
            rc = thread % 4 == 0   ? pthread_mutex_lock(&guarded->mutex)
                 : thread % 4 == 1 ? pthread_mutex_trylock(&guarded->mutex)
                 : thread % 4 == 2
                     ? pthread_mutex_timedlock(&guarded->mutex, &when)
                     : pthread_mutex_clocklock(&guarded->mutex, CLOCK_MONOTONIC, &when);
            MUST(rc == 0 || (rc == EBUSY && thread % 4 == 1) ||
                 (rc == ETIMEDOUT && thread % 4 > 1));
            if (rc == EBUSY)
                sched_yield();
        } while (rc != 0);
        hold(guarded);
        MUST(pthread_mutex_unlock(&guarded->mutex) == 0);
    }
}

static void mixed(const char *word)
{
    static struct guarded guarded = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct timespec when;

    fight_for(&guarded);
    guarded.sum = 0;
    together(mixed_body, &guarded, 8);
    MUST(guarded.sum == 8 * ROUNDS);
    MUST(pthread_mutex_lock(&guarded.mutex) == 0);
    later(CLOCK_REALTIME, 0, &when);
    MUST(pthread_mutex_timedlock(&guarded.mutex, &when) == ETIMEDOUT);
    MUST(pthread_mutex_trylock(&guarded.mutex) == EBUSY);
    MUST(pthread_mutex_unlock(&guarded.mutex) == 0);
    say(word, has_cohort(&guarded.mutex));
}

/* ---- conditions ---- */

#define ROOM 4

static struct {
    struct guarded guarded;
    pthread_cond_t not_full, not_empty;
    int items;
    long put, got;
} buffer = {
    {PTHREAD_MUTEX_INITIALIZER, 0, 0}, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};

/* Waits once for the condition, with no time, a short one, or a long one. */
static void wait_for(pthread_cond_t *condition, int way)
{
    struct timespec when;
    int rc = 0;

    if (way % 3 == 0)
        rc = pthread_cond_wait(condition, &buffer.guarded.mutex);
    later(way % 3 == 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC, way % 2 ? 1 : 1000, &when);
    if (way % 3 == 1)
        rc = pthread_cond_timedwait(condition, &buffer.guarded.mutex, &when);
    if (way % 3 == 2)
        rc = pthread_cond_clockwait(condition, &buffer.guarded.mutex, CLOCK_MONOTONIC, &when);
    MUST(rc == 0 || (rc == ETIMEDOUT && way % 3 != 0));
}

static void put(int way)
{
    while (buffer.items == ROOM)
        wait_for(&buffer.not_full, way);
    hold(&buffer.guarded);
    buffer.items++;
    buffer.put++;
    if (way % 2)
        pthread_cond_signal(&buffer.not_empty);
    else
        pthread_cond_broadcast(&buffer.not_empty);
}

static void get(int way)
{
    while (buffer.items == 0)
        wait_for(&buffer.not_empty, way);
    hold(&buffer.guarded);
    buffer.items--;
    buffer.got++;
    pthread_cond_broadcast(&buffer.not_full);
}

/* Even threads put, odd ones get; beside them some only fight for the mutex. */
static void pass_items(void *arg, unsigned thread)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        MUST(pthread_mutex_lock(&buffer.guarded.mutex) == 0);
        if (thread >= THREADS)
            hold(&buffer.guarded);
        else if (thread % 2 == 0)
            put(i);
        else
            get(i);
        MUST(pthread_mutex_unlock(&buffer.guarded.mutex) == 0);
    }
}

static void conditions(const char *word)
{
    fight_for(&buffer.guarded);
    together(pass_items, NULL, THREADS + 2);
    MUST(buffer.items == 0 && buffer.put == buffer.got && buffer.put == THREADS / 2 * ROUNDS);
    say(word, has_cohort(&buffer.guarded.mutex));
}

static void unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

static void *wait_to_be_cancelled(void *arg)
{
    MUST(pthread_mutex_lock(&buffer.guarded.mutex) == 0);
    buffer.items = -1;
    pthread_cleanup_push(unlock, &buffer.guarded.mutex);
    for (;;)
        pthread_cond_wait(&buffer.not_full, &buffer.guarded.mutex);
    pthread_cleanup_pop(0);
    return arg;
}

/* Who is cancelled in a wait has the mutex again in its handlers. */
static void cancelled(const char *word)
{
    pthread_t thread;
    int items = 0;

    fight_for(&buffer.guarded);
    MUST(pthread_create(&thread, NULL, wait_to_be_cancelled, NULL) == 0);
    while (items == 0) {
        pthread_mutex_lock(&buffer.guarded.mutex);
        items = buffer.items;
        pthread_mutex_unlock(&buffer.guarded.mutex);
        sched_yield();
    }
    MUST(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0);
    buffer.items = 0;
    fight_for(&buffer.guarded);
    say(word, has_cohort(&buffer.guarded.mutex));
}

/* Locking is no point where a thread can be cancelled, whatever the library does there for the
 * first time, or once a second. */
static void pends(const char *word)
{
    static struct guarded guarded = {.mutex = PTHREAD_MUTEX_INITIALIZER};

    pending = true;
    fight_for(&guarded);
    pending = false;
    say(word, has_cohort(&guarded.mutex));
}

/* ---- fork ---- */

static struct guarded forked = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void lock_forked(void)
{
    pthread_mutex_lock(&forked.mutex);
}

static void unlock_forked(void)
{
    pthread_mutex_unlock(&forked.mutex);
}

/* While the others fight, some fork: the child has the mutex as its thread had it. */
static void fork_body(void *arg, unsigned thread)
{
    int status;
    pid_t child;

    fight(arg, thread);
    if (thread > 1)
        return;
    for (int i = 0; i < 6; i++) {
        child = fork();
        MUST(child >= 0);
        if (child == 0) {
            forked.in = 0;
            fight_for(&forked);
            _exit(0);
        }
        MUST(waitpid(child, &status, 0) == child && status == 0);
        errno = 77;
        fight(arg, thread);
    }
}

static void forks(const char *word)
{
    MUST(pthread_atfork(lock_forked, unlock_forked, unlock_forked) == 0);
    fight_for(&forked);
    together(fork_body, &forked, THREADS);
    say(word, has_cohort(&forked.mutex));
}

/* ---- spin locks ---- */

/* What the library knows of it, where it is in the program. */
extern void *cohorts_find(const void *lock) __attribute__((weak));

static pthread_spinlock_t spin_lock;
static struct guarded spun;

static void spin_body(void *arg, unsigned thread)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        if (thread % 2 == 0)
            MUST(pthread_spin_lock(&spin_lock) == 0);
        else
            while (pthread_spin_trylock(&spin_lock) == EBUSY)
                sched_yield();
        hold(&spun);
        MUST(pthread_spin_unlock(&spin_lock) == 0);
    }
}

static bool spin_has_cohort(void)
{
    return cohorts_find && cohorts_find((void *)&spin_lock);
}

/* Once with a lock that was left locked at the address; its child has it as it was. */
static void spins(const char *word)
{
    long fought = 0;
    int status;
    pid_t child;

    for (int i = 0; i < 2; i++) {
        MUST(pthread_spin_init(&spin_lock, PTHREAD_PROCESS_PRIVATE) == 0);
        do {
            together(spin_body, NULL, THREADS);
            fought += THREADS * ROUNDS;
        } while (cohorts_find && !spin_has_cohort());
        MUST(spun.sum == fought);
        MUST(pthread_spin_lock(&spin_lock) == 0);
    }
    MUST(pthread_spin_trylock(&spin_lock) == EBUSY);
    child = fork();
    if (child == 0)
        _exit(pthread_spin_trylock(&spin_lock) != EBUSY || pthread_spin_unlock(&spin_lock) != 0 ||
              pthread_spin_lock(&spin_lock) != 0);
    MUST(waitpid(child, &status, 0) == child && status == 0);
    say(word, spin_has_cohort());
    MUST(pthread_spin_unlock(&spin_lock) == 0);
    MUST(pthread_spin_destroy(&spin_lock) == 0);
    MUST(!spin_has_cohort());
}

/* ---- ends ---- */

struct counted {
    struct guarded guarded;
    int users;
    _Atomic int come, *cohorts;
};

/* The last one destroys it as soon as he has the mutex: those before are still in their unlock. */
static void leave(void *arg, unsigned thread)
{
    struct counted *counted = arg;
    bool last;

    atomic_fetch_add(&counted->come, 1);
    while (atomic_load(&counted->come) < THREADS)
        sched_yield(); /* else one may be done before the next begins: nobody waits then */
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&counted->guarded.mutex);
        hold(&counted->guarded);
        pthread_mutex_unlock(&counted->guarded.mutex);
    }
    (void)thread;
    pthread_mutex_lock(&counted->guarded.mutex);
    last = --counted->users == 0;
    pthread_mutex_unlock(&counted->guarded.mutex);
    if (!last)
        return;
    *counted->cohorts += has_cohort(&counted->guarded.mutex);
    MUST(pthread_mutex_destroy(&counted->guarded.mutex) == 0);
    memset(counted, 0xff, sizeof(*counted));
    free(counted);
}

/* Few of them are fought for so much that they have a cohort: one has to be seen, in
 * so many seconds as PATIENCE says (60). */
static void destroyed(const char *word)
{
    struct counted *counted;
    _Atomic int cohorts = 0;
    const char *patience = getenv("PATIENCE");
    time_t until = time(NULL) + (patience ? atoi(patience) : 60);

    for (int i = 0; i < 300 || (cohorts == 0 && time(NULL) < until); i++) {
        counted = calloc(1, sizeof(*counted));
        counted->users = THREADS;
        counted->cohorts = &cohorts;
        MUST(pthread_mutex_init(&counted->guarded.mutex, NULL) == 0);
        together(leave, counted, THREADS);
    }
    say(word, cohorts > 0);
}

/* Memory in which there was a mutex that nobody destroyed, locked or not, is a new one's. */
static void reused(const char *word)
{
    static struct guarded guarded[2];
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    unsigned cohorts = 0;

    for (int i = 0; i < 6; i++) {
        guarded[0].mutex = fresh;
        fight_for(&guarded[0]);
        cohorts += has_cohort(&guarded[0].mutex);
        MUST(pthread_mutex_lock(&guarded[0].mutex) == 0);
    }
    memcpy(&guarded[1], &guarded[0], sizeof(guarded[1]));
    MUST(pthread_mutex_unlock(&guarded[1].mutex) == 0);
    MUST(pthread_mutex_trylock(&guarded[1].mutex) == 0);
    MUST(pthread_mutex_unlock(&guarded[1].mutex) == 0);
    fight_for(&guarded[1]);
    say(word, cohorts == 6);
}

static const struct {
    const char *word;
    void (*run)(const char *word);
} words[] = {{"sum", sum},
             {"kinds", kinds},
             {"mixed", mixed},
             {"conditions", conditions},
             {"cancelled", cancelled},
             {"pends", pends},
             {"forks", forks},
             {"destroyed", destroyed},
             {"reused", reused},
             {"spins", spins}};

int main(int argc, char **argv)
{
    errno = 77;
    for (int i = 1; i < argc; i++)
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
            if (strcmp(argv[i], words[w].word) == 0)
                words[w].run(argv[i]);
    return 0;
}
