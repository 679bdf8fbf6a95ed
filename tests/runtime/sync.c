/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sync - barriers, condition variables and mutexes of POSIX threads as programs use them; each word
 * of the command line is something done, and "WORD right" is printed where it went as POSIX says.
 * What hangs is ended by who runs it. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8
#define ROUNDS 300
#define ITEMS 4000
#define NS 1000000000L
#define STORM 1000000 /* operations */

static atomic_int wrong;

static void want(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    wrong++;
}
#define WANT(condition) want(condition, #condition)

static void run(void *(*what)(void *), void *arg, size_t n)
{
    pthread_t thread[64];

    for (size_t i = 0; i < n; i++)
        WANT(pthread_create(&thread[i], NULL, what, arg) == 0);
    for (size_t i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}

static void *shared_memory(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* What the child's function finds wrong is the parent's, too. */
static void in_child(void (*what)(void *), void *arg)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        wrong = 0;
        what(arg);
        _exit(wrong != 0);
    }
    waitpid(child, &status, 0);
    WANT(status == 0);
}

static struct timespec from_now(clockid_t clock, long ns)
{
    struct timespec time;

    clock_gettime(clock, &time);
    time.tv_nsec += ns;
    time.tv_sec += time.tv_nsec / NS;
    time.tv_nsec %= NS;
    return time;
}

/* ---- barriers ---- */

struct meeting {
    pthread_barrier_t barrier;
    atomic_uint came, told;
};

static void *meet(void *arg)
{
    struct meeting *m = arg;
    int rc;

    for (unsigned round = 1; round <= ROUNDS; round++) {
        m->came++;
        rc = pthread_barrier_wait(&m->barrier);
        WANT(rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
        m->told += rc == PTHREAD_BARRIER_SERIAL_THREAD;
        WANT(m->came >= round * THREADS && m->came < (round + 1) * THREADS + 1);
    }
    return NULL;
}

static void begin_meeting(struct meeting *m, unsigned threads, int shared)
{
    pthread_barrierattr_t attributes;

    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, shared);
    WANT(pthread_barrier_init(&m->barrier, &attributes, threads) == 0);
    m->came = m->told = 0;
}

static void do_barrier(void)
{
    struct meeting m;

    WANT(pthread_barrier_init(&m.barrier, NULL, 0) == EINVAL);
    begin_meeting(&m, THREADS, PTHREAD_PROCESS_PRIVATE);
    run(meet, &m, THREADS);
    WANT(m.told == ROUNDS);
    WANT(pthread_barrier_destroy(&m.barrier) == 0);
}

/* A barrier is no point where a thread can be cancelled, also where it is the first object. */
static void *meet_pending(void *arg)
{
    pthread_barrier_t barrier;

    pthread_cancel(pthread_self());
    WANT(pthread_barrier_init(&barrier, NULL, 1) == 0);
    WANT(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    WANT(pthread_barrier_destroy(&barrier) == 0);
    ++*(atomic_uint *)arg;
    return NULL;
}

static void do_pending(void)
{
    atomic_uint came = 0;

    run(meet_pending, &came, THREADS);
    WANT(came == THREADS);
}

/* Who is told ends the barrier, and its memory becomes another one. */
static void *meet_once(void *arg)
{
    struct meeting *m = arg;

    if (pthread_barrier_wait(&m->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        WANT(pthread_barrier_destroy(&m->barrier) == 0);
        memset(&m->barrier, 0x5a, sizeof(m->barrier));
        begin_meeting(m, 3, PTHREAD_PROCESS_PRIVATE);
        WANT(pthread_barrier_destroy(&m->barrier) == 0);
    }
    return NULL;
}

static void do_destroy(void)
{
    struct meeting m;

    for (int i = 0; i < ROUNDS; i++) {
        begin_meeting(&m, THREADS, PTHREAD_PROCESS_PRIVATE);
        run(meet_once, &m, THREADS);
    }
}

static void meet_in_child(void *arg)
{
    run(meet, arg, THREADS / 2);
}

static void do_shared_barrier(void)
{
    struct meeting *m = shared_memory(sizeof(*m));
    pid_t child;
    int status;

    begin_meeting(m, THREADS, PTHREAD_PROCESS_SHARED);
    child = fork();
    if (child == 0) {
        meet_in_child(m);
        _exit(wrong != 0);
    }
    run(meet, m, THREADS / 2);
    waitpid(child, &status, 0);
    WANT(status == 0);
    WANT(m->told == ROUNDS);
    WANT(pthread_barrier_destroy(&m->barrier) == 0);
}

static void meet_anew(void *arg)
{
    struct meeting *m = arg;

    m->came = m->told = 0;
    run(meet, m, THREADS);
    WANT(m->told == ROUNDS);
}

/* A barrier made before a fork is as new in the child, whatever the parent does with it. */
static void do_fork_barrier(void)
{
    struct meeting m;

    begin_meeting(&m, THREADS, PTHREAD_PROCESS_PRIVATE);
    run(meet, &m, THREADS);
    in_child(meet_anew, &m);
    meet_anew(&m);
    WANT(pthread_barrier_destroy(&m.barrier) == 0);
}

/* ---- condition variables ---- */

struct buffer {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    unsigned n, limit;
    uint64_t put, got, left;
};

static void *put_items(void *arg)
{
    struct buffer *b = arg;

    for (unsigned i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&b->mutex);
        while (b->n == b->limit)
            pthread_cond_wait(&b->not_full, &b->mutex);
        b->n++;
        b->put++;
        pthread_mutex_unlock(&b->mutex);
        pthread_cond_signal(&b->not_empty);
    }
    return NULL;
}

static void *get_items(void *arg)
{
    struct buffer *b = arg;

    for (unsigned i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&b->mutex);
        while (b->n == 0)
            pthread_cond_wait(&b->not_empty, &b->mutex);
        b->n--;
        b->got++;
        pthread_cond_signal(&b->not_full);
        pthread_mutex_unlock(&b->mutex);
    }
    return NULL;
}

