/* SPDX-License-Identifier: GPL-2.0-or-later */
/* said - see said.h.
 *
 * A record is written through a descriptor that is open for no longer than that: one that was kept
 * could be closed by the program, and be a file of its own when we write next. The FIFO is opened
 * to read, too, so that it always has a reader, and no SIGPIPE comes when berthd has died. What
 * could not be said stays counted for the next record.
 *
 * Each count is taken out of its atomic by who says it, so that none is said twice. One thread says
 * at a time; another that comes meanwhile leaves it at counting. A child of fork begins with
 * nothing: what its parent counted, and was surprised by, is its parent's. */
#include "runtime/said.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cancel.h"

static char said_path[1024 + sizeof(RT_SAID_SUFFIX)];

enum rested { REDUCED, THROTTLED_NS, RESTS, IDLE_NS, FREED, RESTED_COUNTS };

static const struct said_more *_Atomic more; /* NULL: nobody has */

static struct {
    atomic_flag busy;
    _Atomic uint64_t region[SAID_REGIONS];
    _Atomic uint64_t rested[RESTED_COUNTS];
    _Atomic bool turned; /* contention has begun, or ended */
    _Atomic uint32_t objects;
    _Atomic uint32_t generation, threads; /* at the last region that is not nested */
    _Atomic uint32_t surprise;
    _Atomic int32_t detail;
    /* of the last record that was written; for who is busy */
    bool was_first;
    uint32_t said_surprise;
    /* of the last one that was tried */
    _Atomic uint32_t said_generation;
    _Atomic time_t said_at_s;
} said;

static void fill(struct rt_said *record)
{
    *record = (struct rt_said){.version = RT_SAID_VERSION,
                               .pid = (uint32_t)getpid(),
                               .first = !said.was_first,
                               .surprise = atomic_load(&said.surprise),
                               .detail = atomic_load(&said.detail),
                               .generation = atomic_load(&said.generation),
                               .threads = atomic_load(&said.threads),
                               .objects = atomic_exchange(&said.objects, 0),
                               .followed = atomic_exchange(&said.region[SAID_FOLLOWED], 0),
                               .own = atomic_exchange(&said.region[SAID_OWN], 0),
                               .nested = atomic_exchange(&said.region[SAID_NESTED], 0)};
    memcpy(record->magic, RT_SAID_MAGIC, sizeof(record->magic));
}

/* Back to what is still to be said. */
static void take_back(const struct rt_said *record)
{
    atomic_fetch_add(&said.objects, record->objects);
    atomic_fetch_add(&said.region[SAID_FOLLOWED], record->followed);
    atomic_fetch_add(&said.region[SAID_OWN], record->own);
    atomic_fetch_add(&said.region[SAID_NESTED], record->nested);
}

static bool write_record(const void *record)
{
    int fd = open(said_path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
    struct stat file;
    bool written;

    if (fd < 0)
        return false;
    written = fstat(fd, &file) == 0 && S_ISFIFO(file.st_mode) &&
              write(fd, record, sizeof(struct rt_said)) == sizeof(struct rt_said);
    close(fd);
    return written;
}

/* ---- what contention has made ---- */

static bool fill_rested(struct rt_rested *record, uint64_t count[RESTED_COUNTS])
{
    uint64_t any = 0;

    for (size_t i = 0; i < RESTED_COUNTS; i++)
        any |= count[i] = atomic_exchange(&said.rested[i], 0);
    *record = (struct rt_rested){.version = RT_SAID_VERSION,
                                 .pid = (uint32_t)getpid(),
                                 .reduced = count[REDUCED],
                                 .throttled_ns = count[THROTTLED_NS],
                                 .rests = count[RESTS],
                                 .idle_ns = count[IDLE_NS],
                                 .freed = count[FREED]};
    memcpy(record->magic, RT_RESTED_MAGIC, sizeof(record->magic));
    return any != 0;
}

static void say_rested(void)
{
    uint64_t count[RESTED_COUNTS];
    struct rt_rested record;

    if (!fill_rested(&record, count) || write_record(&record))
        return;
    for (size_t i = 0; i < RESTED_COUNTS; i++)
        atomic_fetch_add(&said.rested[i], count[i]);
}

/* What finds no room is lost: the next record says where the process is then. */
static void say_more(void)
{
    const struct said_more *by = atomic_load(&more);
    struct rt_region record;

    if (by && by->take(&record))
        write_record(&record);
}

void said_more(const struct said_more *by)
{
    atomic_store(&more, by);
}

void said_contention(bool began)
{
    atomic_fetch_add(&said.rested[REDUCED], began);
    atomic_store(&said.turned, true);
}

void said_contended(uint64_t ns)
{
    atomic_fetch_add(&said.rested[THROTTLED_NS], ns);
}

void said_rest(uint64_t ns, bool freed)
{
    atomic_fetch_add(&said.rested[RESTS], 1);
    atomic_fetch_add(&said.rested[IDLE_NS], ns);
    atomic_fetch_add(&said.rested[FREED], freed);
}

/* ---- saying ---- */

static time_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec;
}

