/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contention - see contention.h.
 *
 * The paper's run-time has a thread that reads the state and says the correct number of threads.
 * Here whoever comes for a chunk of a loop, starts a region, or rests does it, at most once in a
 * tick of the coarse clock (1 to 10 ms, as often as the blackboard is written): a thread of our own
 * in somebody's program would count in its tools and its limits, take signals that are not masked,
 * be missing after fork, and run also while the program is in no loop. One looks at a time; another
 * one that comes meanwhile takes what was found before.
 *
 * Contention begins when `hold` samples in a row have said saturated, and ends when as many have
 * said idle, or that nothing is known; normal changes nothing. A sample is what the blackboard says
 * at another time than before: one that nobody looked at is not counted. Of several memories that
 * the step uses the most contended one counts. A blackboard that has ended, or is not written any
 * more, ends contention at once; so does one whose writer has been in the middle of a section for
 * that long: it was killed there. */
#include "runtime/contention.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "blackboard/berth_blackboard.h"
#include "runtime/cancel.h"
#include "runtime/said.h"

#define BOARD "blackboard"
#define OLD_NS 3000000000u    /* berthd writes once a second at least */
#define FOLLOW_NS 1000000000u /* between two looks for a new blackboard */
#define SECTIONS 64           /* memories that are looked at, at most */

enum sample { UNKNOWN, IDLE, NORMAL, SATURATED };

static char board_path[1024 + sizeof(BOARD)];
static _Atomic uint64_t looked_ns;
static _Atomic bool contended;
static atomic_flag busy;

/* For who is busy. */
static struct {
    struct berth_blackboard *board;
    uint64_t followed_ns; /* when one was looked for last */
    uint64_t read_ns;     /* and when there was one that could be read */
    uint32_t generation;  /* of the page, when the sections were chosen */
    unsigned sections;
    int section[SECTIONS]; /* of the step's memories */
    int node;              /* and that of all */
    uint64_t written_ns;   /* of the last sample */
    enum sample said;
    uint32_t row; /* how many samples have said so, one after the other */
} now;

uint64_t contention_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- the blackboard ---- */

static bool uses(const struct rt_page *page, unsigned node)
{
    return memchr(page->node, (int)node, sizeof(page->node)) != NULL;
}

/* Memories stand in the blackboard in the order in which the page numbers them. One that says
 * nothing, because only the node's traffic is known, has the node speak for it. */
static void choose_sections(const struct rt_page *page)
{
    char name[BERTH_BLACKBOARD_NAME_SIZE];
    unsigned memory = 0;

    now.sections = 0;
    now.node = berth_blackboard_find(now.board, "node");
    for (int i = 0; berth_blackboard_name(now.board, i, name) == BERTH_BLACKBOARD_OK; i++)
        if (strncmp(name, "memory", 6) == 0 && uses(page, memory++) && now.sections < SECTIONS)
            now.section[now.sections++] = i;
}

/* Looks for a blackboard, or another one than the last, now and then. */
static void find_board(const struct rt_page *page, uint64_t now_ns)
{
    if (now.followed_ns && now_ns - now.followed_ns < FOLLOW_NS)
        return;
    now.followed_ns = now_ns;
    if (now.board ? berth_blackboard_follow(now.board) != BERTH_BLACKBOARD_OK
                  : berth_blackboard_open(&now.board, board_path) != BERTH_BLACKBOARD_OK)
        return;
    choose_sections(page);
}

static enum sample sample_of(const struct berth_blackboard_section *section)
{
    double state = section->value[BERTH_BLACKBOARD_STATE];

    if (state == BERTH_BLACKBOARD_SATURATED)
        return SATURATED;
    if (state == BERTH_BLACKBOARD_NORMAL)
        return NORMAL;
    return state == BERTH_BLACKBOARD_IDLE ? IDLE : UNKNOWN;
}