static void *put_or_get(void *arg)
{
    static atomic_uint turn;

    return turn++ % 2 ? put_items(arg) : get_items(arg);
}

static void use_buffer(void *arg)
{
    struct buffer *b = arg;

    b->put = b->got = b->n = 0;
    run(put_or_get, b, THREADS);
    WANT(b->put == THREADS / 2 * ITEMS && b->got == b->put && b->n == 0);
}

static void do_queue(void)
{
    static struct buffer b = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                              .not_full = PTHREAD_COND_INITIALIZER,
                              .not_empty = PTHREAD_COND_INITIALIZER,
                              .limit = 3};

    use_buffer(&b);
    in_child(use_buffer, &b);
    use_buffer(&b);
    WANT(pthread_cond_destroy(&b.not_full) == 0 && pthread_cond_destroy(&b.not_empty) == 0);
}

static void make_mutex(pthread_mutex_t *mutex, int type, int robust, int protocol, int shared)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setpshared(&attributes, shared);
    WANT(pthread_mutex_init(mutex, &attributes) == 0);
}

/* Every kind of mutex with the same condition variables, one after the other. */
static void do_kinds(void)
{
    static const int kind[][3] = {
        {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE},
        {PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE},
        {PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE},
        {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE},
        {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT}};
    struct buffer b = {
        .not_full = PTHREAD_COND_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER, .limit = 2};

    for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
        make_mutex(&b.mutex, kind[i][0], kind[i][1], kind[i][2], PTHREAD_PROCESS_PRIVATE);
        use_buffer(&b);
        WANT(pthread_mutex_destroy(&b.mutex) == 0);
    }
}

static void put_in_child(void *arg)
{
    run(put_items, arg, THREADS / 2);
}

static void do_shared_cond(void)
{
    struct buffer *b = shared_memory(sizeof(*b));
    pthread_condattr_t attributes;
    pid_t child;
    int status;

    b->limit = 3;
    pthread_condattr_init(&attributes);
    pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&b->not_full, &attributes);
    pthread_cond_init(&b->not_empty, &attributes);
    make_mutex(&b->mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE,
               PTHREAD_PROCESS_SHARED);
    child = fork();
    if (child == 0) {
        put_in_child(b);
        _exit(wrong != 0);
    }
    run(get_items, b, THREADS / 2);
    waitpid(child, &status, 0);
    WANT(status == 0 && b->got == THREADS / 2 * ITEMS && b->put == b->got);
}

struct herd {
    pthread_mutex_t mutex;
    pthread_cond_t called, gathered;
    unsigned round, waiting;
    bool broadcast;
};

