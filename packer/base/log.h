/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log - writes the daemon's log: one line per event, to stderr (with a time) or to syslog.
 *
 * Control characters in a line are replaced before it is written, here and nowhere else, so no text
 * that a user chose can forge a second line. */
#ifndef BERTH_BASE_LOG_H
#define BERTH_BASE_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVELS };
enum log_target { LOG_TARGET_STDERR, LOG_TARGET_SYSLOG, LOG_TARGETS };

void log_open(enum log_target target, enum log_level level);
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What keeps lines of one kind from filling the log; zero at first. */
struct log_limit {
    double next_s; /* CLOCK_MONOTONIC: no line of its kind is written before */
    unsigned long left_out;
};

/* Writes the line, unless one of its kind was written less than a second ago; the next one that is
 * written tells how many were left out. For whatever a user can cause again and again. */
void log_limited(struct log_limit *limit, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
