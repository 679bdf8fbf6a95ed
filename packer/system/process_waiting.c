/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_waiting - see process_waiting.h
 *
 * The hands are the process's, and are never closed: a thread that was given up may come back after
 * everything else has gone. */
#include "packer/system/process_waiting.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/hands.h"
#include "packer/system/process.h"

#define LIMIT_S 5.0
#define WAIT_S 0.2

static struct hands *hands;

static void open_hands(void)
{
    const struct hands_limits limits = {LIMIT_S, HANDS_HUNG_MAX, HANDS_HUNG_USER_MAX};

    hands = hands_open("read wchan", &limits);
}

/* Calls `waits` with a file of each thread until one does. */
static bool any_thread(const struct rootfs *root, pid_t pid, const char *file,
                       bool (*waits)(char *text))
{
    char path[64], **thread;
    bool any = false;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(root, path);
    for (size_t i = 0; !any && thread && thread[i]; i++) {
        char *text = process_thread_file(root, pid, thread[i], file);

        any = text && waits(text);
        free(text);
    }
    rootfs_list_free(thread);
    return any;
}

/* For a disk, or for a lock. */
static bool waits_by_status(char *status)
{
    const char *state = process_status_value(status, "\nState:\t");

    return state && *state == 'D';
}

static bool waits_for_fuse(char *wchan)
{
    return strstr(wchan, "fuse") || strcmp(wchan, "request_wait_answer") == 0;
}

/* ---- by a thread ---- */

struct question {
    struct rootfs root; /* whose descriptor is not used once nobody wants the answer */
    pid_t pid;
    bool waits; /* the answer */
};

static void look(void *arg, struct hands_hand *hand)
{
    struct question *question = arg;

    (void)hand;
    question->waits = any_thread(&question->root, question->pid, "wchan", waits_for_fuse);
}

static bool ask(const struct rootfs *root, pid_t pid)
{
    static const struct hands_task looking = {look, free};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct question *question = calloc(1, sizeof(*question));
    struct hands_work *work;
    bool waits = true;

    pthread_once(&once, open_hands);
    if (!hands || !question) {
        free(question);
        return true;
    }
    *question = (struct question){.root = *root, .pid = pid};
    work = hands_put(hands, (uint32_t)process_uid(root, pid), &looking, question);
    if (!work)
        return true;
    if (hands_await(hands, work, WAIT_S) != HANDS_DONE) {
        hands_drop(hands, work);
        return true;
    }
    question = hands_take(hands, work);
    waits = question->waits;
    free(question);
    return waits;
}

bool process_waiting(const struct rootfs *root, pid_t pid)
{
    if (any_thread(root, pid, "status", waits_by_status))
        return true;
    return rootfs_is_machine(root) ? ask(root, pid)
                                   : any_thread(root, pid, "wchan", waits_for_fuse);
}
