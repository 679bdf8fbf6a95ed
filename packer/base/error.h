/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error - holds why something failed, in one line for a person.
 *
 * The callee fills it, the caller decides whether to log, print or ignore it: no function of the
 * library prints or exits. Every function that takes a `struct berth_error *` accepts NULL. */
#ifndef BERTH_BASE_ERROR_H
#define BERTH_BASE_ERROR_H

struct berth_error {
    char text[512];
};

/* Writes the reason (printf style) into err, cut to its size, and keeps errno. Returns -1 always,
 * so that a failing function can end in `return berth_error_set(err, "...")`. */
int berth_error_set(struct berth_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes that there is no memory, and keeps errno. Returns -1. */
int berth_no_memory(struct berth_error *err);

/* Writes where it is (printf style) before the reason that err has, and keeps errno. Returns -1. */
int berth_error_before(struct berth_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
