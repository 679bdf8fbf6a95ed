/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hand - see hand.h: the table of what can be asked, and who is answered.
 *
 * As openssh's monitor has it: a kind that the table does not have, that comes from somebody else,
 * or whose length is not exactly what its row says is refused before anything of it is looked at.
 * The columns are told by `hand_kind_row`, for people. */
#include "packer/hand/hand.h"

#include <errno.h>
#include <stdlib.h>

#include "enum_table.h"
#include "packer/hand/hand_impl.h"

struct row {
    struct hand_kind_row told;
    size_t fixed, each; /* bytes of its struct before the array, and of one of the array */
    enum hand_who who;
    bool known; /* it has to name a step that root has registered */
    int (*act)(struct hand_asked *asked);
    /* It may wait for a lock that a user's process holds: done after act, with nothing locked. */
    int (*wait)(struct hand_asked *asked);
};

#define WHOLE(member) sizeof(((struct hand_message *)NULL)->member)
#define BEFORE(member, array) (offsetof(struct hand_message, member.array) - BODY)
#define ONE(member, array) sizeof(((struct hand_message *)NULL)->member.array[0])
#define BODY offsetof(struct hand_message, step)

/* clang-format off */
static const struct row TABLE(rows, HAND_KINDS) = {
    ROW(HAND_STEP) = {{"step", "root's plugin",
        "the folder has the name that Slurm gives it; of the CPUs only those count that its job's list has"},
        BEFORE(step, task), ONE(step, task), HAND_BY_ROOT, false, hand_do_step, NULL},
    ROW(HAND_FORGET) = {{"forget", "root's plugin", "nothing: it takes rights away"},
        0, 0, HAND_BY_ROOT, false, hand_do_forget, NULL},
    ROW(HAND_LIST) = {{"list", "the head",
        "what the list gets more of are CPUs of registered jobs, of the step's job, or nobody's where `idle` is; memory "
        "nodes are Slurm's of the step"},
        WHOLE(list), 0, HAND_BY_HEAD, false, hand_do_list, NULL},
    ROW(HAND_FOLDER) = {{"folder", "the head", "it is berth's own, by a path that the hand makes"},
        WHOLE(folder), 0, HAND_BY_HEAD, false, hand_do_folder, NULL},
    ROW(HAND_MOVE) = {{"move", "the head", "each process is the step's, and began when it is said to; where it goes is the step's"},
        BEFORE(move, process), ONE(move, process), HAND_BY_HEAD, true, hand_do_move, NULL},
    ROW(HAND_MARK) = {{"mark", "the head", "the CPUs are those of the step's job, or all that its folder has"},
        WHOLE(mark), 0, HAND_BY_HEAD, true, hand_do_mark, NULL},
    ROW(HAND_CLEAN) = {{"clean", "the head", "nothing of the step: any may go home, registered or not; where that is the hand finds itself"},
        0, 0, HAND_BY_HEAD, false, hand_do_clean, NULL},
    ROW(HAND_THREADS) = {{"threads", "the head",
        "each thread is the step's, or berthd's own; its CPUs are those of registered jobs, or its cpuset has them"},
        BEFORE(threads, thread), ONE(threads, thread), HAND_BY_HEAD, false, hand_do_threads, NULL},
    ROW(HAND_CLASS) = {{"class", "the head",
        "each thread is the step's, and has SCHED_OTHER or SCHED_BATCH; a slice is at most 100 ms"},
        BEFORE(class, thread), ONE(class, thread), HAND_BY_HEAD, true, hand_do_class, NULL},
    ROW(HAND_FILE) = {{"file", "the head",
        "its path is one of a list: a meter, the machine's tables, or of a process of a registered step; it is only read"},
        WHOLE(file), 0, HAND_BY_HEAD, false, hand_may_open, hand_do_open},
    ROW(HAND_PAGES) = {{"pages", "the head", "the process is one of a registered step, and began when it is said to"},
        BEFORE(pages, page), ONE(pages, page), HAND_BY_HEAD, false, hand_may_move_pages, hand_do_pages},
    ROW(HAND_USAGE) = {{"usage", "the head", "nothing: they are numbers of the scheduler"},
        BEFORE(usage, pid), ONE(usage, pid), HAND_BY_HEAD, false, hand_do_usage, NULL},
};
TABLE_COMPLETE(rows);
/* clang-format on */

