/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sweep - the files of `berthctl threads`: recorded sweeps, and the thresholds made of them. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/file.h"
#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"
#include "probe/threads/threads.h"

#define RULE                                                                                       \
    "of each program's figure the knee, the point farthest off the line from its first to its "    \
    "last; lock: its height there; deltas: halfway between the steepest rise up to it (of the "    \
    "use "                                                                                         \
    "of the CPUs the least steep) and the one right behind it, per step; the median of the "       \
    "programs that have one"
#define MOST 1e12

#define THRESHOLD(member)                                                                          \
    JSON_RANGE(struct reinforce_thresholds, #member, member, OPTIONAL, -MOST, MOST)
static const struct json_field threshold_fields[] = {
    THRESHOLD(cpu_util_delta), THRESHOLD(lock),       THRESHOLD(lock_delta),
    THRESHOLD(vcx_delta),      THRESHOLD(migr_delta), JSON_END,
};

#define FIGURE(member) JSON_RANGE(struct reinforce_profile, #member, member, OPTIONAL, 0, MOST)
static const struct json_field profile_fields[] = {
    FIGURE(cpu_util), FIGURE(lock), FIGURE(vcx), FIGURE(migr), JSON_END,
};

struct json_object *sweep_thresholds_json(const struct reinforce_thresholds *thresholds)
{
    struct json_object *object = json_object_new_object();

    json_write(object, threshold_fields, thresholds);
    return object;
}

/* ---- thresholds ---- */

static int read_thresholds(struct json_object *input, unsigned t_step,
                           struct reinforce_thresholds *thresholds, struct berth_error *err)
{
    static const struct json_field step_field = {
        .name = "step", .kind = JSON_NUMBER, .whole = true, .min = 1, .max = THREADS_MOST};
    struct json_object *found;
    double step = t_step;

    if (json_get_object(input, "thresholds", JSON_REQUIRED, &found, err) < 0)
        return -1;
    if (json_read(found, threshold_fields, thresholds, err) < 0)
        return berth_error_before(err, "thresholds.");
    if (json_get(input, &step_field, &step, err) < 0)
        return -1;
    if (isnan(thresholds->cpu_util_delta))
        return berth_error_set(err, "thresholds.cpu_util_delta: missing: no program that was "
                                    "recorded has shown where its use of the CPUs flattens");
    thresholds->cpu_util_delta *= t_step / step;
    thresholds->lock_delta *= t_step / step;
    thresholds->vcx_delta *= t_step / step;
    thresholds->migr_delta *= t_step / step;
    return 0;
}

int sweep_thresholds(const char *path, unsigned t_step, struct reinforce_thresholds *thresholds,
                     unsigned *cores, struct berth_error *err)
{
    static const char *const others[] = {"from", "sweeps", "rule"};
    struct json_object *input = ctl_input_read(path, err);
    int rc = -1;

    *thresholds = (struct reinforce_thresholds){NAN, NAN, NAN, NAN, NAN};
    *cores = 0;
    if (input) {
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
            json_asked_note(input, others[i]);
        rc = read_thresholds(input, t_step, thresholds, err);
        if (rc == 0)
            rc = json_get_u32(input, "cores", JSON_OPTIONAL, cores, err);
        ctl_input_tell_unread(ctl_input_name(path), input, rc == 0);
        json_object_put(input);
    }
    return rc < 0 ? berth_error_before(err, "%s: ", ctl_input_name(path)) : 0;
}

/* ---- recording ---- */

static struct json_object *sweep_json(const char *command, const struct threads_args *args,
                                      size_t n, const struct reinforce_point *point)
{
    struct json_object *sweep = json_object_new_object(), *points = json_object_new_array();

    json_add_text(sweep, "command", command);
    json_add_u64(sweep, "cores", args->cores);
    json_add_u64(sweep, "step", args->step);
    for (size_t i = 0; i < n; i++) {
        struct json_object *one = json_object_new_object();

        json_add_u64(one, "threads", point[i].threads);
        json_write(one, profile_fields, &point[i].profile);
        json_append(points, one);
    }
    json_add(sweep, "points", points);
    return sweep;
}

int sweep_record(const char *path, const char *command, const struct threads_args *args, size_t n,
                 const struct reinforce_point *point, struct berth_error *err)
{
    struct json_object *sweep = sweep_json(command, args, n, point);
    const char *text = json_object_to_json_string_ext(sweep, JSON_C_TO_STRING_PLAIN |
                                                                 JSON_C_TO_STRING_NOSLASHESCAPE);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), rc = 0;
    size_t length = text ? strlen(text) : 0;

    if (fd < 0 || !text || file_write_fd(fd, text, length) < length ||
        file_write_fd(fd, "\n", 1) < 1)
        rc = berth_error_set(err, "%s: %s", path, strerror(errno));
    file_close(fd);
    json_object_put(sweep);
    return rc;
}

/* ---- learning ---- */

struct sweeps {
    size_t n, room;
    struct reinforce_sweep *sweep; /* [n], each with points of its own */
    unsigned step;                 /* of the first */
    unsigned cores;                /* of all; 0: none says that */
};

