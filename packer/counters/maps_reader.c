/* SPDX-License-Identifier: GPL-2.0-or-later */
/* maps_reader - see maps_reader.h
 *
 * A thread has a copy of the pids, of the root and a place for the sum: whenever it comes back it
 * finds nothing that was freed. */
#include "packer/counters/maps_reader.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What is asked, and the answer. */
struct question {
    struct rootfs root; /* whose descriptor is not used once nobody wants the answer */
    size_t n;
    pid_t pid[MAPS_READER_PROCESSES_MAX];
    bool told; /* by at least one process */
    struct memory_nodes nodes;
};

struct maps_reader {
    const struct rootfs *root;
    struct hands *hands;
};

/* In the thread: reads the processes one after another. */
static void read_all(void *arg, struct hands_hand *hand)
{
    struct question *question = arg;

    for (size_t i = 0; i < question->n && hands_go_on(hand); i++)
        if (memory_nodes_of_process(&question->nodes, &question->root, question->pid[i]) == 0)
            question->told = true;
}

static const struct hands_task reading = {read_all, free};

struct maps_reader *maps_reader_open(const struct rootfs *root, double limit_s)
{
    const struct hands_limits limits = {limit_s, HANDS_HUNG_MAX, HANDS_HUNG_USER_MAX};
    struct maps_reader *reader = calloc(1, sizeof(*reader));

    if (!reader)
        return NULL;
    reader->root = root;
    reader->hands = hands_open("read numa_maps", &limits);
    if (reader->hands)
        return reader;
    free(reader);
    return NULL;
}

void maps_reader_close(struct maps_reader *reader)
{
    if (reader)
        hands_close(reader->hands);
    free(reader);
}

struct hands_work *maps_reader_ask(struct maps_reader *reader, uint32_t user, const pid_t *pid,
                                   size_t n)
{
    struct question *question = calloc(1, sizeof(*question));

    if (!question)
        return NULL;
    question->root = *reader->root;
    question->n = n < MAPS_READER_PROCESSES_MAX ? n : MAPS_READER_PROCESSES_MAX;
    memcpy(question->pid, pid, question->n * sizeof(*pid));
    return hands_put(reader->hands, user, &reading, question);
}

static enum maps_answer take_told(struct maps_reader *reader, struct hands_work *ask,
                                  struct memory_nodes *nodes)
{
    struct question *question = hands_take(reader->hands, ask);
    bool told = question->told;

    if (told)
        *nodes = question->nodes;
    free(question);
    return told ? MAPS_READ : MAPS_UNKNOWN;
}

enum maps_answer maps_reader_take(struct maps_reader *reader, struct hands_work *ask,
                                  struct memory_nodes *nodes)
{
    enum hands_state state = hands_look(reader->hands, ask);

    if (state == HANDS_WAIT)
        return MAPS_WAIT;
    if (state == HANDS_DONE)
        return take_told(reader, ask, nodes);
    hands_drop(reader->hands, ask);
    return state == HANDS_HUNG ? MAPS_HUNG : MAPS_REFUSED;
}

void maps_reader_drop(struct maps_reader *reader, struct hands_work *ask)
{
    hands_drop(reader->hands, ask);
}

size_t maps_reader_hung(struct maps_reader *reader)
{
    return hands_hung(reader->hands);
}