const struct hand_kind_row *hand_kind_row(enum hand_kind kind)
{
    return (unsigned)kind < HAND_KINDS ? &rows[kind].told : NULL;
}

size_t hand_message_size(uint32_t kind, uint32_t n)
{
    const uint32_t most = kind == HAND_PAGES   ? HAND_PAGES_MAX
                          : kind == HAND_USAGE ? TASKSTATS_BATCH
                                               : HAND_THREADS_MAX;

    if (kind >= HAND_KINDS || n > (rows[kind].each ? most : 0))
        return 0;
    return BODY + rows[kind].fixed + n * rows[kind].each;
}

size_t hand_answer_size(const struct hand_message *message, const struct hand_answer *answer)
{
    const size_t each =
        message->kind == HAND_USAGE ? sizeof(answer->usage[0]) : sizeof(answer->status[0]);

    return offsetof(struct hand_answer, status) + answer->n * each;
}

bool hand_is_slow(const struct hand_message *message, size_t size)
{
    return size >= BODY && message->kind < HAND_KINDS && rows[message->kind].wait;
}

struct hand *hand_new(const struct hand_site *site)
{
    struct hand *hand = calloc(1, sizeof(*hand));

    if (!hand)
        return NULL;
    hand->site = *site;
    pthread_mutex_init(&hand->mutex, NULL);
    return hand;
}

void hand_free(struct hand *hand)
{
    if (!hand)
        return;
    for (size_t i = 0; i < hand->n; i++)
        free(hand->known[i].task);
    free(hand->known);
    if (hand->usage.answers)
        taskstats_close(&hand->usage);
    pthread_mutex_destroy(&hand->mutex);
    free(hand);
}

void hand_allow_idle(struct hand *hand, bool idle)
{
    hand->idle = idle;
}

void hand_serve_head(struct hand *hand, pid_t head)
{
    hand->site.head = head;
}

/* What can be said of any message, by its row. */
static int check_row(struct hand_asked *asked, enum hand_who who, size_t size)
{
    const struct hand_message *message = asked->message;
    const struct row *row;

    if (size < BODY || message->kind >= HAND_KINDS)
        return hand_refuse(asked, "no such kind of message");
    row = &rows[message->kind];
    if (who != row->who)
        return hand_refuse(asked, "%s: it is not for who asks", row->told.name);
    if (size != hand_message_size(message->kind, message->n))
        return hand_refuse(asked, "%s: a message of %zu bytes", row->told.name, size);
    if (row->known && !asked->step)
        return hand_refuse(asked, "%s: step %u.%u: root has not registered it", row->told.name,
                           message->id.job, message->id.step);
    return 0;
}

void hand_answer(struct hand *hand, enum hand_who who, const struct hand_message *message,
                 size_t size, struct hand_answer *answer)
{
    struct hand_asked asked = {.hand = hand, .message = message, .answer = answer};
    int rc;

    answer->n = 0;
    answer->fd = -1;
    answer->why.text[0] = '\0';
    pthread_mutex_lock(&hand->mutex);
    asked.step = size < BODY ? NULL : hand_find(hand, message->id);
    rc = check_row(&asked, who, size);
    if (rc == 0)
        rc = rows[message->kind].act(&asked);
    pthread_mutex_unlock(&hand->mutex);
    if (rc == 0 && rows[message->kind].wait)
        rc = rows[message->kind].wait(&asked);
    answer->rc = rc;
    answer->error = rc < 0 ? errno : 0;
}
