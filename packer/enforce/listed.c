/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listed - see listed.h */
#include "packer/enforce/listed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "packer/base/array.h"

#define LOADAVG "/proc/loadavg"

struct listed_step {
    LIST_ENTRY(listed_step) link;
    struct wire_step_id id;
    size_t ntasks, n;
    pid_t first; /* its first task */
    pid_t pid[];
};

struct listed {
    pid_t newest; /* when those below were listed */
    LIST_HEAD(, listed_step) steps;
};

struct listed *listed_new(void)
{
    return calloc(1, sizeof(struct listed));
}

void listed_forget(struct listed *listed)
{
    struct listed_step *one;

    while (listed && (one = LIST_FIRST(&listed->steps))) {
        LIST_REMOVE(one, link);
        free(one);
    }
}

void listed_free(struct listed *listed)
{
    listed_forget(listed);
    free(listed);
}

pid_t listed_newest(const struct rootfs *root)
{
    char *text = rootfs_is_machine(root) ? rootfs_read(root, LOADAVG) : NULL;
    const char *last = text ? strrchr(text, ' ') : NULL;
    long newest = last ? strtol(last, NULL, 10) : 0;

    free(text);
    return newest > 0 ? (pid_t)newest : 0;
}

static pid_t first_of(const struct enforce_step *step)
{
    return step->ntasks ? step->task[0].pid : 0;
}

static const struct listed_step *find_step(const struct listed *listed,
                                           const struct enforce_step *step)
{
    const struct listed_step *one;

    LIST_FOREACH(one, &listed->steps, link)
    if (one->id.job == step->id.job && one->id.step == step->id.step &&
        one->ntasks == step->ntasks && one->first == first_of(step))
        return one;
    return NULL;
}

bool listed_get(const struct listed *listed, const struct enforce_step *step, pid_t newest,
                struct enforce_pids *list)
{
    const struct listed_step *one;

    if (!listed || !newest || listed->newest != newest || !(one = find_step(listed, step)) ||
        array_grow(&list->pid, &list->room, list->n + one->n, sizeof(*list->pid)) < 0)
        return false;
    if (one->n)
        memcpy(list->pid + list->n, one->pid, one->n * sizeof(*one->pid));
    list->n += one->n;
    return true;
}

void listed_put(struct listed *listed, const struct enforce_step *step, pid_t newest,
                const pid_t *pid, size_t n)
{
    struct listed_step *one;

    if (!listed || !newest)
        return;
    if (listed->newest != newest)
        listed_forget(listed);
    listed->newest = newest;
    one = calloc(1, sizeof(*one) + n * sizeof(*pid));
    if (!one)
        return;
    *one = (struct listed_step){
        .id = step->id, .ntasks = step->ntasks, .n = n, .first = first_of(step)};
    if (n)
        memcpy(one->pid, pid, n * sizeof(*pid));
    LIST_INSERT_HEAD(&listed->steps, one, link);
}
