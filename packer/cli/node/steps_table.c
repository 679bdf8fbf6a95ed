/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps_table - see steps_table.h */
#include "packer/cli/node/steps_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/text.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/users.h"
#include "enum_table.h"

#define CELL_MAX 256
#define CELL_COLUMNS 60 /* of a text, before its column cuts it */
#define SLOW_MUCH 0.1   /* slower than alone by so much is pointed out */

/* ---- what is known of a step ---- */

/* Returns a step's CPU time in percent of one CPU: since the last page where it has "cpu_pct", else
 * over its life; NAN: not known. */
static double steps_cpu_pct(struct json_object *step)
{
    double used_s = ctl_number(step, "user_s") + ctl_number(step, "system_s");

    if (json_object_object_get_ex(step, "cpu_pct", NULL))
        return ctl_number(step, "cpu_pct");
    return ctl_number(step, "elapsed_s") > 0 ? 100 * used_s / ctl_number(step, "elapsed_s") : NAN;
}

/* Returns its power in the same way, by "power_w". */
static double steps_watts(struct json_object *step)
{
    if (json_object_object_get_ex(step, "power_w", NULL))
        return ctl_number(step, "power_w");
    return ctl_number(step, "elapsed_s") > 0
               ? ctl_number(step, "energy_j") / ctl_number(step, "elapsed_s")
               : NAN;
}

double steps_slowdown(struct json_object *step, bool *measured)
{
    struct json_object *slowdown = ctl_object(step, "slowdown");
    double value = ctl_number(slowdown, "measured");

    *measured = !isnan(value);
    if (!*measured)
        value = ctl_number(slowdown, "now");
    return isnan(value) ? ctl_number(step, "predicted_slowdown") : value;
}

enum screen_style steps_style(struct json_object *step)
{
    if (strcmp(ctl_text(step, "state"), "failed") == 0)
        return SCREEN_WARN;
    if (strcmp(ctl_text(step, "class"), "devil") == 0)
        return SCREEN_BAD;
    return strcmp(ctl_text(step, "class"), "turtle") == 0 ? SCREEN_GOOD : SCREEN_PLAIN;
}

/* ---- order ---- */

const char *const TABLE(steps_sort_word, STEPS_SORTS + 1) = {
    ROW(STEPS_BY_STEP) = "step",   ROW(STEPS_BY_CPU) = "cpu",
    ROW(STEPS_BY_IPC) = "ipc",     ROW(STEPS_BY_MEMORY) = "memory",
    ROW(STEPS_BY_WATTS) = "watts", ROW(STEPS_BY_SLOWDOWN) = "slowdown",
    ROW(STEPS_BY_USER) = "user",   ROW(STEPS_SORTS) = NULL,
};
TABLE_COMPLETE(steps_sort_word);
const char steps_sort_key[STEPS_SORTS + 1] = "ncibwsu";
const char *const TABLE(steps_sort_title, STEPS_SORTS) = {
    ROW(STEPS_BY_STEP) = "number",
    ROW(STEPS_BY_CPU) = "CPU%",
    ROW(STEPS_BY_IPC) = "instructions per cycle",
    ROW(STEPS_BY_MEMORY) = "memory traffic",
    ROW(STEPS_BY_WATTS) = "watts",
    ROW(STEPS_BY_SLOWDOWN) = "slowdown",
    ROW(STEPS_BY_USER) = "user",
};
TABLE_COMPLETE(steps_sort_title);

/* Returns what is sorted by, the greatest first. */
static double rank(struct json_object *step, enum steps_sort by)
{
    bool measured;

    switch (by) {
    case STEPS_BY_CPU:
        return steps_cpu_pct(step);
    case STEPS_BY_IPC:
        return ctl_number(step, "ipc");
    case STEPS_BY_MEMORY:
        return ctl_number(step, "bytes_s");
    case STEPS_BY_WATTS:
        return steps_watts(step);
    case STEPS_BY_SLOWDOWN:
        return steps_slowdown(step, &measured);
    case STEPS_BY_USER:
        return -ctl_number(step, "uid");
    default:
        return 0;
    }
}

static int compare(double x, double y)
{
    return (x > y) - (x < y);
}

static enum steps_sort sorted_by; /* json_object_array_sort has no argument for it */

static int in_order(const void *a, const void *b)
{
    struct json_object *x = *(struct json_object *const *)a, *y = *(struct json_object *const *)b;
    double rank_x = rank(x, sorted_by), rank_y = rank(y, sorted_by);
    int order = compare(isnan(rank_y) ? -INFINITY : rank_y, isnan(rank_x) ? -INFINITY : rank_x);

    if (order == 0)
        order = compare(ctl_number(x, "job"), ctl_number(y, "job"));
    return order ? order : compare(ctl_number(x, "step"), ctl_number(y, "step"));
}

void steps_sort(struct json_object *steps, enum steps_sort by)
{
    sorted_by = by;
    json_object_array_sort(steps, in_order);
}

