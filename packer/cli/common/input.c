/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input - see input.h */
#include "packer/cli/common/input.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"

#define UNREAD_LINES 8
#define LIMIT_S 10      /* where the input does not say */
#define LIMIT_MAX_S 1e6 /* eleven days */

static bool is_stdin(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

const char *ctl_input_name(const char *path)
{
    return is_stdin(path) ? "stdin" : path;
}

char *ctl_input_text(const char *path, size_t *length, struct berth_error *err)
{
    int fd = is_stdin(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd >= 0 ? file_read_fd(fd, SIZE_MAX, length) : NULL;

    if (!text)
        berth_error_set(err, "%s", strerror(errno));
    if (fd > STDIN_FILENO)
        close(fd);
    return text;
}

struct json_object *ctl_input_read(const char *path, struct berth_error *err)
{
    size_t length = 0;
    char *text = ctl_input_text(path, &length, err);
    struct json_object *object = text ? json_parse(text, length, err) : NULL;

    if (object && !json_object_is_type(object, json_type_object)) {
        berth_error_set(err, "a JSON object expected, not %s",
                        json_type_to_name(json_object_get_type(object)));
        json_object_put(object);
        object = NULL;
    }
    free(text);
    if (object)
        json_asked_go_on();
    return object;
}

struct unread {
    const char *name;
    size_t n;
};

static void tell(const char *path, const char *meant, void *arg)
{
    struct unread *unread = arg;

    if (unread->n++ >= UNREAD_LINES)
        return;
    fprintf(stderr, "berthctl: %s: %s: nothing reads it", unread->name, path);
    if (meant)
        fprintf(stderr, " (%s?)", meant);
    fputc('\n', stderr);
}

void ctl_input_tell_unread(const char *name, struct json_object *input, bool whole)
{
    struct unread unread = {name, 0};

    json_asked_tell(input, whole, tell, &unread);
    if (unread.n > UNREAD_LINES)
        fprintf(stderr, "berthctl: %s: nor %zu more\n", name, unread.n - UNREAD_LINES);
}

int ctl_input_list(struct json_object *object, const char *key, enum json_type type,
                   struct json_object **out, struct berth_error *err)
{
    struct json_object *list;

    if (json_get_array(object, key, JSON_REQUIRED, &list, err) < 0)
        return -1;
    if (json_object_array_length(list) == 0)
        return berth_error_set(err, "%s: empty", key);
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        enum json_type found = json_object_get_type(json_object_array_get_idx(list, i));

        if (found != type)
            return berth_error_set(err, "%s[%zu]: %s expected, not %s", key, i,
                                   json_type_to_name(type), json_type_to_name(found));
    }
    *out = list;
    return 0;
}

int ctl_input_threshold(struct json_object *input, const char *key, double *value,
                        struct berth_error *err)
{
    struct json_field field = {.name = key, .kind = JSON_NUMBER, .max = HUGE_VAL};
    struct json_object *thresholds = NULL;

    if (json_get_object(input, "thresholds", JSON_OPTIONAL, &thresholds, err) < 0)
        return -1;
    return json_get(thresholds, &field, value, err) < 0 ? berth_error_before(err, "thresholds.")
                                                        : 0;
}

int ctl_input_time_limit(struct json_object *input, double *limit_s, struct berth_error *err)
{
    *limit_s = LIMIT_S;
    if (json_get_double(input, "time_limit_s", JSON_OPTIONAL, limit_s, err) < 0)
        return -1;
    if (!(*limit_s > 0) || *limit_s > LIMIT_MAX_S)
        return berth_error_set(err, "time_limit_s: more than 0 and at most %g expected",
                               LIMIT_MAX_S);
    return 0;
}

bool ctl_input_is_late(void *end_s)
{
    return clock_s() >= *(const double *)end_s;
}
