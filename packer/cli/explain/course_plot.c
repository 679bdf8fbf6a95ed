/* SPDX-License-Identifier: GPL-2.0-or-later */
/* course_plot - see course_plot.h */
#include "packer/cli/explain/course_plot.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "packer/cli/common/ctl.h"

#define ROWS 8
#define LEFT 8 /* columns before the curve */
#define COLUMNS_WITHOUT_TERMINAL 80
#define WIDEST 160
#define NAMES "abcdefghijklmnopqrstuvwxyz"

/* What the curve shows, in order of preference. */
static const struct measure {
    const char *key, *what;
    double unit;
} measures[] = {
    {"instructions_s", "1e9 instructions per second", 1e9},
    {"cpu", "cores used (its instructions are not counted here)", 1},
};

struct curve {
    double from_s, to_s;
    size_t columns;
    double value[WIDEST], most; /* in the measure's unit; NAN: nothing was counted then */
};

/* ---- figures ---- */

static double at(struct json_object *course, const char *key, size_t i)
{
    struct json_object *value = json_object_array_get_idx(ctl_object(course, key), i);

    return value ? json_object_get_double(value) : NAN;
}

static size_t points_of(struct json_object *course)
{
    return ctl_length(ctl_object(course, "to_s"));
}

/* Returns the first measure that is known of a point; the last one where none is. */
static const struct measure *choose(struct json_object *course)
{
    for (size_t i = 0; i < points_of(course); i++)
        if (!isnan(at(course, measures[0].key, i)))
            return &measures[0];
    return &measures[1];
}

/* Returns the mean over a time, of the points that lie in it; NAN: none does. */
static double mean(struct json_object *course, const struct measure *measure, double from_s,
                   double to_s)
{
    double sum = 0, seconds = 0;

    for (size_t i = 0; i < points_of(course); i++) {
        double begin = fmax(from_s, at(course, "from_s", i));
        double end = fmin(to_s, at(course, "to_s", i)), value = at(course, measure->key, i);

        if (end <= begin || isnan(value))
            continue;
        sum += value * (end - begin);
        seconds += end - begin;
    }
    return seconds > 0 ? sum / seconds / measure->unit : NAN;
}

/* Fills in the curve, from the step's start to its last point. */
static void measure_curve(struct json_object *course, const struct measure *measure,
                          struct curve *curve)
{
    double width;

    curve->from_s = 0;
    curve->to_s = at(course, "to_s", points_of(course) - 1);
    width = (curve->to_s - curve->from_s) / (double)curve->columns;
    curve->most = 0;
    for (size_t i = 0; i < curve->columns; i++) {
        curve->value[i] = mean(course, measure, curve->from_s + width * (double)i,
                               curve->from_s + width * (double)(i + 1));
        curve->most = fmax(curve->most, curve->value[i]);
    }
}

/* Returns the column in which that was. */
static size_t column_of(const struct curve *curve, double at_s)
{
    double part = (at_s - curve->from_s) / (curve->to_s - curve->from_s);
    size_t column = (size_t)fmax(0, part * (double)curve->columns);

    return column < curve->columns ? column : curve->columns - 1;
}

/* ---- drawn ---- */

static void put_row(struct screen *screen, const struct curve *curve, size_t row)
{
    double below = (double)(ROWS - 1 - row);

    if (row == 0)
        screen_put(screen, SCREEN_PLAIN, "%*.3g ", LEFT - 2, curve->most);
    else
        screen_put(screen, SCREEN_PLAIN, "%*s ", LEFT - 2, row == ROWS - 1 ? "0" : "");
    screen_put(screen, SCREEN_FAINT, "|");
    for (size_t i = 0; i < curve->columns; i++) {
        double part = curve->most > 0 ? curve->value[i] / curve->most * ROWS - below : 0;

        screen_put(screen, SCREEN_PLAIN, "%s", screen_level(screen, isnan(part) ? 0 : part));
    }
    screen_end(screen);
}

/* Puts the axis, with a letter where something happened, and '*' for more than one. */
static void put_axis(struct screen *screen, const struct curve *curve, struct json_object *events)
{
    char axis[WIDEST + 1], from[CTL_TIME_MAX], to[CTL_TIME_MAX];

    memset(axis, '-', curve->columns);
    axis[curve->columns] = '\0';
    for (size_t i = 0; i < ctl_length(events) && i < strlen(NAMES); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        char *mark = &axis[column_of(curve, ctl_number(event, "at_s"))];

        *mark = *mark == '-' ? NAMES[i] : '*';
    }
    screen_line(screen, SCREEN_FAINT, "%*s+%s", LEFT - 1, "", axis);
    ctl_time(curve->from_s, from);
    ctl_time(curve->to_s, to);
    screen_line(screen, SCREEN_PLAIN, "%*s%s%*s", LEFT, "", from,
                (int)(curve->columns - strlen(from)), to);
}

static void put_event(struct screen *screen, struct json_object *event, char name)
{
    const char *id = ctl_known_text(event, "id"), *what = ctl_text(event, "what");
    const char *program = ctl_known_text(event, "program");
    char time[CTL_TIME_MAX], line[256];

    ctl_time(ctl_number(event, "at_s"), time);
    if (strcmp(what, "moved") == 0)
        snprintf(line, sizeof(line), "berth moved it to CPUs %.60s", ctl_text(event, "cpus"));
    else
        snprintf(line, sizeof(line), "%.40s%s%.32s%s %s", program ? program : "a step",
                 id ? " (" : " of another user", id ? id : "", id ? ")" : "",
                 strcmp(what, "came") == 0 ? "came beside it" : "left");
    screen_put(screen, SCREEN_PLAIN, "%*s%c %8s ", LEFT, "", name, time);
    screen_wrap(screen, SCREEN_PLAIN, LEFT + 10, line);
}

static void put_curve(struct screen *screen, struct json_object *course)
{
    size_t columns = screen->columns ? screen->columns : COLUMNS_WITHOUT_TERMINAL;
    struct json_object *events = ctl_object(course, "events");
    const struct measure *measure = choose(course);
    struct curve curve;

    curve.columns = columns > LEFT + 20 ? columns - LEFT : 20;
    curve.columns = curve.columns < WIDEST ? curve.columns : WIDEST;
    measure_curve(course, measure, &curve);
    screen_line(screen, SCREEN_PLAIN, ": %s", measure->what);
    for (size_t row = 0; row < ROWS; row++)
        put_row(screen, &curve, row);
    put_axis(screen, &curve, events);
    for (size_t i = 0; i < ctl_length(events) && i < strlen(NAMES); i++)
        put_event(screen, json_object_array_get_idx(events, i), NAMES[i]);
}

void course_plot(struct screen *screen, struct json_object *step)
{
    struct json_object *course = ctl_object(step, "course");
    bool ledger = strcmp(ctl_text(step, "from"), "ledger") == 0;

    screen_put(screen, SCREEN_STRONG, "%s", ctl_text(step, "id"));
    if (points_of(course) > 0)
        put_curve(screen, course);
    else
        screen_wrap(screen, SCREEN_PLAIN, LEFT,
                    ledger ? ": no curve: the ledger has its sums only, and berthd remembers the "
                             "last steps that ended (history in berth.conf)"
                           : ": no curve: no window of it has ended, or nothing is counted of it");
}
