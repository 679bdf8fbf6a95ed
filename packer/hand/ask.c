/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ask - see ask.h */
#include "packer/hand/ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hand_link {
    struct hand *hand;
};

struct hand_link *hand_link_open(const struct hand_site *site)
{
    struct hand_link *link = calloc(1, sizeof(*link));

    if (!link)
        return NULL;
    link->hand = hand_new(site);
    if (link->hand)
        return link;
    free(link);
    return NULL;
}

void hand_link_close(struct hand_link *link)
{
    if (!link)
        return;
    hand_free(link->hand);
    free(link);
}

void hand_link_idle(struct hand_link *link, bool idle)
{
    if (link)
        hand_allow_idle(link->hand, idle);
}

int hand_ask(struct hand_link *link, enum hand_who who, const struct hand_message *message,
             struct hand_answer *answer, struct berth_error *err)
{
    if (!link) {
        answer->n = 0;
        errno = EPERM;
        return berth_error_set(err, "there is no hand to change anything");
    }
    hand_answer(link->hand, who, message, hand_message_size(message->kind, message->n), answer);
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
