/* SPDX-License-Identifier: GPL-2.0-or-later */
/* users - see users.h. The thread is never ended: it may hang in a directory service, and the
 * program's end takes it along. */
#include "packer/cli/common/users.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/base/worker.h"

struct user {
    uint32_t uid;
    bool known; /* somebody has answered */
    char name[USERS_NAME_MAX];
};

static struct {
    struct worker worker;
    bool open, failed;
    double waited_s;
    struct user *user; /* [n] in the order in which they were asked for; the worker's mutex */
    size_t n, room, done;
} users;

static void look_up(uint32_t uid, char name[USERS_NAME_MAX])
{
    struct passwd *user = getpwuid(uid);

    if (user && user->pw_name)
        snprintf(name, USERS_NAME_MAX, "%s", user->pw_name);
    else
        snprintf(name, USERS_NAME_MAX, "%" PRIu32, uid);
}

/* Looks up who is asked for, one after the other. */
static void resolve_names(void *arg)
{
    char name[USERS_NAME_MAX];

    (void)arg;
    while (!users.worker.stopping) {
        uint32_t uid;

        if (users.done == users.n) {
            worker_wait_until(&users.worker, clock_s() + 3600);
            continue;
        }
        uid = users.user[users.done].uid;
        worker_unlock(&users.worker);
        look_up(uid, name);
        worker_lock(&users.worker);
        memcpy(users.user[users.done].name, name, sizeof(name));
        users.user[users.done++].known = true;
        worker_changed(&users.worker);
    }
}

/* Returns the place of the user, who is asked for if he was not yet; NULL without memory. */
static struct user *ask(uint32_t uid)
{
    struct user *user;

    for (size_t i = 0; i < users.n; i++)
        if (users.user[i].uid == uid)
            return &users.user[i];
    if (array_grow(&users.user, &users.room, users.n + 1, sizeof(*users.user)) < 0)
        return NULL;
    user = &users.user[users.n++];
    *user = (struct user){.uid = uid};
    worker_changed(&users.worker);
    return user;
}

/* Waits for the answer, but for no longer than all waiting together may take. */
static void wait_for(uint32_t uid)
{
    double began_s = clock_s(), end_s = began_s + USERS_WAIT_S - users.waited_s;
    const struct user *user = ask(uid);
    bool in_time = true;

    while (user && !user->known && in_time && clock_s() < end_s) {
        in_time = worker_wait_until(&users.worker, end_s);
        user = ask(uid);
    }
    users.waited_s += clock_s() - began_s;
}

void users_name(uint32_t uid, char name[USERS_NAME_MAX])
{
    struct berth_error err;
    const struct user *user;

    snprintf(name, USERS_NAME_MAX, "%" PRIu32, uid);
    if (!users.open && !users.failed) {
        users.open = worker_open(&users.worker, resolve_names, NULL, &err) == 0;
        users.failed = !users.open;
    }
    if (!users.open)
        return;
    worker_lock(&users.worker);
    wait_for(uid);
    user = ask(uid);
    if (user && user->known)
        memcpy(name, user->name, USERS_NAME_MAX);
    worker_unlock(&users.worker);
}
