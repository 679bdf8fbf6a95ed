/* SPDX-License-Identifier: GPL-2.0-or-later */
/* standing - see standing.h. The domains of CPUs are read when somebody asks for the first time,
 * and anew by one of those who ask when the places have changed: the others go on with what there
 * is. */
#include "tasks/standing.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tasks/forks.h"
#include "tasks/places.h"

#define ASK_AGAIN 16

static struct {
    struct places_source source;
    _Atomic uint8_t of_cpu[PLACES_CPUS];
    _Atomic uint32_t cpus, generation;
    pthread_mutex_t reading;
} standing = {.reading = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static __thread struct {
    uint8_t domain, calls_left;
} mine __attribute__((tls_model("initial-exec")));

/* Under the lock, or once. What is written meanwhile is read at the next look. */
static void read_places(uint32_t generation)
{
    struct places *places = places_read_whole(&standing.source, generation);

    if (!places)
        return;
    for (unsigned i = 0; i < places->n; i++)
        atomic_store_explicit(&standing.of_cpu[places->place[i].cpu],
                              (uint8_t)places->place[i].domain, memory_order_relaxed);
    atomic_store(&standing.cpus, places->n);
    atomic_store(&standing.generation, generation);
    free(places);
}

static void standing_begin(void)
{
    places_open(&standing.source);
    read_places(places_generation(&standing.source));
}

/* Reads them for the first time, or anew. */
static void look(void)
{
    uint32_t now;

    pthread_once(&once, standing_begin);
    now = places_generation(&standing.source);
    if (now % 2 == 1 || now == atomic_load(&standing.generation) ||
        pthread_mutex_trylock(&standing.reading) != 0)
        return;
    read_places(now);
    pthread_mutex_unlock(&standing.reading);
}

static unsigned ask(void)
{
    int before = errno, cpu;

    look();
    cpu = sched_getcpu();
    errno = before;
    return cpu >= 0 && cpu < PLACES_CPUS
               ? atomic_load_explicit(&standing.of_cpu[cpu], memory_order_relaxed)
               : 0;
}

unsigned standing_domain(void)
{
    if (forks_self)
        return (unsigned)load_u32(&forks_self->domain);
    if (mine.calls_left == 0) {
        mine.domain = (uint8_t)ask();
        mine.calls_left = ASK_AGAIN;
    }
    mine.calls_left--;
    return mine.domain;
}

unsigned standing_cpus(void)
{
    int before = errno;

    look();
    errno = before;
    return (unsigned)load_u32(&standing.cpus);
}
