/* SPDX-License-Identifier: GPL-2.0-or-later */
/* answer - what a study has measured and what follows from it: as JSON, which can be read back, and
 * for people. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"
#include "probe/study/study.h"

/* ---- statistics ---- */

static struct parts_time mean(const struct study_times *times)
{
    struct parts_time time = {NAN, NAN};
    double sum = 0, squares = 0;

    if (times->n == 0)
        return time;
    for (size_t i = 0; i < times->n; i++)
        sum += times->seconds[i];
    time.seconds = sum / (double)times->n;
    for (size_t i = 0; i < times->n; i++)
        squares += pow(times->seconds[i] - time.seconds, 2);
    if (times->n > 1)
        time.error = sqrt(squares / (double)(times->n - 1) / (double)times->n);
    return time;
}

static bool divide(const struct study *study, struct parts *parts)
{
    struct parts_times times;

    for (enum parts_where where = 0; where < PARTS_PLACES; where++) {
        times.on[where] = mean(&study->on[where]);
        times.off[where] = mean(&study->off[where]);
    }
    return parts_divide(&times, parts);
}

/* What the part is of, in words, as a text of static memory. */
static const char *of_text(unsigned of)
{
    static const char *const words[] = {"cache", "bus", "memory controller", "prefetchers"};
    static char text[64];
    size_t left = (size_t)__builtin_popcount(of);

    text[0] = '\0';
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (of & 1u << i) {
            strcat(text, words[i]);
            left--;
            strcat(text, left > 1 ? ", " : left == 1 ? " and " : "");
        }
    return text;
}

/* ---- JSON ---- */

static void add_times(struct json_object *list, enum parts_where where, bool prefetchers,
                      const struct study_times *times)
{
    struct json_object *one, *seconds;

    if (times->n == 0)
        return;
    one = json_object_new_object();
    seconds = json_object_new_array();
    json_add_text(one, "beside", parts_where_name[where]);
    json_add_bool(one, "prefetchers", prefetchers);
    for (size_t i = 0; i < times->n; i++)
        json_append(seconds, json_object_new_double(times->seconds[i]));
    json_add(one, "seconds", seconds);
    json_append(list, one);
}

static struct json_object *part_json(const struct parts_part *part)
{
    static const char *const words[] = {"cache", "bus", "controller", "prefetchers"};
    struct json_object *one = json_object_new_object(), *of = json_object_new_array();

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (part->of & 1u << i)
            json_append(of, json_object_new_string(words[i]));
    json_add(one, "of", of);
    json_add_double(one, "slowdown", part->slowdown);
    json_add_measure(one, "error", part->error);
    return one;
}

static struct json_object *lacks_json(const struct study *study)
{
    struct json_object *lacks = json_object_new_array();

    for (enum parts_where where = 0; where < PARTS_PLACES; where++)
        if (study->lacks[where][0]) {
            struct json_object *one = json_object_new_object();

            json_add_text(one, "what", parts_where_name[where]);
            json_add_text(one, "why", study->lacks[where]);
            json_append(lacks, one);
        }
    if (study->lacks_off[0]) {
        struct json_object *one = json_object_new_object();

        json_add_text(one, "what", "prefetchers");
        json_add_text(one, "why", study->lacks_off);
        json_append(lacks, one);
    }
    return lacks;
}

static struct json_object *study_json(const struct study *study, const struct parts *parts)
{
    struct json_object *object = json_object_new_object(), *list = json_object_new_array(),
                       *times = json_object_new_array();

    json_add_text(object, "program", study->first);
    json_add_text(object, "beside", study->other);
    json_add(object, "total", parts ? part_json(&parts->total) : NULL);
    for (size_t i = 0; parts && i < parts->n; i++)
        json_append(list, part_json(&parts->part[i]));
    json_add(object, "parts", list);
    for (enum parts_where where = 0; where < PARTS_PLACES; where++) {
        add_times(times, where, true, &study->on[where]);
        add_times(times, where, false, &study->off[where]);
    }
    json_add(object, "times", times);
    json_add(object, "lacks", lacks_json(study));
    return object;
}

/* ---- reading it back ---- */

static int read_seconds(struct json_object *list, struct study_times *times,
                        struct berth_error *err)
{
    size_t n = json_object_array_length(list);

