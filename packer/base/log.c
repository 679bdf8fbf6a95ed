/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log - see log.h. The target is the process's, so it is the one static here. A line is built whole
 * and leaves in one write, so lines of several processes on one stderr do not mix. */
#include "packer/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/text.h"
#include "enum_table.h"

#define LINE_MAX_BYTES 2048
#define LIMIT_S 1.0

static struct {
    enum log_target target;
    enum log_level level;
} settings = {LOG_TARGET_STDERR, LOG_LEVEL_INFO};

static const char *const TABLE(level_name, LOG_LEVELS) = {
    ROW(LOG_LEVEL_ERROR) = "error",
    ROW(LOG_LEVEL_WARN) = "warn",
    ROW(LOG_LEVEL_INFO) = "info",
    ROW(LOG_LEVEL_DEBUG) = "debug",
};
TABLE_COMPLETE(level_name);
static const int TABLE(level_priority, LOG_LEVELS) = {
    ROW(LOG_LEVEL_ERROR) = LOG_ERR,
    ROW(LOG_LEVEL_WARN) = LOG_WARNING,
    ROW(LOG_LEVEL_INFO) = LOG_INFO,
    ROW(LOG_LEVEL_DEBUG) = LOG_DEBUG,
};
TABLE_COMPLETE(level_priority);

void log_open(enum log_target target, enum log_level level)
{
    if (settings.target == LOG_TARGET_SYSLOG)
        closelog();
    settings.target = target;
    settings.level = level;
    if (target == LOG_TARGET_SYSLOG)
        openlog("berthd", LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

/* "2026-01-31T12:00:00.123+0100 info  TEXT\n" to stderr, in one write. */
static void write_stderr(enum log_level level, const char *text)
{
    char line[LINE_MAX_BYTES + 64], when[32], zone[8];
    struct timespec now;
    struct tm tm;
    int length;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);
    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
    strftime(zone, sizeof(zone), "%z", &tm);
    length = snprintf(line, sizeof(line), "%s.%03ld%s %-5s %s\n", when, now.tv_nsec / 1000000, zone,
                      level_name[level], text);
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return; /* nobody is left to tell */
}

static void write_line(enum log_level level, char *text)
{
    text_clean(text);
    if (settings.target == LOG_TARGET_SYSLOG)
        syslog(level_priority[level], "%s", text);
    else
        write_stderr(level, text);
}

void log_line(enum log_level level, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    int saved = errno;
    va_list args;

    if (level > settings.level)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    write_line(level, text);
    errno = saved;
}

void log_limited(struct log_limit *limit, enum log_level level, const char *format, ...)
{
    char text[LINE_MAX_BYTES], more[48] = "";
    int saved = errno;
    double now_s = clock_s();
    va_list args;

    if (level > settings.level)
        return;
    if (now_s < limit->next_s) {
        limit->left_out++;
        return;
    }
    if (limit->left_out)
        snprintf(more, sizeof(more), " (%lu more of these)", limit->left_out);
    *limit = (struct log_limit){.next_s = now_s + LIMIT_S};
    va_start(args, format);
    vsnprintf(text, sizeof(text) - sizeof(more), format, args);
    va_end(args);
    strcat(text, more);
    write_line(level, text);
    errno = saved;
}
