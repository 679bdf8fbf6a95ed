/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_course - see render_course.h */
#include "packer/daemon/render_course.h"

#include <math.h>

#include "packer/base/json.h"
#include "packer/observe/course.h"

/* Appends a number with so many digits after the point; null: not known. */
static void append(struct json_object *list, double value, double digits)
{
    double shift = pow(10, digits);

    json_append(list, isnan(value) ? NULL : json_object_new_double(round(value * shift) / shift));
}

static void add_points(struct json_object *object, const struct course *course)
{
    struct json_object *from = json_object_new_array(), *to = json_object_new_array();
    struct json_object *speed = json_object_new_array(), *cpu = json_object_new_array();

    for (size_t i = 0; i < course->n; i++) {
        append(from, course->point[i].from_s, 1);
        append(to, course->point[i].to_s, 1);
        append(speed, course->point[i].instructions_s, 0);
        append(cpu, course->point[i].cpu, 3);
    }
    json_add(object, "from_s", from);
    json_add(object, "to_s", to);
    json_add(object, "instructions_s", speed);
    json_add(object, "cpu", cpu);
}

/* Adds who came or went; which step that is only its owner and root are told. */
static void add_other(struct json_object *object, const struct course_other *other, uid_t viewer)
{
    char id[WIRE_STEP_NAME_MAX];

    wire_step_name(other->id, id);
    json_add_text(object, "id", viewer == 0 || viewer == other->uid ? id : NULL);
    json_add_text(object, "program", other->program[0] ? other->program : NULL);
}

static struct json_object *render_event(const struct course_event *event, uid_t viewer)
{
    struct json_object *object = json_object_new_object();

    json_add_double(object, "at_s", round(10 * event->at_s) / 10);
    json_add_text(object, "what", course_kind_name[event->kind]);
    if (event->kind == COURSE_MOVED)
        json_add_text(object, "cpus", event->cpus);
    else
        add_other(object, &event->other, viewer);
    return object;
}

static bool is_told(const struct course_event *event, bool hidden, uid_t viewer)
{
    return event->kind == COURSE_MOVED || !hidden || event->other.uid == viewer;
}

struct json_object *render_course(const struct step *step, bool hidden, uid_t viewer)
{
    const struct course *course = step->course;
    struct json_object *object, *events;
    const struct course_event *event;

    if (!course || course->n == 0)
        return NULL;
    object = json_object_new_object();
    events = json_object_new_array();
    add_points(object, course);
    for (size_t i = 0; (event = course_event(course, i)); i++)
        if (is_told(event, hidden, viewer))
            json_append(events, render_event(event, viewer));
    json_add(object, "events", events);
    return object;
}