static void sweeps_free(struct sweeps *sweeps)
{
    for (size_t i = 0; i < sweeps->n; i++)
        free((void *)sweeps->sweep[i].point);
    free(sweeps->sweep);
}

static int read_points(struct json_object *list, struct reinforce_point *point,
                       struct berth_error *err)
{
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *one = json_object_array_get_idx(list, i);

        point[i].profile = (struct reinforce_profile){NAN, NAN, NAN, NAN};
        if (json_get_u32(one, "threads", JSON_REQUIRED, &point[i].threads, err) < 0 ||
            json_read(one, profile_fields, &point[i].profile, err) < 0)
            return berth_error_before(err, "points[%zu].", i);
        if (i > 0 && point[i].threads <= point[i - 1].threads)
            return berth_error_set(err,
                                   "points[%zu].threads: %u: more than the one before "
                                   "expected",
                                   i, point[i].threads);
    }
    return 0;
}

/* Use of the CPUs is in percent of the cores, and what happens per second depends on how many there
 * are: sweeps on other cores say nothing of these. 0, or -1 and err. */
static int check_cores(struct sweeps *sweeps, struct json_object *object, struct berth_error *err)
{
    uint32_t cores = 0;

    if (json_get_u32(object, "cores", JSON_OPTIONAL, &cores, err) < 0)
        return -1;
    if (cores > 0 && sweeps->cores > 0 && cores != sweeps->cores)
        return berth_error_set(err, "cores: %u: %u expected, as in a sweep before", cores,
                               sweeps->cores);
    if (cores > 0)
        sweeps->cores = cores;
    return 0;
}

static int add_sweep(struct sweeps *sweeps, struct json_object *object, struct berth_error *err)
{
    struct reinforce_point *point;
    struct json_object *list;
    uint32_t step = 1;

    if (!json_object_is_type(object, json_type_object))
        return berth_error_set(err, "a sweep of --record expected");
    if (json_get_u32(object, "step", JSON_REQUIRED, &step, err) < 0 ||
        check_cores(sweeps, object, err) < 0 ||
        ctl_input_list(object, "points", json_type_object, &list, err) < 0)
        return -1;
    if (step == 0)
        return berth_error_set(err, "step: 1 or more expected");
    point = calloc(json_object_array_length(list), sizeof(*point));
    if (!point ||
        array_grow(&sweeps->sweep, &sweeps->room, sweeps->n + 1, sizeof(*sweeps->sweep)) < 0) {
        free(point);
        return berth_no_memory(err);
    }
    sweeps->sweep[sweeps->n++] = (struct reinforce_sweep){json_object_array_length(list), point};
    if (sweeps->step == 0)
        sweeps->step = step;
    return read_points(list, point, err);
}

/* Reads a file's lines. 0, or -1 and err. */
static int add_file(struct sweeps *sweeps, const char *path, struct berth_error *err)
{
    size_t length = 0, number = 1;
    char *text = ctl_input_text(path, &length, err), *line = text, *end;
    int rc = text ? 0 : -1;

    for (; rc == 0 && line && *line; line = end ? end + 1 : NULL, number++) {
        struct json_object *object;

        end = strchr(line, '\n');
        object = json_parse(line, end ? (size_t)(end - line) : strlen(line), err);
        rc = object ? add_sweep(sweeps, object, err) : -1;
        json_object_put(object);
        if (rc < 0)
            berth_error_before(err, "%zu: ", number);
    }
    free(text);
    return rc < 0 ? berth_error_before(err, "%s:", path) : 0;
}

static struct json_object *sweeps_object(const struct sweeps *sweeps)
{
    struct reinforce_thresholds from;
    struct reinforce_thresholds found =
        reinforce_learn(sweeps->n, sweeps->sweep, sweeps->step, &from);
    struct json_object *output = json_object_new_object();

    json_add(output, "thresholds", sweep_thresholds_json(&found));
    json_add_u64(output, "step", sweeps->step);
    json_add_u64(output, "sweeps", sweeps->n);
    if (sweeps->cores > 0)
        json_add_u64(output, "cores", sweeps->cores);
    json_add(output, "from", sweep_thresholds_json(&from));
    json_add_text(output, "rule", RULE);
    return output;
}

int sweep_learn(char *const *file)
{
    struct sweeps sweeps = {0};
    struct berth_error err;
    int rc = 0;

    for (; rc == 0 && *file; file++)
        rc = add_file(&sweeps, *file, &err);
    if (rc < 0)
        rc = ctl_fail("threads", "%s", err.text);
    else if (sweeps.n < REINFORCE_SWEEPS_MIN)
        rc = ctl_fail("threads",
                      "--learn: %zu sweep%s: %d programs at least are needed, such as "
                      "have locks, switch, and stop to use more CPU",
                      sweeps.n, sweeps.n == 1 ? "" : "s", REINFORCE_SWEEPS_MIN);
    else
        rc = ctl_print_json(sweeps_object(&sweeps));
    sweeps_free(&sweeps);
    return rc;
}