static void *be_called(void *arg)
{
    struct herd *h = arg;

    pthread_mutex_lock(&h->mutex);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        if (++h->waiting == THREADS)
            pthread_cond_signal(&h->gathered);
        while (h->round < round)
            pthread_cond_wait(&h->called, &h->mutex);
    }
    pthread_mutex_unlock(&h->mutex);
    return NULL;
}

/* Calls when all wait: by one broadcast, or a signal for each; with the mutex, and without. */
static void *call(void *arg)
{
    struct herd *h = arg;

    for (unsigned round = 1; round <= ROUNDS; round++) {
        pthread_mutex_lock(&h->mutex);
        while (h->waiting < THREADS)
            pthread_cond_wait(&h->gathered, &h->mutex);
        h->waiting = 0;
        h->round = round;
        if (round % 2)
            pthread_mutex_unlock(&h->mutex);
        for (int i = 0; i < (h->broadcast ? 1 : THREADS); i++)
            h->broadcast ? pthread_cond_broadcast(&h->called) : pthread_cond_signal(&h->called);
        if (round % 2 == 0)
            pthread_mutex_unlock(&h->mutex);
    }
    return NULL;
}

static void *call_or_be_called(void *arg)
{
    static atomic_uint turn;

    return turn++ % (THREADS + 1) ? be_called(arg) : call(arg);
}

static void do_herd(void)
{
    for (int broadcast = 0; broadcast < 2; broadcast++) {
        struct herd h = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                         .called = PTHREAD_COND_INITIALIZER,
                         .gathered = PTHREAD_COND_INITIALIZER,
                         .broadcast = broadcast};

        run(call_or_be_called, &h, THREADS + 1);
        WANT(pthread_cond_destroy(&h.called) == 0 && pthread_cond_destroy(&h.gathered) == 0);
    }
}

/* The one that was woken last ends what the others were woken from, and its memory. */
static void *leave_herd(void *arg)
{
    struct herd *h = arg;
    bool last;

    pthread_mutex_lock(&h->mutex);
    h->waiting++;
    pthread_cond_signal(&h->gathered);
    while (!h->round)
        pthread_cond_wait(&h->called, &h->mutex);
    last = --h->waiting == 0;
    pthread_mutex_unlock(&h->mutex);
    return last ? arg : NULL;
}

static void do_destroy_cond(void)
{
    pthread_t thread[THREADS];

    for (int i = 0; i < ROUNDS; i++) {
        struct herd h = {.mutex = PTHREAD_MUTEX_INITIALIZER, .gathered = PTHREAD_COND_INITIALIZER};

        WANT(pthread_cond_init(&h.called, NULL) == 0);
        for (size_t k = 0; k < THREADS; k++)
            pthread_create(&thread[k], NULL, leave_herd, &h);
        pthread_mutex_lock(&h.mutex);
        while (h.waiting < THREADS)
            pthread_cond_wait(&h.gathered, &h.mutex);
        h.round = 1;
        pthread_cond_broadcast(&h.called);
        WANT(pthread_cond_destroy(&h.called) == 0);
        memset(&h.called, 0x5a, sizeof(h.called));
        pthread_mutex_unlock(&h.mutex);
        for (size_t k = 0; k < THREADS; k++)
            pthread_join(thread[k], NULL);
    }
}

/* Waits for nothing, until a time. */
static int wait_until(pthread_cond_t *cond, clockid_t clock, bool by_clock, long ns)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct timespec until = from_now(clock, ns);
    int rc;

    pthread_mutex_lock(&mutex);
    rc = by_clock ? pthread_cond_clockwait(cond, &mutex, clock, &until)
                  : pthread_cond_timedwait(cond, &mutex, &until);
    WANT(pthread_mutex_trylock(&mutex) == EBUSY);
    until = from_now(clock, 0);
    pthread_mutex_unlock(&mutex);
    return rc;
}