/* ---- cells ---- */

static void put_number(char text[CELL_MAX], double value, int digits)
{
    char number[32];

    snprintf(text, CELL_MAX, "%s", ctl_measure(value, digits, number));
}

static void fill_text(struct json_object *step, const char *key, char text[CELL_MAX])
{
    const char *value = ctl_text(step, key);

    snprintf(text, CELL_MAX, "%.*s", (int)text_fit(value, CELL_COLUMNS), value);
}

static void fill_id(struct json_object *step, char text[CELL_MAX])
{
    fill_text(step, "id", text);
}

static void fill_command(struct json_object *step, char text[CELL_MAX])
{
    const char *path = ctl_text(step, "command"), *slash = strrchr(path, '/');

    path = slash ? slash + 1 : path;
    snprintf(text, CELL_MAX, "%.*s", (int)text_fit(path, CELL_COLUMNS), path);
}

static void fill_cpu(struct json_object *step, char text[CELL_MAX])
{
    put_number(text, steps_cpu_pct(step), 1);
}

static void fill_ipc(struct json_object *step, char text[CELL_MAX])
{
    put_number(text, ctl_number(step, "ipc"), 2);
}

static void fill_memory(struct json_object *step, char text[CELL_MAX])
{
    put_number(text, ctl_number(step, "bytes_s") / 1e9, 2);
}

static void fill_watts(struct json_object *step, char text[CELL_MAX])
{
    put_number(text, steps_watts(step), 1);
}

/* Fills in "3.1" as measured, "~3.1" as predicted. */
static void fill_slowdown(struct json_object *step, char text[CELL_MAX])
{
    bool measured;
    double value = 100 * steps_slowdown(step, &measured);

    snprintf(text, CELL_MAX, "%s%.1f", measured ? "" : "~", value);
    if (isnan(value))
        snprintf(text, CELL_MAX, "-");
}

static void fill_user(struct json_object *step, char text[CELL_MAX])
{
    double uid = ctl_number(step, "uid");
    char name[USERS_NAME_MAX] = "-";

    if (!isnan(uid))
        users_name((uint32_t)uid, name);
    snprintf(text, CELL_MAX, "%s", name);
}

/* The last pages' CPU%, as `top` has drawn them. */
static void fill_trend(struct json_object *step, char text[CELL_MAX])
{
    snprintf(text, CELL_MAX, "%.60s", ctl_text(step, "trend"));
}

static void fill_class(struct json_object *step, char text[CELL_MAX])
{
    fill_text(step, "class", text);
}

static void fill_state(struct json_object *step, char text[CELL_MAX])
{
    fill_text(step, "state", text);
}

static void fill_trial(struct json_object *step, char text[CELL_MAX])
{
    fill_text(step, "trial", text);
}

static void fill_cpus(struct json_object *step, char text[CELL_MAX])
{
    fill_text(step, "cpus", text);
}

static void fill_home(struct json_object *step, char text[CELL_MAX])
{
    fill_text(step, "home", text);
}

static void fill_tasks(struct json_object *step, char text[CELL_MAX])
{
    put_number(text, ctl_number(step, "tasks"), 0);
}

static void fill_miss(struct json_object *step, char text[CELL_MAX])
{
    put_number(text, ctl_number(step, "miss_pmi"), 0);
}

static void fill_elapsed(struct json_object *step, char text[CELL_MAX])
{
    char time[CTL_TIME_MAX];

    ctl_time(ctl_number(step, "elapsed_s"), time);
    snprintf(text, CELL_MAX, "%s", time);
}

static void fill_cpu_time(struct json_object *step, char text[CELL_MAX])
{
    char time[CTL_TIME_MAX];

    ctl_time(ctl_number(step, "user_s") + ctl_number(step, "system_s"), time);
    snprintf(text, CELL_MAX, "%s", time);
}

static void fill_energy(struct json_object *step, char text[CELL_MAX])
{
    char joules[32];

    snprintf(text, CELL_MAX, "%s", ctl_joules(ctl_number(step, "energy_j"), joules));
}

/* ---- columns ---- */

/* A column is as wide as its widest cell, within bounds; names and texts are cut there. */
struct column {
    const char *title;
    size_t least, most;
    bool right;
    bool seldom; /* it is there only where one of the steps has something in it */
    void (*fill)(struct json_object *step, char text[CELL_MAX]);
};

static const struct column step_column = {"STEP", 6, 16, false, false, fill_id};
static const struct column share_column = {"CPU%", 5, 8, true, false, fill_cpu};
static const struct column command_column = {"COMMAND", 7, 16, false, false, fill_command};

