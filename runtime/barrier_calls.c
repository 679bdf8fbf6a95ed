/* SPDX-License-Identifier: GPL-2.0-or-later */
/* barrier_calls - the program's barriers are those of barrier.h, as the page says (RT_FLEX).
 *
 * Whose a barrier is, is decided when it is made, and stays. libc's is made each time, also where
 * it is not used: it knows best what is an error; it is what there is where we have no memory, in
 * other processes, and in a child of fork, where the table is empty and nobody is at the barrier. A
 * barrier that is shared between processes, or for very many threads, is libc's. */
#include <errno.h>
#include <pthread.h>

#include "runtime/barrier.h"
#include "runtime/next.h"
#include "runtime/rt.h"
#include "runtime/said.h"
#include "runtime/table.h"

#define EXPORTED __attribute__((visibility("default")))

NEXT(pthread_barrier_init, NULL)
NEXT(pthread_barrier_wait, NULL)
NEXT(pthread_barrier_destroy, NULL)

static struct table barriers;

static bool is_private(const pthread_barrierattr_t *attributes)
{
    int shared = PTHREAD_PROCESS_PRIVATE;

    return !attributes || (pthread_barrierattr_getpshared(attributes, &shared) == 0 &&
                           shared == PTHREAD_PROCESS_PRIVATE);
}

static void make(const pthread_barrier_t *barrier, unsigned threads, const struct rt_page *page)
{
    struct barrier *made = barrier_make(threads);

    if (made && table_add(&barriers, barrier, made))
        said_object(page);
    else if (made)
        barrier_end(made);
}

EXPORTED int pthread_barrier_init(pthread_barrier_t *restrict barrier,
                                  const pthread_barrierattr_t *restrict attributes,
                                  unsigned threads)
{
    __typeof__(pthread_barrier_init) *next = next_pthread_barrier_init();
    int rc = next ? next(barrier, attributes, threads) : ENOSYS;
    const struct rt_page *page = rc == 0 ? rt_page(RT_FLEX) : NULL;

    if (rc == 0)
        table_drop(&barriers, barrier); /* one that was not destroyed */
    if (page && threads <= BARRIER_THREADS_MAX && is_private(attributes))
        make(barrier, threads, page);
    return rc;
}

EXPORTED int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct barrier *ours = table_find(&barriers, barrier);
    __typeof__(pthread_barrier_wait) *next = next_pthread_barrier_wait();

    if (ours)
        return barrier_wait(ours) ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
    return next ? next(barrier) : ENOSYS;
}

EXPORTED int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    struct barrier *ours = table_drop(&barriers, barrier);
    __typeof__(pthread_barrier_destroy) *next = next_pthread_barrier_destroy();

    if (ours)
        barrier_end(ours);
    return next ? next(barrier) : ENOSYS;
}
