/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blackboard - `berthctl blackboard`: what berthd publishes of the node's shared resources, read as
 * any program reads it (blackboard/berth_blackboard.h). berthd is not asked. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "blackboard/berth_blackboard.h"
#include "packer/base/clock.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/base/text.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "packer/cli/common/screen.h"
#include "packer/cli/common/verbs.h"
#include "enum_table.h"

#define STALE_S 3.0 /* rcr_rate is 1 Hz at least */

struct verb {
    const char *file, *config;
    bool json, live; /* live: page over page on a terminal */
    double delay_s;
    uint64_t count; /* 0: no end */
    char path[PATH_MAX + 16];
    struct berth_blackboard *board;
};

/* What is shown of a section. */
struct row {
    char name[BERTH_BLACKBOARD_NAME_SIZE];
    enum berth_blackboard_result result;
    const char *state; /* NULL: not known */
    double utilisation, traffic, watts, age_s;
    int32_t writer;
};

/* ---- reading ---- */

static const char *state_name(double state)
{
    static const char *const TABLE(name, BERTH_BLACKBOARD_SATURATED + 1) = {
        ROW(BERTH_BLACKBOARD_IDLE) = "idle", ROW(BERTH_BLACKBOARD_NORMAL) = "normal",
        ROW(BERTH_BLACKBOARD_SATURATED) = "saturated"};
    TABLE_COMPLETE(name);

    return state >= BERTH_BLACKBOARD_IDLE && state <= BERTH_BLACKBOARD_SATURATED
               ? name[(size_t)state]
               : NULL;
}

/* Fills in a row: of a section that cannot be read its name. */
static void read_row(const struct berth_blackboard *board, unsigned number, struct row *row)
{
    struct berth_blackboard_section section;

    *row = (struct row){.utilisation = NAN, .traffic = NAN, .watts = NAN, .age_s = NAN};
    berth_blackboard_name(board, (int)number, row->name);
    row->result = berth_blackboard_read(board, (int)number, (uint64_t)(STALE_S * 1e9), &section);
    if (row->result != BERTH_BLACKBOARD_OK && row->result != BERTH_BLACKBOARD_STALE)
        return;
    row->writer = section.writer;
    if (section.written_ns)
        row->age_s = ((double)clock_ns(CLOCK_MONOTONIC) - (double)section.written_ns) * 1e-9;
    row->state = state_name(section.value[BERTH_BLACKBOARD_STATE]);
    row->utilisation = section.value[BERTH_BLACKBOARD_UTILISATION];
    row->traffic = section.value[BERTH_BLACKBOARD_TRAFFIC];
    row->watts = section.value[BERTH_BLACKBOARD_WATTS];
}

/* Why a section tells nothing of now. A berthd that lives writes only while a step runs that it
 * counts. */
static const char *why_not(const struct row *row)
{
    bool lives = row->writer > 0 && (kill(row->writer, 0) == 0 || errno == EPERM);

    if (row->result == BERTH_BLACKBOARD_STALE && lives)
        return "no step runs that berthd counts: nothing is written";
    return berth_blackboard_said(row->result);
}

/* ---- a page ---- */

static struct json_object *describe(const struct row *row)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "name", row->name);
    json_add(object, "state", row->state ? json_object_new_string(row->state) : NULL);
    json_add_measure(object, "utilisation", row->utilisation);
    json_add_measure(object, "traffic_bytes_s", row->traffic);
    json_add_measure(object, "watts", row->watts);
    json_add_measure(object, "age_s", row->age_s);
    json_add(object, "why", row->result ? json_object_new_string(why_not(row)) : NULL);
    return object;
}

static void put_json(const struct verb *verb)
{
    struct json_object *page = json_object_new_object(), *list = json_object_new_array();
    int32_t writer = 0;

    for (unsigned i = 0; i < berth_blackboard_sections(verb->board); i++) {
        struct row row;

        read_row(verb->board, i, &row);
        writer = row.writer ? row.writer : writer;
        json_append(list, describe(&row));
    }
    json_add_text(page, "file", verb->path);
    json_add(page, "writer", writer ? json_object_new_int(writer) : NULL);
    json_add(page, "sections", list);
    text_put_json(stdout, json_object_to_json_string_ext(page, JSON_C_TO_STRING_PLAIN |
                                                                   JSON_C_TO_STRING_NOSLASHESCAPE));
    putchar('\n');
    json_object_put(page);
}

static enum screen_style style_of(const struct row *row)
{
    if (row->result || !row->state)
        return SCREEN_FAINT;
    if (row->state == state_name(BERTH_BLACKBOARD_SATURATED))
        return SCREEN_BAD;
    return row->state == state_name(BERTH_BLACKBOARD_IDLE) ? SCREEN_GOOD : SCREEN_PLAIN;
}

