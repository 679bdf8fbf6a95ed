/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pin_impl - what the files of pin share: pin_program, which asks pin_script of scripts, and
 * pin_python, which pin_script asks of those of Python. */
#ifndef BERTH_PIN_IMPL_H
#define BERTH_PIN_IMPL_H

#include <stdbool.h>
#include <stddef.h>

#include "pin.h"

#define PIN_SCRIPT_MAX (1u << 20) /* of a script */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct pin_word {
    const char *text; /* one that ends with '*' is the beginning of many */
    enum wire_pin pin;
};

extern const struct pin pin_nothing;

/* Returns a pin by what the text begins with: so many characters. */
struct pin pin_say(enum wire_pin pin, const char *by, size_t length);

/* What the words of a script say, of so many bytes. */
struct pin pin_of_words(const char *text, size_t length);

/* What the script says that is the executable `path` and begins with "#!", as `head` does. */
struct pin pin_of_hash_bang(int fd, const char *path, const char *head, char *const *env);

/* What the interpreter `path` says: its arguments, which are code, options and files that it reads,
 * and what its script imports. */
struct pin pin_of_interpreter(const struct wire_program *program, const char *path, int argc,
                              char *const *argv, char *const *env);

/* What Python's script says with the modules that it imports, or the program's code or module where
 * `script` is NULL. */
struct pin pin_of_python(const struct wire_program *program, const char *interpreter,
                         const char *script, char *const *env);

#endif