    if (n > STUDY_RUNS_MOST)
        return berth_error_set(err, "seconds: more than %d", STUDY_RUNS_MOST);
    for (size_t i = 0; i < n; i++) {
        times->seconds[i] = json_object_get_double(json_object_array_get_idx(list, i));
        if (!(times->seconds[i] > 0))
            return berth_error_set(err, "seconds: each more than 0 expected");
    }
    times->n = n;
    return 0;
}

static int read_one(struct json_object *one, struct study *study, struct berth_error *err)
{
    struct json_object *seconds = NULL;
    int where = 0;
    bool on = true;

    if (json_get_word(one, "beside", JSON_REQUIRED, parts_where_name, PARTS_PLACES, &where, err) <
            0 ||
        json_get_bool(one, "prefetchers", JSON_REQUIRED, &on, err) < 0 ||
        json_get_array(one, "seconds", JSON_REQUIRED, &seconds, err) < 0)
        return -1;
    return read_seconds(seconds, on ? &study->on[where] : &study->off[where], err);
}

static int read_all(struct json_object *object, struct study *study, struct berth_error *err)
{
    struct json_object *times = NULL;

    if (json_get_text(object, "program", JSON_OPTIONAL, study->first, sizeof(study->first), err) <
            0 ||
        json_get_text(object, "beside", JSON_OPTIONAL, study->other, sizeof(study->other), err) <
            0 ||
        json_get_array(object, "times", JSON_REQUIRED, &times, err) < 0)
        return -1;
    for (size_t i = 0; i < json_object_array_length(times); i++)
        if (read_one(json_object_array_get_idx(times, i), study, err) < 0)
            return berth_error_before(err, "times: ");
    return 0;
}

int study_read(struct study *study, const char *path, struct berth_error *err)
{
    struct json_object *object = ctl_input_read(path, err);
    int rc;

    if (!object)
        return -1;
    rc = json_object_is_type(object, json_type_object) ? read_all(object, study, err)
                                                       : berth_error_set(err, "an object expected");
    json_object_put(object);
    return rc < 0 ? berth_error_before(err, "%s: ", ctl_input_name(path)) : 0;
}

/* ---- for people ---- */

static void put_part(const char *what, const struct parts_part *part, double total)
{
    char share[32];

    snprintf(share, sizeof(share), total > 0 ? "%.0f %%" : "-", 100 * part->slowdown / total);
    if (isnan(part->error))
        printf("%-36s %9.1f %% %10s %8s\n", what, 100 * part->slowdown, "", share);
    else
        printf("%-36s %9.1f %% +- %5.1f %% %8s\n", what, 100 * part->slowdown, 100 * part->error,
               share);
}

static void put_lack(const char *what, const char *why)
{
    char text[512];

    snprintf(text, sizeof(text), "%s: %s", what, why);
    ctl_put_paragraph(stdout, "not measured", 14, text, ctl_columns() ? ctl_columns() : 80);
}

static void put_lacks(const struct study *study, const struct parts *parts)
{
    for (enum parts_where where = 0; where < PARTS_PLACES; where++)
        if (study->lacks[where][0])
            put_lack(parts_where_name[where], study->lacks[where]);
    if (study->lacks_off[0])
        put_lack("without prefetchers", study->lacks_off);
    if (!parts->prefetchers)
        printf("What its prefetchers lose is a part of what stands above.\n");
    if (parts->n == 1 + (size_t)parts->prefetchers)
        printf("Nothing tells cache, bus and memory controller apart here.\n");
}

int study_put(const struct study *study, bool json)
{
    struct parts parts;
    bool known = divide(study, &parts);

    if (json)
        return ctl_print_json(study_json(study, known ? &parts : NULL));
    if (!known)
        return ctl_fail("study", "nothing was measured alone and on the same cache");
    printf("%.60s, beside %.60s on the same cache\n\n", study->first[0] ? study->first : "-",
           study->other[0] ? study->other : "-");
    printf("%-36s %11s %10s %8s\n", "SHARED", "SLOWER BY", "", "PART");
    for (size_t i = 0; i < parts.n; i++)
        put_part(of_text(parts.part[i].of), &parts.part[i], parts.total.slowdown);
    put_part("all", &parts.total, parts.total.slowdown);
    printf("\n");
    put_lacks(study, &parts);
    return 0;
}
