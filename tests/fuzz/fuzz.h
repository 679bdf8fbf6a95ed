/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz - the parsers of bytes from outside, each as a function that takes any bytes and aborts when
 * a promise of the parser is broken.
 *
 * Two programs drive them: fuzzer.c (configure --enable-fuzzing, clang) looks for inputs by
 * coverage, which tests/fuzz/run does with all of them; replay.c feeds what is stored in
 * tests/fuzz/corpus and a fixed number of mutations of it, the same in every run, and is part of
 * `make check`. */
#ifndef BERTH_FUZZ_H
#define BERTH_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
    const char *name;
    void (*one)(const uint8_t *data, size_t size);
    const char *const *seed; /* sound inputs, ended by NULL */
    unsigned slow;           /* of so many mutations replay feeds one; 0 is 1 */
};

/* Every target is a line of targets.def: fuzz_NAME, which one of the files here defines. What is
 * stored for it is tests/fuzz/corpus/NAME. */
#define FUZZ_TARGET(name) extern const struct fuzz_target fuzz_##name;
#include "tests/fuzz/targets.def"
#undef FUZZ_TARGET

/* The target that crashes on purpose, which no list has: it shows that a crash is reported. */
extern const struct fuzz_target fuzz_selftest;

/* Returns the target of that name, or NULL. */
const struct fuzz_target *fuzz_find(const char *name);

/* Abort, naming the promise, when it does not hold. */
#define fuzz_assert(promise) ((promise) ? (void)0 : fuzz_broken(#promise, __FILE__, __LINE__))
void fuzz_broken(const char *promise, const char *file, int line) __attribute__((noreturn));

/* The input as a string of its own, so that a read beyond its end is seen; free it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* A folder of this process, which its end removes: in $FUZZ_FOLDER, else in memory. */
const char *fuzz_folder(void);

/* The path of a file there, with these bytes in it. */
const char *fuzz_file(const char *name, const uint8_t *data, size_t size);

/* Splits a text at its form feeds into n parts, "" where there are fewer; the last one has the
 * rest. */
void fuzz_parts(char *text, char *part[], size_t n);

/* Where a broken promise is told: stderr, or what a driver has kept of it. */
extern int fuzz_report_fd;

#endif
