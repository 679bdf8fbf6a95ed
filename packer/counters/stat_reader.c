/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stat_reader - see stat_reader.h
 *
 * A thread has its own copy of the rows and of the root, and their descriptors: whenever it comes
 * back it finds nothing that was freed or closed. */
#include "packer/counters/stat_reader.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/file.h"

/* What is asked, and the answer. */
struct question {
    struct rootfs root; /* whose descriptor is not used once nobody wants the answer */
    size_t n, keep;
    struct stat_row row[];
};

struct stat_reader {
    const struct rootfs *root;
    struct hands *hands; /* NULL: a recorded tree */
    double wait_s;
};

/* ---- in the thread ---- */

static void read_row(struct question *question, struct stat_row *row)
{
    int fd = row->fd < 0 ? process_stat_open(&question->root, row->pid) : row->fd;

    row->gone = fd < 0 || process_stat_read(fd, &row->stat) < 0 ||
                (row->started && row->started != row->stat.started);
    if (fd == row->fd)
        return;
    if (row->gone || question->keep == 0) {
        file_close(fd);
        return;
    }
    row->fd = fd;
    question->keep--;
}

/* Reads those that are there. Returns whether one has gone that was not known to have. */
static bool read_rows(struct question *question, struct hands_hand *hand)
{
    bool gone = false;

    for (size_t i = 0; i < question->n; i++) {
        struct stat_row *row = &question->row[i];

        if (row->gone || (hand && !hands_go_on(hand)))
            continue;
        read_row(question, row);
        gone |= row->gone;
    }
    return gone;
}

/* Who waits for a process has what that one had used: those that were read before it was seen to
 * have gone are read once more. Who goes by then is seen the next time. */
static void read_all(void *arg, struct hands_hand *hand)
{
    if (read_rows(arg, hand))
        read_rows(arg, hand);
}

static void release(void *arg)
{
    struct question *question = arg;

    for (size_t i = 0; i < question->n; i++)
        file_close(question->row[i].fd);
    free(question);
}

static const struct hands_task reading = {read_all, release};

/* ---- the event loop's side ---- */

struct stat_reader *stat_reader_open(const struct rootfs *root, double limit_s, double wait_s)
{
    const struct hands_limits limits = {limit_s, HANDS_HUNG_MAX, HANDS_HUNG_USER_MAX};
    struct stat_reader *reader = calloc(1, sizeof(*reader));

    if (!reader)
        return NULL;
    *reader = (struct stat_reader){.root = root, .wait_s = wait_s};
    if (!rootfs_is_machine(root))
        return reader;
    reader->hands = hands_open("read stat", &limits);
    if (reader->hands)
        return reader;
    free(reader);
    return NULL;
}

void stat_reader_close(struct stat_reader *reader)
{
    if (reader)
        hands_close(reader->hands);
    free(reader);
}

/* Makes a question of the rows, whose descriptors are its own from then on. NULL for want of
 * memory: they are closed. */
static struct question *ask_for(const struct stat_reader *reader, struct stat_row *row, size_t n,
                                size_t keep)
{
    struct question *question = calloc(1, sizeof(*question) + n * sizeof(*row));

    for (size_t i = 0; i < n; i++) {
        row[i].gone = false;
        if (question)
            question->row[i] = row[i];
        else
            file_close(row[i].fd);
        row[i].fd = -1;
    }
    if (!question)
        return NULL;
    question->root = *reader->root;
    question->n = n;
    question->keep = keep;
    return question;
}

static void give_answer(struct question *question, struct stat_row *row)
{
    if (question->n)
        memcpy(row, question->row, question->n * sizeof(*row));
    free(question);
}

/* Has the work that was left become an answer to this question? One for others is dropped. */
static bool take_late(struct stat_reader *reader, struct hands_work **ask, struct stat_row *row,
                      size_t n)
{
    struct question *question = hands_take(reader->hands, *ask);
    bool same = question->n == n;

    *ask = NULL;
    for (size_t i = 0; same && i < n; i++)
        same = question->row[i].pid == row[i].pid;
    if (same)
        give_answer(question, row);
    else
        release(question);
    return same;
}

static void close_all(struct stat_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        file_close(row[i].fd);
        row[i].fd = -1;
    }
}

bool stat_reader_asks(const struct stat_reader *reader)
{
    return reader->hands;
}

void stat_reader_ask(struct stat_reader *reader, struct hands_work **ask, uint32_t user,
                     struct stat_row *row, size_t n, size_t keep)
{
    struct question *question = ask_for(reader, row, n, keep);

    *ask = question ? hands_put(reader->hands, user, &reading, question) : NULL;
}

/* What has become of what was asked before: whose answer is waited for, if it does. HANDS_DONE,
 * too, where nothing was. */
static enum hands_state see_left(struct stat_reader *reader, struct hands_work *ask, bool late)
{
    if (!ask)
        return HANDS_DONE;
    return late ? hands_await(reader->hands, ask, reader->wait_s) : hands_look(reader->hands, ask);
}

/* Waits a moment for the answer. */
static enum hands_state take_now(struct stat_reader *reader, struct hands_work **ask,
                                 struct stat_row *row)
{
    enum hands_state state = hands_await(reader->hands, *ask, reader->wait_s);

    if (state == HANDS_DONE) {
        give_answer(hands_take(reader->hands, *ask), row);
        *ask = NULL;
    } else if (state != HANDS_WAIT) {
        stat_reader_drop(reader, ask);
    }
    return state;
}

static enum hands_state read_recorded(const struct stat_reader *reader, struct stat_row *row,
                                      size_t n, size_t keep)
{
    struct question *question = ask_for(reader, row, n, keep);

    if (!question)
        return HANDS_REFUSED;
    read_all(question, NULL);
    give_answer(question, row);
    return HANDS_DONE;
}

enum hands_state stat_reader_read(struct stat_reader *reader, struct hands_work **ask,
                                  uint32_t user, struct stat_row *row, size_t n,
                                  const struct stat_how *how)
{
    enum hands_state left = see_left(reader, *ask, how->late);

    if (!reader->hands)
        return read_recorded(reader, row, n, how->keep);
    if (*ask && left == HANDS_DONE && how->late && take_late(reader, ask, row, n))
        return HANDS_DONE;
    if (left != HANDS_WAIT)
        stat_reader_drop(reader, ask);
    if (left != HANDS_DONE) {
        close_all(row, n);
        return left;
    }
    stat_reader_ask(reader, ask, user, row, n, how->keep);
    return *ask ? take_now(reader, ask, row) : HANDS_REFUSED;
}

enum hands_state stat_reader_take(struct stat_reader *reader, struct hands_work **ask,
                                  struct stat_row **row, size_t *n)
{
    enum hands_state state = hands_look(reader->hands, *ask);
    struct question *question;

    if (state != HANDS_DONE && state != HANDS_WAIT)
        stat_reader_drop(reader, ask);
    if (state != HANDS_DONE)
        return state;
    question = hands_take(reader->hands, *ask);
    *ask = NULL;
    *n = question->n;
    *row = calloc(*n + 1, sizeof(**row));
    if (*row) {
        give_answer(question, *row);
        return HANDS_DONE;
    }
    release(question);
    return HANDS_REFUSED;
}

void stat_reader_drop(struct stat_reader *reader, struct hands_work **ask)
{
    if (*ask)
        hands_drop(reader->hands, *ask);
    *ask = NULL;
}

size_t stat_reader_hung(struct stat_reader *reader)
{
    return reader->hands ? hands_hung(reader->hands) : 0;
}