static void do_timed(void)
{
    pthread_cond_t real = PTHREAD_COND_INITIALIZER, monotonic;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct timespec bad = {0, NS}, before = {-1, 0};
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    WANT(pthread_cond_init(&monotonic, &attributes) == 0);
    for (long ns = 0; ns < 30000000; ns = ns * 3 + 1000) {
        WANT(wait_until(&real, CLOCK_REALTIME, false, ns) == ETIMEDOUT);
        WANT(wait_until(&real, CLOCK_MONOTONIC, true, ns) == ETIMEDOUT);
        WANT(wait_until(&monotonic, CLOCK_MONOTONIC, false, ns) == ETIMEDOUT);
        WANT(wait_until(&monotonic, CLOCK_REALTIME, true, ns) == ETIMEDOUT);
    }
    pthread_mutex_lock(&mutex);
    WANT(pthread_cond_timedwait(&real, &mutex, &bad) == EINVAL);
    WANT(pthread_cond_clockwait(&real, &mutex, CLOCK_MONOTONIC, &bad) == EINVAL);
    WANT(pthread_cond_clockwait(&real, &mutex, CLOCK_PROCESS_CPUTIME_ID, &before) == EINVAL);
    WANT(pthread_cond_timedwait(&real, &mutex, &before) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
}

struct cancelled {
    struct buffer *buffer;
    bool had_mutex;
};

static void note_mutex(void *arg)
{
    struct cancelled *c = arg;

    c->had_mutex = pthread_mutex_trylock(&c->buffer->mutex) == EBUSY;
    pthread_mutex_unlock(&c->buffer->mutex);
}

static void *wait_and_be_cancelled(void *arg)
{
    struct cancelled c = {arg, false};

    pthread_mutex_lock(&c.buffer->mutex);
    c.buffer->put++;
    pthread_cleanup_push(note_mutex, &c);
    while (c.buffer->n == 0)
        pthread_cond_wait(&c.buffer->not_empty, &c.buffer->mutex);
    pthread_cleanup_pop(0);
    c.buffer->n--;
    c.buffer->got++;
    pthread_mutex_unlock(&c.buffer->mutex);
    return NULL;
}

/* Of two that wait one is cancelled while one signal comes: the other has it, or the item was taken
 * by who was to be cancelled, and was not. */
static void do_cancel(void)
{
    struct buffer b = {.mutex = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER};
    pthread_t thread[2];
    void *result;

    for (int i = 0; i < ROUNDS; i++) {
        b.n = 0;
        b.put = b.got = 0;
        for (int k = 0; k < 2; k++)
            pthread_create(&thread[k], NULL, wait_and_be_cancelled, &b);
        while (pthread_mutex_lock(&b.mutex), b.put < 2)
            pthread_mutex_unlock(&b.mutex);
        b.n = 1;
        if (i % 3 == 0)
            pthread_cancel(thread[0]);
        pthread_cond_signal(&b.not_empty);
        pthread_mutex_unlock(&b.mutex);
        if (i % 3 != 0)
            pthread_cancel(thread[i % 2]);
        while (pthread_mutex_lock(&b.mutex), b.got < 1)
            pthread_mutex_unlock(&b.mutex);
        pthread_mutex_unlock(&b.mutex);
        pthread_cancel(thread[0]);
        pthread_cancel(thread[1]);
        for (int k = 0; k < 2; k++)
            pthread_join(thread[k], &result);
        WANT(b.got == 1 && b.n == 0);
        WANT(pthread_mutex_trylock(&b.mutex) == 0);
        pthread_mutex_unlock(&b.mutex);
    }
}

/* A mutex that somebody waits with for a condition has a user: it is not destroyed. Who has not got
 * it does not wait with it. */
static void do_users(void)
{
    static const int kind[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK,
                               PTHREAD_MUTEX_ADAPTIVE_NP};
    struct buffer b = {.not_empty = PTHREAD_COND_INITIALIZER};
    pthread_t thread;

    for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
        make_mutex(&b.mutex, kind[i], PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE,
                   PTHREAD_PROCESS_PRIVATE);
        if (kind[i] == PTHREAD_MUTEX_ERRORCHECK)
            WANT(pthread_cond_wait(&b.not_empty, &b.mutex) == EPERM);
        b.n = b.put = b.got = 0;
        for (int cancelled = 0; cancelled < 2; cancelled++) {
            pthread_create(&thread, NULL, wait_and_be_cancelled, &b);
            while (pthread_mutex_lock(&b.mutex), b.put == (unsigned)cancelled)
                pthread_mutex_unlock(&b.mutex);
            b.n = !cancelled;
            pthread_mutex_unlock(&b.mutex);
            WANT(pthread_mutex_destroy(&b.mutex) == EBUSY);
            if (cancelled)
                pthread_cancel(thread);
            pthread_cond_signal(&b.not_empty);
            pthread_join(thread, NULL);
        }
        WANT(b.got == 1);
        WANT(pthread_mutex_destroy(&b.mutex) == 0);
    }
}