/* The others, the most telling first: those at the end give way. */
static const struct column others[] = {
    {"TREND", STEPS_TREND, STEPS_TREND, false, true, fill_trend},
    {"IPC", 4, 6, true, false, fill_ipc},
    {"GB/s", 5, 8, true, false, fill_memory},
    {"WATTS", 5, 8, true, false, fill_watts},
    {"SLOW%", 5, 8, true, false, fill_slowdown},
    {"CPUS", 4, 10, false, false, fill_cpus},
    {"TRIAL", 5, 8, false, true, fill_trial},
    {"USER", 4, 10, false, false, fill_user},
    {"CLASS", 5, 10, false, false, fill_class},
    {"STATE", 5, 8, false, false, fill_state},
    {"HOME", 4, 10, false, false, fill_home},
    {"ELAPSED", 7, 12, true, false, fill_elapsed},
    {"ENERGY", 6, 10, true, false, fill_energy},
    {"TASKS", 5, 6, true, false, fill_tasks},
    {"MISS/MI", 7, 8, true, false, fill_miss},
    {"CPU TIME", 8, 12, true, false, fill_cpu_time},
};
#define OTHERS (sizeof(others) / sizeof(others[0]))

struct table {
    const struct column *column[3 + OTHERS];
    size_t wide[3 + OTHERS], n;
};

/* Returns how wide the column is for those steps. */
static size_t column_wide(const struct column *column, struct json_object *steps)
{
    size_t wide = strlen(column->title) > column->least ? strlen(column->title) : column->least;
    char text[CELL_MAX];

    for (size_t i = 0; i < ctl_length(steps) && wide < column->most; i++) {
        size_t its;

        column->fill(json_object_array_get_idx(steps, i), text);
        its = text_columns(text, strlen(text));
        wide = its > wide ? its : wide;
    }
    return wide < column->most ? wide : column->most;
}

static bool column_empty(const struct column *column, struct json_object *steps)
{
    char text[CELL_MAX];

    for (size_t i = 0; i < ctl_length(steps); i++) {
        column->fill(json_object_array_get_idx(steps, i), text);
        if (strcmp(text, "-") != 0)
            return false;
    }
    return true;
}

/* Chooses the columns that fit. */
static void table_open(struct table *table, const struct screen *screen, struct json_object *steps,
                       bool top)
{
    const struct column *first[3] = {top ? &share_column : &step_column,
                                     top ? &command_column : &share_column,
                                     top ? &step_column : &command_column};
    size_t wide = 0;

    table->n = 0;
    for (size_t i = 0; i < 3 + OTHERS; i++) {
        const struct column *column = i < 3 ? first[i] : &others[i - 3];
        size_t its = column_wide(column, steps);

        if (column->seldom && column_empty(column, steps))
            continue;
        if (i >= 3 && screen->columns && wide + its > screen->columns)
            break;
        table->column[table->n] = column;
        table->wide[table->n++] = its;
        wide += its + 1;
    }
}

/* Puts a cell, cut with a '+' at its end where it is too wide. */
static void put_cell(struct screen *screen, enum screen_style style, const struct column *column,
                     size_t wide, const char *text)
{
    size_t its = text_columns(text, strlen(text)), left = its < wide ? wide - its : 0;
    bool cut = its > wide;

    if (column->right)
        screen_put(screen, SCREEN_PLAIN, "%*s", (int)left, "");
    screen_put(screen, style, "%.*s%s", (int)text_fit(text, cut ? wide - 1 : wide), text,
               cut ? "+" : "");
    screen_put(screen, SCREEN_PLAIN, "%*s", (int)(column->right ? 1 : left + 1), "");
}

static enum screen_style cell_style(const struct column *column, struct json_object *step)
{
    bool measured;

    if (column->fill == fill_class || column->fill == fill_id ||
        (column->fill == fill_state && strcmp(ctl_text(step, "state"), "failed") == 0))
        return steps_style(step);
    if (column->fill == fill_slowdown && steps_slowdown(step, &measured) > SLOW_MUCH)
        return SCREEN_WARN;
    return SCREEN_PLAIN;
}

void steps_put(struct screen *screen, struct json_object *steps, bool top)
{
    size_t n = ctl_length(steps);
    struct table table;

    if (n == 0) {
        screen_line(screen, SCREEN_PLAIN, "no step is registered here");
        return;
    }
    table_open(&table, screen, steps, top);
    for (size_t i = 0; i < table.n; i++)
        put_cell(screen, SCREEN_STRONG, table.column[i], table.wide[i], table.column[i]->title);
    screen_end(screen);
    for (size_t i = 0; i < n; i++) {
        struct json_object *step = json_object_array_get_idx(steps, i);

        if (screen_full(screen, 1) && i + 1 < n) {
            screen_line(screen, SCREEN_PLAIN, "... and %zu more", n - i);
            return;
        }
        for (size_t j = 0; j < table.n; j++) {
            char text[CELL_MAX];

            table.column[j]->fill(step, text);
            put_cell(screen, cell_style(table.column[j], step), table.column[j], table.wide[j],
                     text);
        }
        screen_end(screen);
    }
}
