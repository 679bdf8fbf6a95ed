/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_waiting - see process_waiting.h
 *
 * The hands are the process's, and are never closed: a thread that was given up may come back after
 * everything else has gone. */
#include "packer/system/process_waiting.h"

#include <limits.h>
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

/* Calls `waits` with each thread until one does. */
static bool any_thread(const struct rootfs *root, pid_t pid,
                       bool (*waits)(const struct rootfs *root, const char *folder))
{
    char path[64], folder[NAME_MAX + 64], **thread;
    bool any = false;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(root, path);
    for (size_t i = 0; !any && thread && thread[i]; i++) {
        snprintf(folder, sizeof(folder), "%s/%s", path, thread[i]);
        any = waits(root, folder);
    }
    rootfs_list_free(thread);
    return any;
}

static char *read_file(const struct rootfs *root, const char *folder, const char *name)
{
    char path[2 * NAME_MAX];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return rootfs_read(root, path);
}

/* For a disk, or for a lock. */
static bool waits_by_state(const struct rootfs *root, const char *folder)
{
    static const char key[] = "\nState:\t"; /* a newline in a name is escaped there */
    char *text = read_file(root, folder, "status"), *at = text ? strstr(text, key) : NULL;
    bool waits = at && at[sizeof(key) - 1] == 'D';

    free(text);
    return waits;
}

static bool waits_for_fuse(const struct rootfs *root, const char *folder)
{
    char *at = read_file(root, folder, "wchan");
    bool waits = at && (strstr(at, "fuse") || strcmp(at, "request_wait_answer") == 0);

    free(at);
    return waits;
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
    question->waits = any_thread(&question->root, question->pid, waits_for_fuse);
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
    if (any_thread(root, pid, waits_by_state))
        return true;
    return rootfs_is_machine(root) ? ask(root, pid) : any_thread(root, pid, waits_for_fuse);
}