/* Reads one section. Returns whether it was read, or is not to be read any more. */
static enum berth_blackboard_result read_one(int number, enum sample *worst, uint64_t *written_ns)
{
    struct berth_blackboard_section section;
    enum berth_blackboard_result result =
        berth_blackboard_read(now.board, number, OLD_NS, &section);
    enum sample one;

    if (result != BERTH_BLACKBOARD_OK)
        return result;
    one = sample_of(&section);
    *worst = one > *worst ? one : *worst;
    *written_ns = section.written_ns;
    return result;
}

/* Returns what the step's memories say, or else the node as a whole. */
static enum berth_blackboard_result read_all(enum sample *sample, uint64_t *written_ns)
{
    enum berth_blackboard_result result = BERTH_BLACKBOARD_OK;

    *sample = UNKNOWN;
    for (unsigned i = 0; i < now.sections && result == BERTH_BLACKBOARD_OK; i++)
        result = read_one(now.section[i], sample, written_ns);
    if (result == BERTH_BLACKBOARD_OK && *sample == UNKNOWN)
        result = read_one(now.node, sample, written_ns);
    return result;
}

/* ---- the state ---- */

static void set_contended(bool is)
{
    if (is != atomic_load(&contended)) {
        atomic_store(&contended, is);
        said_contention(is);
    }
}

static void take_sample(enum sample sample, uint32_t hold)
{
    now.row = sample == now.said ? now.row : 0;
    now.said = sample;
    if (now.row < hold)
        now.row++;
    if (now.row >= hold && sample != NORMAL)
        set_contended(sample == SATURATED);
}

/* Has nothing been read for so long that there is nobody who writes? One who writes is in the way
 * of a reader for a moment. */
static bool is_abandoned(enum berth_blackboard_result result, uint64_t now_ns)
{
    return result != BERTH_BLACKBOARD_BUSY || now_ns - now.read_ns > OLD_NS;
}

static void take_reading(const struct rt_page *page, enum sample sample, uint64_t written_ns)
{
    uint32_t hold = __atomic_load_n(&page->hold, __ATOMIC_RELAXED);

    if (written_ns == now.written_ns)
        return;
    now.written_ns = written_ns;
    take_sample(sample, hold ? hold : 1);
}

static void look(const struct rt_page *page, uint64_t now_ns)
{
    uint32_t generation = __atomic_load_n(&page->generation, __ATOMIC_ACQUIRE);
    enum berth_blackboard_result result;
    uint64_t written_ns = 0;
    enum sample sample;

    if (!now.board)
        find_board(page, now_ns);
    if (!now.board)
        return;
    if (generation != now.generation)
        choose_sections(page);
    now.generation = generation;
    result = read_all(&sample, &written_ns);
    if (result == BERTH_BLACKBOARD_OK) {
        now.read_ns = now_ns;
        take_reading(page, sample, written_ns);
    } else if (is_abandoned(result, now_ns)) {
        set_contended(false);
        find_board(page, now_ns);
    }
}

bool contention_is(const struct rt_page *page, uint64_t now_ns)
{
    int before = errno, state;
    uint64_t last_ns = atomic_load_explicit(&looked_ns, memory_order_relaxed);

    if (now_ns != last_ns && !atomic_flag_test_and_set(&busy)) {
        if (last_ns && atomic_load(&contended) && now_ns > last_ns)
            said_contended(now_ns - last_ns);
        state = cancel_begin();
        look(page, now_ns);
        cancel_end(state);
        atomic_store(&looked_ns, now_ns);
        atomic_flag_clear(&busy);
        said_now_and_then();
        errno = before;
    }
    return atomic_load_explicit(&contended, memory_order_relaxed);
}

static void in_child(void)
{
    atomic_flag_clear(&busy);
}

void contention_begin(const char *page)
{
    const char *slash = strrchr(page, '/');

    snprintf(board_path, sizeof(board_path), "%.*s" BOARD, slash ? (int)(slash + 1 - page) : 0,
             page);
    pthread_atfork(NULL, NULL, in_child);
}
