/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log - writes the daemon's log: one line per event, to stderr (with a time) or to syslog.
 *
 * Control characters in a line are replaced before it is written, here and nowhere else, so no text
 * that a user chose can forge a second line. */
#ifndef BERTH_BASE_LOG_H
#define BERTH_BASE_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };
enum log_target { LOG_TARGET_STDERR, LOG_TARGET_SYSLOG };

void log_open(enum log_target target, enum log_level level);
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
