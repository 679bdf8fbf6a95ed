/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ask - see ask.h */
#include "packer/hand/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/hand/pass.h"

struct hand_link {
    struct hand *hand;     /* NULL: it is a process of its own */
    pthread_mutex_t mutex; /* one message at a time: threads of berthd ask, too */
};

bool hand_is_apart(void)
{
    return getenv(HAND_APART) != NULL;
}

static struct hand_link *apart; /* berth-hand is asked for the whole process */

static int open_file(const char *path, int flags)
{
    struct hand_message message = {.kind = HAND_FILE};
    struct hand_answer answer;

    message.file.link = (flags & O_PATH) != 0;
    if (strlen(path) >= sizeof(message.file.path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(message.file.path, path);
    return hand_ask(apart, HAND_BY_HEAD, &message, &answer, NULL) == 0 ? answer.fd : -1;
}

static int ask_usage(const struct hand_message *message, struct hand_answer *answer)
{
    return hand_ask(apart, HAND_BY_HEAD, message, answer, NULL);
}

static int read_usage(const pid_t *pid, size_t n, struct taskstats_usage *usage)
{
    struct hand_message message = {.kind = HAND_USAGE, .n = (uint32_t)n};
    struct hand_answer answer;

    memcpy(message.usage.pid, pid, n * sizeof(*pid));
    if (ask_usage(&message, &answer) < 0)
        return -1;
    memcpy(usage, answer.usage, n * sizeof(*usage));
    return 0;
}

static int read_thread(pid_t tid, struct taskstats_thread *thread)
{
    struct hand_message message = {.kind = HAND_USAGE, .n = 1};
    struct hand_answer answer;

    message.usage.thread = 1;
    message.usage.pid[0] = tid;
    if (ask_usage(&message, &answer) < 0)
        return -1;
    *thread = answer.thread;
    return 0;
}

static const struct taskstats_asker usage_asker = {read_usage, read_thread};

/* Programs that berthd starts get no way to berth-hand. */
static void join(struct hand_link *link)
{
    for (int i = 0; i < HAND_LINKS; i++)
        fcntl(HAND_FD_FIRST + i, F_SETFD, FD_CLOEXEC);
    apart = link;
    rootfs_ask(open_file);
    taskstats_ask(&usage_asker);
}

struct hand_link *hand_link_open(const struct hand_site *site)
{
    struct hand_link *link = calloc(1, sizeof(*link));

    if (!link)
        return NULL;
    pthread_mutex_init(&link->mutex, NULL);
    if (hand_is_apart()) {
        join(link);
        return link;
    }
    link->hand = hand_new(site);
    if (link->hand)
        return link;
    hand_link_close(link);
    return NULL;
}

int hand_take_connection(void)
{
    char nothing;
    int fd = -1;

    if (pass_receive(HAND_FD_FIRST + HAND_LINK_DOOR, &nothing, 1, &fd) == 0)
        errno = EPIPE;
    return fd;
}

void hand_link_close(struct hand_link *link)
{
    if (!link)
        return;
    if (apart == link) {
        rootfs_ask(NULL);
        taskstats_ask(NULL);
        apart = NULL;
    }
    hand_free(link->hand);
    pthread_mutex_destroy(&link->mutex);
    free(link);
}

void hand_link_idle(struct hand_link *link, bool idle)
{
    if (link && link->hand)
        hand_allow_idle(link->hand, idle);
}

static int hear(int from, const struct hand_message *message, struct hand_answer *answer)
{
    int fd;
    ssize_t got = pass_receive(from, answer, sizeof(*answer), &fd);

    answer->fd = fd;
    if (got >= (ssize_t)offsetof(struct hand_answer, status) && answer->n <= message->n &&
        (size_t)got == hand_answer_size(message, answer))
        return 0;
    file_close(fd);
    return -1;
}

/* What may take its time is answered by a socket of its own, which goes along. */
static int ask_slowly(struct hand_link *link, int to, const struct hand_message *message,
                      size_t size, struct hand_answer *answer)
{
    int pair[2], rc;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    pthread_mutex_lock(&link->mutex);
    rc = pass_send(to, message, size, pair[1]);
    pthread_mutex_unlock(&link->mutex);
    close(pair[1]);
    if (rc == 0)
        rc = hear(pair[0], message, answer);
    close(pair[0]);
    return rc;
}

static int ask_at_once(struct hand_link *link, int to, const struct hand_message *message,
                       size_t size, struct hand_answer *answer)
{
    int rc;

    pthread_mutex_lock(&link->mutex);
    rc = pass_send(to, message, size, -1);
    if (rc == 0)
        rc = hear(to, message, answer);
    pthread_mutex_unlock(&link->mutex);
    return rc;
}

/* Asks berth-hand. When that has gone the kernel ends this process, too. */
static void ask_process(struct hand_link *link, enum hand_who who,
                        const struct hand_message *message, size_t size, struct hand_answer *answer)
{
    int to = HAND_FD_FIRST + (who == HAND_BY_ROOT ? HAND_LINK_ROOT : HAND_LINK_HEAD);

    if ((hand_is_slow(message, size) ? ask_slowly : ask_at_once)(link, to, message, size, answer) ==
        0)
        return;
    answer->rc = answer->fd = -1;
    answer->error = errno ? errno : EPIPE;
    answer->n = 0;
    berth_error_set(&answer->why, "berth-hand does not answer");
}

int hand_ask(struct hand_link *link, enum hand_who who, const struct hand_message *message,
             struct hand_answer *answer, struct berth_error *err)
{
    const size_t size = hand_message_size(message->kind, message->n);

    if (!link) {
        answer->n = 0;
        errno = EPERM;
        return berth_error_set(err, "there is no hand to change anything");
    }
    if (link->hand)
        hand_answer(link->hand, who, message, size, answer);
    else
        ask_process(link, who, message, size, answer);
    if (answer->rc == 0)
        return 0;
    errno = answer->error;
    return berth_error_set(err, "%s", answer->why.text);
}

/* As many of the tasks as one message takes. Returns how many. */
static size_t fill_tasks(struct hand_message *message, const struct hand_told *told, size_t from)
{
    size_t n = told->ntasks - from < HAND_THREADS_MAX ? told->ntasks - from : HAND_THREADS_MAX;

    if (n)
        memcpy(message->step.task, told->task + from, n * sizeof(*told->task));
    message->n = (uint32_t)n;
    return n;
}

int hand_ask_step(struct hand_link *link, const struct hand_told *told, struct berth_error *err)
{
    struct hand_message message = {.kind = HAND_STEP, .id = told->id};
    struct hand_answer answer;
    size_t sent = 0;

    message.step.uid = told->uid;
    message.step.stepd = told->stepd;
    message.step.stepd_started = told->stepd_started;
    message.step.job_home = *told->job_home;
    snprintf(message.step.leaf, sizeof(message.step.leaf), "%s", told->leaf);
    hand_ask_forget(link, told->id); /* one of that name before it */
    do {
        sent += fill_tasks(&message, told, sent);
        if (hand_ask(link, HAND_BY_ROOT, &message, &answer, err) < 0)
            return -1;
    } while (sent < told->ntasks);
    return 0;
}

void hand_ask_forget(struct hand_link *link, struct wire_step_id id)
{
    struct hand_message message = {.kind = HAND_FORGET, .id = id};
    struct hand_answer answer;

    hand_ask(link, HAND_BY_ROOT, &message, &answer, NULL);
}

int hand_ask_list(struct hand_link *link, struct wire_step_id id, enum hand_place place,
                  const char *task, bool mems, const struct cpus *cpus, struct berth_error *err)
{
    struct hand_message message = {.kind = HAND_LIST, .id = id};
    struct hand_answer answer;

    message.list.place = place;
    message.list.mems = mems;
    snprintf(message.list.task, sizeof(message.list.task), "%s", task ? task : "");
    message.list.cpus = *cpus;
    return hand_ask(link, HAND_BY_HEAD, &message, &answer, err);
}

int hand_ask_folder(struct hand_link *link, struct wire_step_id id, enum hand_place place,
                    bool make, struct berth_error *err)
{
    struct hand_message message = {.kind = HAND_FOLDER, .id = id};
    struct hand_answer answer;

    message.folder.place = place;
    message.folder.make = make;
    return hand_ask(link, HAND_BY_HEAD, &message, &answer, err);
}

long hand_ask_move(struct hand_link *link, struct wire_step_id id, enum hand_place place,
                   const pid_t *pid, size_t n, struct berth_error *err)
{
    struct hand_message message = {.kind = HAND_MOVE, .n = (uint32_t)n, .id = id};
    struct hand_answer answer;
    long moved = 0;

    message.move.place = place;
    for (size_t i = 0; i < n; i++)
        message.move.process[i].pid = pid[i];
    if (hand_ask(link, HAND_BY_HEAD, &message, &answer, err) < 0)
        return -1;
    for (uint32_t i = 0; i < answer.n; i++)
        moved += answer.status[i];
    return moved;
}

void hand_ask_mark(struct hand_link *link, struct wire_step_id id, const struct cpus *cpus)
{
    struct hand_message message = {.kind = HAND_MARK, .id = id};
    struct hand_answer answer;

    message.mark.put = cpus != NULL;
    if (cpus)
        message.mark.cpus = *cpus;
    hand_ask(link, HAND_BY_HEAD, &message, &answer, NULL);
}

int hand_ask_clean(struct hand_link *link, struct wire_step_id id, struct berth_error *err)
{
    struct hand_message message = {.kind = HAND_CLEAN, .id = id};
    struct hand_answer answer;

    return hand_ask(link, HAND_BY_HEAD, &message, &answer, err);
}

int hand_ask_pages(struct hand_link *link, const struct hand_page_order *order, int *status,
                   struct berth_error *err)
{
    struct hand_message message = {.kind = HAND_PAGES, .n = (uint32_t)order->n};
    struct hand_answer answer;

    message.pages.pid = order->pid;
    message.pages.move = order->node != NULL;
    message.pages.all = order->all;
    for (size_t i = 0; i < order->n; i++)
        message.pages.page[i] = (struct hand_page){.address = (uint64_t)(uintptr_t)order->page[i],
                                                   .node = order->node ? order->node[i] : 0};
    if (hand_ask(link, HAND_BY_HEAD, &message, &answer, err) < 0)
        return -1;
    memcpy(status, answer.status, order->n * sizeof(*status));
    return 0;
}

void hand_hear(void)
{
    if (apart)
        hand_ask_forget(apart, (struct wire_step_id){0, 0}); /* there is none */
}
