/* SPDX-License-Identifier: GPL-2.0-or-later */
/* top - `berthctl top`: the status page again and again, with the CPU time and the energy that each
 * step used meanwhile; a key sorts it, another one draws the machine.
 *
 * Plain ANSI on the terminal's alternate screen. SIGINT, SIGTERM, SIGHUP and SIGTSTP (Ctrl-Z) are
 * blocked and taken from a descriptor beside the keyboard's: every way out passes through the one
 * place that restores the terminal. A berthd that is restarted meanwhile is waited for. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "packer/cli/node/steps_table.h"
#include "packer/cli/common/verbs.h"
#include "packer/cli/node/status.h"

struct top {
    const char *socket;
    bool batch, json;
    int sort;           /* enum steps_sort */
    bool machine, help; /* are shown */
    double delay_s;
    uint64_t count; /* 0: no end */
    int signals;    /* signalfd */
    bool keyboard;  /* stdin is a terminal in raw mode */
    struct termios saved;
    struct json_object *before; /* the last answer */
    double before_s;            /* and when it came */
};

/* ---- the terminal ---- */

static void terminal_take(struct top *top)
{
    struct termios raw;

    if (top->batch)
        return;
    top->keyboard = tcgetattr(STDIN_FILENO, &top->saved) == 0;
    if (top->keyboard) {
        raw = top->saved;
        raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
        raw.c_cc[VMIN] = 0;
        raw.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    fputs("\033[?1049h\033[?25l", stdout); /* alternate screen, no cursor */
}

static void terminal_give_back(struct top *top)
{
    if (top->batch)
        return;
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (top->keyboard)
        tcsetattr(STDIN_FILENO, TCSANOW, &top->saved);
}

/* Stops as Ctrl-Z wants it, with the terminal as it was, and goes on when it is continued. */
static void terminal_stop(struct top *top)
{
    terminal_give_back(top);
    raise(SIGSTOP);
    terminal_take(top);
}

/* Takes a signal. Returns false when it ends the program. */
static bool take_signal(struct top *top)
{
    struct signalfd_siginfo signal;

    if (read(top->signals, &signal, sizeof(signal)) != sizeof(signal) ||
        signal.ssi_signo != SIGTSTP)
        return false;
    terminal_stop(top);
    return true;
}

static void draw(struct top *top);

/* Takes a key. Returns false where that is to leave. */
static bool take_key(struct top *top)
{
    const char *sort;
    char key;

    if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q')
        return false;
    sort = key ? strchr(steps_sort_key, key) : NULL;
    if (sort)
        top->sort = (int)(sort - steps_sort_key);
    top->machine ^= key == 'm';
    top->help = !top->help && (key == 'h' || key == '?');
    if (top->before)
        draw(top);
    return true;
}

/* Sleeps until the next page. Returns false when the person wants to leave. */
static bool terminal_wait(struct top *top)
{
    struct pollfd fds[2] = {{.fd = top->signals, .events = POLLIN},
                            {.fd = top->keyboard ? STDIN_FILENO : -1, .events = POLLIN}};
    double end = clock_s() + top->delay_s, left;

    while ((left = end - clock_s()) > 0) {
        if (poll(fds, 2, (int)(left * 1000) + 1) < 0 && errno != EINTR)
            return false;
        if (fds[0].revents)
            return take_signal(top); /* the page is drawn anew */
        if (fds[1].revents && !take_key(top))
            return false;
    }
    return true;
}

/* ---- a page ---- */

static double cpu_s(struct json_object *step)
{
    return ctl_number(step, "user_s") + ctl_number(step, "system_s");
}

static struct json_object *find_step(struct json_object *answer, const char *id)
{
    struct json_object *steps = ctl_object(answer, "steps");

    for (size_t i = 0; i < ctl_length(steps); i++) {
        struct json_object *step = json_object_array_get_idx(steps, i);

        if (strcmp(ctl_text(step, "id"), id) == 0)
            return step;
    }
    return NULL;
}

/* Adds the CPU% of the last pages, the newest one last, to be drawn: in percent of the most that it
 * was. */
static void add_trend(struct json_object *step, struct json_object *before,
                      const struct screen *screen)
{
    struct json_object *past = ctl_object(before, "past"), *now = json_object_new_array();
    char trend[STEPS_TREND * 4 + 1] = "";
    size_t n = ctl_length(past);
    double most = 0;

    for (size_t i = n < STEPS_TREND ? 0 : n - STEPS_TREND + 1; i < n; i++)
        json_append(now, json_object_get(json_object_array_get_idx(past, i)));
    if (!isnan(ctl_number(step, "cpu_pct")))
        json_append(now, json_object_new_double(ctl_number(step, "cpu_pct")));
    for (size_t i = 0; i < ctl_length(now); i++)
        most = fmax(most, json_object_get_double(json_object_array_get_idx(now, i)));
    for (size_t i = 0; i < ctl_length(now); i++) {
        double value = json_object_get_double(json_object_array_get_idx(now, i));

        strcat(trend, screen_level(screen, most > 0 ? value / most : 0));
    }
    json_add_text(step, "trend", trend[0] ? trend : NULL);
    json_add(step, "past", now);
}

/* Adds the CPU time since the last page, in percent of one CPU, and the power; null where what was
 * used then or now is not known. */
static void add_shares(struct top *top, struct json_object *answer, double now_s)
{
    struct json_object *steps = ctl_object(answer, "steps");
    const struct screen screen = screen_stdout();

    for (size_t i = 0; i < ctl_length(steps); i++) {
        struct json_object *step = json_object_array_get_idx(steps, i);
        struct json_object *before = find_step(top->before, ctl_text(step, "id"));
        double used = before ? cpu_s(step) - cpu_s(before) : NAN;

        double joules =
            before ? ctl_number(step, "energy_j") - ctl_number(before, "energy_j") : NAN;

        json_add_measure(step, "cpu_pct", 100 * used / (now_s - top->before_s));
        json_add_measure(step, "power_w", joules / (now_s - top->before_s));
        if (!top->json)
            add_trend(step, before, &screen);
    }
}

static const char *const help_text[] = {
    "q          leave",
    "c          sort by CPU%: CPU time in percent of one CPU",
    "i          sort by IPC: instructions per cycle",
    "b          sort by GB/s: memory traffic",
    "w          sort by WATTS: the step's part of the metered power",
    "s          sort by SLOW%: slower than alone, measured, or with ~ predicted",
    "u, n       sort by user; by the steps' numbers",
    "m          the machine: its caches, and who is in them",
    "h, ?       this help; any other key ends it",
};

static void put_top(const struct top *top, struct screen *screen)
{
    if (!top->batch)
        screen_line(screen, SCREEN_FAINT, "berthctl top: by %s; h help, m machine, q leaves",
                    steps_sort_title[top->sort]);
    for (size_t i = 0; top->help && i < sizeof(help_text) / sizeof(help_text[0]); i++)
        screen_line(screen, SCREEN_PLAIN, "%s", help_text[i]);
    if (!top->help)
        ctl_put_status(screen, top->before, true, top->machine);
}

/* Draws the last answer. */
static void draw(struct top *top)
{
    struct screen screen = screen_stdout();
    struct winsize size = {0};

    steps_sort(ctl_object(top->before, "steps"), top->sort);
    if (top->json) {
        text_put_json(stdout,
                      json_object_to_json_string_ext(
                          top->before, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
        putchar('\n');
    } else if (top->batch) {
        put_top(top, &screen);
        putchar('\n');
    } else {
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
        screen.rows = size.ws_row > 1 ? size.ws_row - 1u : 0;
        fputs("\033[H\033[2J", stdout);
        put_top(top, &screen);
    }
    fflush(stdout);
}

/* Asks, compares with the last answer, draws. 0, or -1 and err. */
static int page(struct top *top, struct berth_error *err)
{
    struct wire_request request = {.op = WIRE_OP_STATUS};
    struct json_object *answer = ctl_ask(top->socket, &request, err);
    double now_s = clock_s();

    if (!answer)
        return -1;
    add_shares(top, answer, now_s);
    json_object_put(top->before);
    top->before = answer;
    top->before_s = now_s;
    draw(top);
    return ferror(stdout) ? berth_error_set(err, "stdout: %s", strerror(errno)) : 0;
}

/* Says that berthd, which has answered before, does so no more: it may be restarted. */
static void draw_silence(struct top *top, const char *why)
{
    if (!top->batch)
        printf("\033[H\033[2Jberthd: %s; asking again (q leaves)\n", why);
    else if (top->before)
        fprintf(stderr, "berthctl: berthd: %s; asking again\n", why);
    fflush(stdout);
    json_object_put(top->before);
    top->before = NULL;
}

/* Draws a page. Returns 0, or -1 and err: berthd has never answered, or nothing can be written. */
static int page_or_silence(struct top *top, struct berth_error *err)
{
    if (page(top, err) == 0)
        return 0;
    if (top->before_s == 0 || ferror(stdout))
        return -1;
    draw_silence(top, err->text);
    return 0;
}

static int top_show(struct top *top)
{
    struct berth_error err;
    uint64_t pages = 0;
    int rc;

    top->signals = ctl_signals(top->batch ? 0 : SIGTSTP);
    terminal_take(top);
    do
        rc = page_or_silence(top, &err);
    while (rc == 0 && (top->count == 0 || ++pages < top->count) && terminal_wait(top));
    terminal_give_back(top);
    json_object_put(top->before);
    close(top->signals);
    return rc < 0 ? ctl_fail("berthd", "%s", err.text) : 0;
}

/* ---- the verb ---- */

static const struct ctl_option option_rows[] = {
    {"batch", 'b', NULL, "one page after the other; so too where stdout is no terminal",
     CTL_FLAG(struct top, batch)},
    {"delay", 'd', "SECONDS", "between two pages (1; 0.1 to 3600)",
     CTL_NUMBER(struct top, delay_s, "seconds", 0.1, 3600)},
    {"count", 'n', "COUNT", "leave after so many pages",
     CTL_WHOLE(struct top, count, "a number", 1, 0)},
    {"sort", 's', "COLUMN",
     "by cpu, ipc, memory, watts, slowdown, user or step; cpu where not given",
     CTL_WORD(struct top, sort, steps_sort_word)},
    {"machine", 'm', NULL, "draw the machine, too", CTL_FLAG(struct top, machine)},
    {"json", 0, NULL,
     "one JSON object per page, as berthctl status --json, with \"cpu_pct\" and \"power_w\"",
     CTL_FLAG(struct top, json)},
    CTL_OPTION_SOCKET(struct top),
};
static const struct ctl_options options = {
    .verb = "top",
    .synopsis = "[-b] [-d SECONDS] [-n COUNT] [-s COLUMN] [-m] [--json] [--socket PATH]",
    .about = "What the steps do now, drawn anew, busiest first. h tells the keys, q leaves.",
    .more = "A slowdown with a ~ is predicted, one without it measured. NO_COLOR=1: no colour.",
    CTL_OPTIONS(option_rows),
};

int ctl_top(int argc, char **argv)
{
    struct top top = {.delay_s = 1, .sort = STEPS_BY_CPU, .batch = !isatty(STDOUT_FILENO)};
    int status = ctl_options_read(&options, argc, argv, &top);

    if (status >= 0)
        return status;
    top.batch = top.batch || top.json;
    return top_show(&top);
}
