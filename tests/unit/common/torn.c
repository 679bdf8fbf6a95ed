/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/common/torn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "blackboard/layout.h"
#include "blackboard/writer.h"
#include "tests/unit/common/noise.h"

struct reader {
    const char *path;
    const struct torn_plan *plan;
    pthread_t thread;
    struct torn_counts counts;
    int why; /* errno; 0: it has read */
};

struct writing {
    struct blackboard_writer *writer;
    unsigned pause;
    pthread_t thread;
    atomic_bool over;
    uint64_t writes;
};

/* ---- the writer: each writing is recognisable in all of its words ---- */

static void write_number(struct blackboard_writer *writer, uint64_t number)
{
    double value[BERTH_BLACKBOARD_VALUES];

    for (size_t i = 0; i < BERTH_BLACKBOARD_VALUES; i++)
        value[i] = (double)(number + i);
    blackboard_write(writer, 0, number, BERTH_BLACKBOARD_VALUES, value);
}

/* Waits for so many turns of a loop, another number of them each time. */
static void rest(unsigned pause, struct noise *noise)
{
    unsigned turns = pause ? (unsigned)(noise_uniform(noise) * pause) : 0;

    while (turns-- > 0)
        atomic_signal_fence(memory_order_seq_cst); /* the loop stays */
}

static void *write_on(void *arg)
{
    struct writing *writing = arg;
    struct noise noise = {1};

    while (!atomic_load_explicit(&writing->over, memory_order_relaxed)) {
        write_number(writing->writer, ++writing->writes);
        rest(writing->pause, &noise);
    }
    return NULL;
}

/* ---- the readers ---- */

static bool belongs_together(const struct berth_blackboard_section *section)
{
    for (size_t i = 0; i < BERTH_BLACKBOARD_VALUES; i++)
        if (section->value[i] != (double)(section->written_ns + i))
            return false;
    return true;
}

static void judge(struct torn_counts *counts, const struct berth_blackboard_section *section,
                  uint64_t *last)
{
    counts->reads++;
    counts->torn += !belongs_together(section) || section->written_ns < *last;
    counts->changes += section->written_ns != *last;
    *last = section->written_ns;
}

static void read_guarded(struct reader *reader)
{
    struct berth_blackboard_section section;
    struct berth_blackboard *board;
    uint64_t last = 0;

    if (berth_blackboard_open(&board, reader->path) != BERTH_BLACKBOARD_OK) {
        reader->why = errno ? errno : EINVAL;
        return;
    }
    while (reader->counts.reads < reader->plan->reads)
        if (berth_blackboard_read(board, 0, 0, &section) == BERTH_BLACKBOARD_OK)
            judge(&reader->counts, &section, &last);
        else
            reader->counts.busy++;
    berth_blackboard_close(board);
}

/* Loads the words alone. */
static void read_unguarded(struct reader *reader)
{
    int fd = open(reader->path, O_RDONLY | O_CLOEXEC);
    void *base = mmap(NULL, 2 * BLACKBOARD_PAGE, PROT_READ, MAP_SHARED, fd, 0);
    struct berth_blackboard_section section;
    uint32_t word[BLACKBOARD_WORDS];
    uint64_t last = 0;

    if (fd < 0 || base == MAP_FAILED) {
        reader->why = errno;
        return;
    }
    while (reader->counts.reads < reader->plan->reads) {
        for (size_t i = 0; i < BLACKBOARD_WORDS; i++)
            word[i] =
                atomic_load_explicit(&blackboard_page(base, 0)->word[i], memory_order_relaxed);
        memcpy(&section, word, sizeof(section));
        judge(&reader->counts, &section, &last);
    }
    munmap(base, 2 * BLACKBOARD_PAGE);
    close(fd);
}

static void *read_on(void *arg)
{
    struct reader *reader = arg;

    if (reader->plan->unguarded)
        read_unguarded(reader);
    else
        read_guarded(reader);
    return NULL;
}

/* ---- both ---- */

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Adds up what a reader that has ended has counted. Returns its errno. */
static int gather(struct reader *reader, struct torn_counts *counts)
{
    pthread_join(reader->thread, NULL);
    counts->reads += reader->counts.reads;
    counts->torn += reader->counts.torn;
    counts->busy += reader->counts.busy;
    counts->changes += reader->counts.changes;
    return reader->why;
}

static int run(struct writing *writing, struct reader *reader, unsigned readers,
               struct torn_counts *counts)
{
    double began_s = now_s();
    unsigned n = 0;
    int why = pthread_create(&writing->thread, NULL, write_on, writing);

    if (why)
        return why;
    while (n < readers && !why) {
        why = pthread_create(&reader[n].thread, NULL, read_on, &reader[n]);
        n += !why;
    }
    for (unsigned i = 0; i < n; i++) {
        int failed = gather(&reader[i], counts);

        why = why ? why : failed;
    }
    atomic_store_explicit(&writing->over, true, memory_order_relaxed);
    pthread_join(writing->thread, NULL);
    counts->writes = writing->writes;
    counts->seconds = now_s() - began_s;
    return why;
}

int torn_run(const char *path, const struct torn_plan *plan, struct torn_counts *counts)
{
    const char *name = "torn";
    struct reader reader[TORN_READERS_MAX];
    struct writing writing = {.pause = plan->pause};

    *counts = (struct torn_counts){0};
    if (blackboard_create(&writing.writer, path, 1, &name) < 0)
        return -1;
    write_number(writing.writer, 0);
    for (unsigned i = 0; i < plan->readers; i++)
        reader[i] = (struct reader){.path = path, .plan = plan};
    errno = run(&writing, reader, plan->readers, counts);
    blackboard_end(writing.writer);
    return errno ? -1 : 0;
}