/* A cancellation of the thread must not come between open and close. */
static void say(void)
{
    int before = errno, state;
    struct rt_said record;

    if (!said_path[0] || atomic_flag_test_and_set(&said.busy))
        return;
    state = cancel_begin();
    fill(&record);
    if (write_record(&record)) {
        said.was_first = true;
        said.said_surprise = record.surprise;
    } else {
        take_back(&record);
    }
    atomic_store(&said.turned, false);
    say_rested();
    say_more();
    atomic_store(&said.said_generation, record.generation);
    atomic_store(&said.said_at_s, seconds());
    cancel_end(state);
    atomic_flag_clear(&said.busy);
    errno = before;
}

void said_surprise(enum rt_surprise surprise, int32_t detail)
{
    atomic_store(&said.detail, detail);
    atomic_store(&said.surprise, surprise);
    say();
}

static void say_in_time(const struct rt_page *page)
{
    uint32_t generation = __atomic_load_n(&page->generation, __ATOMIC_ACQUIRE);

    atomic_store(&said.generation, generation);
    if (generation != atomic_load(&said.said_generation) ||
        seconds() != atomic_load(&said.said_at_s))
        say();
}

void said_region(enum said_region region, const struct rt_page *page, uint32_t threads)
{
    atomic_fetch_add_explicit(&said.region[region], 1, memory_order_relaxed);
    if (region == SAID_NESTED)
        return;
    if (region == SAID_FOLLOWED)
        atomic_store(&said.threads, threads);
    say_in_time(page);
}

void said_object(const struct rt_page *page)
{
    atomic_fetch_add_explicit(&said.objects, 1, memory_order_relaxed);
    say_in_time(page);
}

void said_now_and_then(void)
{
    if (atomic_load(&said.turned) || seconds() != atomic_load(&said.said_at_s))
        say();
}

/* With nothing to say, a process was never seen here, and need not be. */
__attribute__((destructor)) static void end(void)
{
    uint64_t n = (atomic_load(&said.surprise) != said.said_surprise) + atomic_load(&said.objects);

    for (size_t i = 0; i < SAID_REGIONS; i++)
        n += atomic_load(&said.region[i]);
    for (size_t i = 0; i < RESTED_COUNTS; i++)
        n += atomic_load(&said.rested[i]);
    if (n > 0)
        say();
}

static void in_child(void)
{
    for (size_t i = 0; i < SAID_REGIONS; i++)
        atomic_store(&said.region[i], 0);
    for (size_t i = 0; i < RESTED_COUNTS; i++)
        atomic_store(&said.rested[i], 0);
    atomic_store(&said.objects, 0);
    if (atomic_load(&more))
        atomic_load(&more)->forget();
    said.was_first = false;
    said.said_surprise = atomic_load(&said.surprise);
    atomic_store(&said.threads, 0);
    atomic_store(&said.said_at_s, -1);
    atomic_flag_clear(&said.busy);
}

void said_begin(const char *page)
{
    snprintf(said_path, sizeof(said_path), "%s" RT_SAID_SUFFIX, page);
    atomic_store(&said.said_at_s, -1);
    pthread_atfork(NULL, NULL, in_child);
}
