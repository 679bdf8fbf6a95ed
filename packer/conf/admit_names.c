/* SPDX-License-Identifier: GPL-2.0-or-later */
/* admit_names - see admit_names.h
 *
 * The thread works on a copy of the lists. Whoever asks again meanwhile counts `asked` up, so that
 * the answer to an older question is thrown away. */
#include "packer/conf/admit_names.h"

#include <grp.h>
#include <math.h>
#include <pwd.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "packer/base/log.h"
#include "packer/base/worker.h"

#define ENTRY_MAX 65536 /* bytes of one entry of a directory: a group may have many members */

struct admit_names {
    int fd; /* eventfd: not 0 while there is an answer */
    bool running;
    struct worker worker; /* its mutex guards what follows */
    unsigned asked, answered;
    struct conf conf; /* its lists are the question, then its answer */
};

/* The entries of `grant` that name somebody. */
static const struct list {
    const char *key;
    bool users; /* else groups */
    size_t offset;
} lists[] = {
    {"isolate", true, offsetof(struct conf, isolate_users)},
    {"isolate:group", false, offsetof(struct conf, isolate_groups)},
    {"throttle", true, offsetof(struct conf, throttle_users)},
    {"prefetch", true, offsetof(struct conf, prefetch_users)},
    {"propose", true, offsetof(struct conf, propose_users)},
};

#define LISTS (sizeof(lists) / sizeof(lists[0]))
#define LIST_SIZE sizeof(((struct conf *)NULL)->isolate_users)
_Static_assert(LIST_SIZE == sizeof(((struct conf *)NULL)->isolate_groups) &&
                   LIST_SIZE == sizeof(((struct conf *)NULL)->throttle_users) &&
                   LIST_SIZE == sizeof(((struct conf *)NULL)->prefetch_users) &&
                   LIST_SIZE == sizeof(((struct conf *)NULL)->propose_users),
               "all of one size");

static char *words_of(struct conf *conf, size_t i)
{
    return (char *)conf + lists[i].offset;
}

/* ---- looking up ---- */

/* Finds the number of a user or group. Returns false where nobody knows the name. */
static bool look_up(bool user, const char *name, uint32_t *number)
{
    char *room = malloc(ENTRY_MAX);
    struct passwd user_entry, *user_found = NULL;
    struct group group_entry, *group_found = NULL;

    if (room && user)
        getpwnam_r(name, &user_entry, room, ENTRY_MAX, &user_found);
    else if (room)
        getgrnam_r(name, &group_entry, room, ENTRY_MAX, &group_found);
    if (user_found)
        *number = user_found->pw_uid;
    else if (group_found)
        *number = group_found->gr_gid;
    free(room);
    return user_found || group_found;
}

static bool is_number(const char *word)
{
    return word[strspn(word, "0123456789")] == '\0' || strcmp(word, "*") == 0;
}

static void to_numbers(const char *key, bool users, char *words, size_t size)
{
    char *copy = strdup(words), *rest = copy;
    size_t used = 0;

    words[0] = '\0';
    for (char *word; copy && (word = strsep(&rest, ","));) {
        bool plain = is_number(word);
        char text[16];
        uint32_t number;

        if (!plain && !look_up(users, word, &number)) {
            log_warn("berth.conf: grant: %s: '%s' is not known here", key, word);
            continue;
        }
        if (!plain)
            snprintf(text, sizeof(text), "%u", number);
        word = plain ? word : text;
        if (used + strlen(word) + 2 > size) { /* a number can be longer than its name */
            log_warn("berth.conf: grant: %s: too long, '%s' is left out", key, word);
            continue;
        }
        used += (size_t)sprintf(words + used, "%s%s", used ? "," : "", word);
    }
    free(copy);
}

static void put_lists(struct conf *conf, const struct conf *from)
{
    for (size_t i = 0; i < LISTS; i++)
        memcpy(words_of(conf, i), (const char *)from + lists[i].offset, LIST_SIZE);
}

void admit_prepare(struct conf *conf)
{
    for (size_t i = 0; i < LISTS; i++)
        to_numbers(lists[i].key, lists[i].users, words_of(conf, i), LIST_SIZE);
}

/* ---- the thread ---- */

/* Answers the question of this moment. The mutex is held, but not while names are looked up. */
static void answer_question(struct admit_names *names)
{
    struct conf conf = names->conf;
    unsigned asked = names->asked;

    worker_unlock(&names->worker);
    admit_prepare(&conf);
    worker_lock(&names->worker);
    if (asked != names->asked)
        return;
    names->conf = conf;
    names->answered = asked;
    eventfd_write(names->fd, 1);
}

static void answer_questions(void *arg)
{
    struct admit_names *names = arg;

    while (!names->worker.stopping)
        if (names->asked != names->answered)
            answer_question(names);
        else
            worker_wait_until(&names->worker, INFINITY);
}

/* ---- the event loop's side ---- */

int admit_names_open(struct admit_names **out, struct berth_error *err)
{
    struct admit_names *names = calloc(1, sizeof(*names));

    if (!names)
        return berth_no_memory(err);
    names->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (names->fd < 0) {
        free(names);
        return berth_error_set(err, "eventfd: %m");
    }
    *out = names;
    return 0;
}

/* A thread that waits for a directory service still uses all this: it is left alone with it. */
void admit_names_close(struct admit_names *names)
{
    if (!names || (names->running && !worker_close(&names->worker)))
        return;
    close(names->fd);
    free(names);
}

int admit_names_fd(const struct admit_names *names)
{
    return names->fd;
}

/* Says whether one of the words has to be looked up. */
static bool has_name(struct conf *conf)
{
    for (size_t i = 0; i < LISTS; i++) {
        const char *words = words_of(conf, i);

        if (words[strspn(words, "0123456789,*")] != '\0')
            return true;
    }
    return false;
}

void admit_names_ask(struct admit_names *names, const struct conf *now, struct conf *next)
{
    struct conf asked = *next;
    bool wanted = has_name(&asked);
    struct berth_error err;
    eventfd_t none;

    if (wanted)
        put_lists(next, now);
    if (!wanted && !names->running)
        return;
    if (!names->running && worker_open(&names->worker, answer_questions, names, &err) < 0) {
        log_error("berth.conf's users and groups stay as they are: %s", err.text);
        return;
    }
    names->running = true;
    worker_lock(&names->worker);
    names->conf = asked;
    names->asked++;
    if (!wanted)
        names->answered = names->asked;
    eventfd_read(names->fd, &none);
    worker_changed(&names->worker);
    worker_unlock(&names->worker);
}

bool admit_names_take(struct admit_names *names, struct conf *conf)
{
    eventfd_t none;

    if (eventfd_read(names->fd, &none) < 0)
        return false;
    worker_lock(&names->worker);
    put_lists(conf, &names->conf);
    worker_unlock(&names->worker);
    return true;
}