/* ---- a storm ---- */

/* Tokens are put and taken in every way there is. Each taken one was put, and nobody waits for
 * ever: at the end more is put than is waited for. */
struct cell {
    pthread_mutex_t mutex;
    pthread_cond_t any, none;
    uint64_t tokens, put, taken;
};

static struct {
    struct cell cell[5];
    atomic_uint seed;
    atomic_long operations, waiting;
    pthread_barrier_t barrier;
} storm;

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % below;
}

static void put_tokens(struct cell *c, unsigned n, bool outside)
{
    pthread_mutex_lock(&c->mutex);
    c->tokens += n;
    c->put += n;
    if (outside)
        pthread_mutex_unlock(&c->mutex);
    if (n == 1)
        pthread_cond_signal(&c->any);
    else
        pthread_cond_broadcast(&c->any);
    if (!outside)
        pthread_mutex_unlock(&c->mutex);
}

/* ns: how long to wait at most; 0: as long as it takes. */
static void take_token(struct cell *c, long ns)
{
    struct timespec until = from_now(CLOCK_REALTIME, ns);
    int rc = 0;

    pthread_mutex_lock(&c->mutex);
    while (c->tokens == 0 && rc == 0)
        rc = ns ? pthread_cond_timedwait(&c->any, &c->mutex, &until)
                : pthread_cond_wait(&c->any, &c->mutex);
    WANT(rc == 0 || (ns && rc == ETIMEDOUT));
    if (c->tokens > 0) {
        c->tokens--;
        c->taken++;
        if (c->tokens == 0)
            pthread_cond_broadcast(&c->none);
    }
    pthread_mutex_unlock(&c->mutex);
}

static void *storm_about(void *unused)
{
    unsigned state = storm.seed++;
    struct cell *c;

    (void)unused;
    while (storm.operations-- > 0) {
        c = &storm.cell[draw(&state, 5)];
        switch (draw(&state, 8)) {
        case 0:
            put_tokens(c, 1, false);
            break;
        case 1:
            put_tokens(c, 1, true);
            break;
        case 2:
            put_tokens(c, 1 + draw(&state, 4), draw(&state, 2));
            break;
        case 3:
            take_token(c, 1 + draw(&state, 50000));
            break;
        case 4:
            if (pthread_mutex_trylock(&c->mutex) == 0)
                pthread_mutex_unlock(&c->mutex);
            break;
        default:
            if (storm.waiting++ < THREADS - 2)
                take_token(c, 0);
            storm.waiting--;
        }
    }
    for (int i = 0; i < 5; i++)
        put_tokens(&storm.cell[i], THREADS, i % 2);
    pthread_barrier_wait(&storm.barrier);
    return NULL;
}

static void do_storm(unsigned seed)
{
    storm.seed = seed;
    storm.operations = STORM;
    for (int i = 0; i < 5; i++) {
        pthread_mutex_init(&storm.cell[i].mutex, NULL);
        pthread_cond_init(&storm.cell[i].any, NULL);
        pthread_cond_init(&storm.cell[i].none, NULL);
    }
    pthread_barrier_init(&storm.barrier, NULL, THREADS);
    run(storm_about, NULL, THREADS);
    for (int i = 0; i < 5; i++)
        WANT(storm.cell[i].put - storm.cell[i].taken == storm.cell[i].tokens);
    pthread_barrier_destroy(&storm.barrier);
}

/* ---- words ---- */

static const struct {
    const char *name;
    void (*what)(void);
} words[] = {{"pending", do_pending},
             {"barrier", do_barrier},
             {"destroy", do_destroy},
             {"shared-barrier", do_shared_barrier},
             {"fork-barrier", do_fork_barrier},
             {"queue", do_queue},
             {"kinds", do_kinds},
             {"shared-cond", do_shared_cond},
             {"herd", do_herd},
             {"destroy-cond", do_destroy_cond},
             {"timed", do_timed},
             {"cancel", do_cancel},
             {"users", do_users}};

static void obey(const char *word)
{
    if (strncmp(word, "storm=", 6) == 0)
        do_storm((unsigned)atoi(word + 6));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(word, words[i].name) == 0)
            words[i].what();
    printf("%s %s\n", word, wrong ? "wrong" : "right");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        obey(argv[i]);
    return wrong != 0;
}
