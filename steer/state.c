/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state - see steer/state.h */
#include "steer/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "models/placing/steer.h"
#include "packer/base/file.h"
#include "packer/base/json.h"

#define STATE_MOST (64 << 20)

int state_lock(const char *path, struct berth_error *err)
{
    char lock[PATH_MAX];
    int fd;

    snprintf(lock, sizeof(lock), "%.*s.lock", PATH_MAX - 8, path);
    fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return berth_error_set(err, "%.200s: %s", lock, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0; /* the process's end closes it */
    close(fd);
    return berth_error_set(err, "%.200s: another berth-steer runs", lock);
}

/* ---- reading ---- */

static int64_t whole(struct json_object *object, const char *key, int64_t without)
{
    struct json_object *value;

    return json_object_object_get_ex(object, key, &value) ? json_object_get_int64(value) : without;
}

/* Returns what was added at most; an older file, which does not say it, is of coarse levels. */
static int64_t most_of(struct json_object *object)
{
    int64_t most = whole(object, "most", STEER_COARSE);

    return most < STEER_FINE ? most : STEER_FINE;
}

static void take_weights(struct json_object *own, int64_t most, struct steer_nodes *nodes)
{
    json_object_object_foreach(own, name, value)
    {
        struct steer_node *node = steer_node_find(nodes, name);
        int64_t weight = json_object_get_int64(value);

        if (node && weight >= 0 && weight <= node->weight && node->weight - weight <= most)
            node->own = (uint32_t)weight;
    }
}

int state_read(const char *path, struct steer_state *state, struct steer_nodes *nodes,
               struct berth_error *err)
{
    struct json_object *object, *own;
    size_t length;
    char *text = file_read(path, STATE_MOST, &length, err);

    *state = (struct steer_state){0};
    if (!text && errno == ENOENT)
        return 0;
    if (!text)
        return berth_error_before(err, "%.200s: ", path);
    object = json_parse(text, length, err);
    free(text);
    if (object && json_object_object_get_ex(object, "own", &own) &&
        json_object_is_type(own, json_type_object)) {
        state->at = whole(object, "at", 0);
        state->until = whole(object, "until", 0);
        take_weights(own, most_of(object), nodes);
        json_object_put(object);
        return 0;
    }
    json_object_put(object);
    return berth_error_set(err, "%.200s: no state of berth-steer", path);
}

/* ---- writing ---- */

/* Returns the most that is, or is to be, added to an admin's weight. */
static uint32_t most_added(const struct steer_nodes *nodes)
{
    uint32_t most = 0;

    for (size_t i = 0; i < nodes->n; i++) {
        const struct steer_node *node = &nodes->node[i];
        uint32_t weight = node->weight > node->wanted ? node->weight : node->wanted;

        if (weight - node->own > most)
            most = weight - node->own;
    }
    return most;
}

int state_write(const char *path, const struct steer_state *state, const struct steer_nodes *nodes,
                struct berth_error *err)
{
    struct json_object *object = json_object_new_object(), *own = json_object_new_object();
    const char *text;
    int rc = -1;

    for (size_t i = 0; i < nodes->n; i++)
        if (nodes->node[i].chosen || nodes->node[i].weight != nodes->node[i].own)
            json_add_u64(own, nodes->node[i].name, nodes->node[i].own);
    json_add_u64(object, "at", (uint64_t)state->at);
    json_add_u64(object, "until", (uint64_t)state->until);
    json_add_u64(object, "most", most_added(nodes));
    json_add(object, "own", own);
    text = object ? json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN) : NULL;
    if (text)
        rc = file_replace(path, 0600, FILE_SYNC, text, strlen(text));
    if (rc < 0)
        berth_error_set(err, "%.200s: %s", path, strerror(errno));
    json_object_put(object);
    return rc;
}

int state_remove(const char *path, struct berth_error *err)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return 0;
    return berth_error_set(err, "%.200s: %s", path, strerror(errno));
}