/* A figure at a column, "-" where it is not known. */
static void put_figure(struct screen *screen, size_t column, const char *format, double value)
{
    char text[32] = "-";

    screen_tab(screen, column);
    if (!isnan(value))
        snprintf(text, sizeof(text), format, value);
    screen_put(screen, SCREEN_PLAIN, "%8s", text);
}

static void put_row(struct screen *screen, const struct row *row)
{
    screen_put(screen, SCREEN_PLAIN, "%s", row->name);
    screen_tab(screen, 12);
    screen_put(screen, style_of(row), "%s", row->state ? row->state : "-");
    put_figure(screen, 22, "%.1f", 100 * row->utilisation);
    put_figure(screen, 31, "%.2f", row->traffic * 1e-9);
    put_figure(screen, 40, "%.1f", row->watts);
    put_figure(screen, 49, "%.3f", row->age_s);
    if (row->result)
        screen_put(screen, SCREEN_WARN, "  %s", why_not(row));
    screen_end(screen);
}

static void put_table(const struct verb *verb)
{
    struct screen screen = screen_stdout();
    struct row row;

    if (verb->live)
        fputs("\033[H\033[2J", stdout);
    screen_line(&screen, SCREEN_STRONG, "%-12s%-10s%8s %8s %8s %8s", "SECTION", "STATE", "USED%",
                "GB/s", "WATTS", "AGE s");
    for (unsigned i = 0; i < berth_blackboard_sections(verb->board); i++) {
        read_row(verb->board, i, &row);
        put_row(&screen, &row);
    }
}

static int page(const struct verb *verb)
{
    if (verb->json)
        put_json(verb);
    else
        put_table(verb);
    fflush(stdout);
    return ferror(stdout) ? ctl_fail("stdout", "%s", strerror(errno)) : 0;
}

/* ---- the verb ---- */

/* Where berthd keeps it. Returns 0, or the exit status. */
static int find_file(struct verb *verb)
{
    struct berth_error err;
    struct conf conf;

    if (verb->file) {
        snprintf(verb->path, sizeof(verb->path), "%s", verb->file);
        return 0;
    }
    if (ctl_conf(verb->config, &conf, &err) < 0)
        return ctl_fail("berthd", "%s", err.text);
    snprintf(verb->path, sizeof(verb->path), "%s/blackboard", conf.state_dir);
    return 0;
}

static int open_board(struct verb *verb)
{
    enum berth_blackboard_result result = berth_blackboard_open(&verb->board, verb->path);

    if (result == BERTH_BLACKBOARD_OK)
        return 0;
    if (result == BERTH_BLACKBOARD_FAILED)
        return ctl_fail(verb->path, "%s", strerror(errno));
    return ctl_fail(verb->path, "%s%s", berth_blackboard_said(result),
                    result == BERTH_BLACKBOARD_NONE
                        ? " (is berthd running, with blackboard=on? berthctl doctor)"
                        : "");
}

/* Pages until there were enough, or a signal comes. Follows a berthd that is started anew. */
static int show_board(struct verb *verb)
{
    struct pollfd signals = {.fd = ctl_signals(0), .events = POLLIN};
    uint64_t pages = 0;
    int status;

    for (;;) {
        status = page(verb);
        if (status || ++pages == verb->count || poll(&signals, 1, (int)(verb->delay_s * 1000)) != 0)
            break;
        berth_blackboard_follow(verb->board);
    }
    close(signals.fd);
    return status;
}

static const struct ctl_option option_rows[] = {
    {"delay", 'd', "SECONDS", "between two pages (1; 0.01 to 3600)",
     CTL_NUMBER(struct verb, delay_s, "seconds", 0.01, 3600)},
    {"count", 'n', "COUNT", "end after so many pages; 1 where stdout is no terminal",
     CTL_WHOLE(struct verb, count, "a number", 1, 0)},
    {"json", 0, NULL, "one JSON object per page", CTL_FLAG(struct verb, json)},
    {"file", 'f', "PATH", "read that file", CTL_TEXT(struct verb, file)},
    {"config", 'c', "FILE", "berth.conf, whose state_dir has it", CTL_TEXT(struct verb, config)},
};
static const struct ctl_options options = {
    .verb = "blackboard",
    .synopsis = "[-d SECONDS] [-n COUNT] [--json] [-f PATH | -c FILE]",
    .about = "Whether each memory node, cache and package is idle, normal or saturated, now, as\n"
             "berthd publishes it for programs to read.",
    .more = "NO_COLOR=1: no colour.",
    CTL_OPTIONS(option_rows),
};

int ctl_blackboard(int argc, char **argv)
{
    bool terminal = isatty(STDOUT_FILENO);
    struct verb verb = {.delay_s = 1, .count = terminal ? 0 : 1};
    int status = ctl_options_read(&options, argc, argv, &verb);

    if (status >= 0)
        return status;
    verb.live = terminal && verb.count != 1;
    status = find_file(&verb);
    if (status == 0)
        status = open_board(&verb);
    if (status == 0)
        status = show_board(&verb);
    berth_blackboard_close(verb.board);
    return status;
}
