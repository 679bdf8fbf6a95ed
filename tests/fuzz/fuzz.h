/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz - the parsers of bytes from outside, each as a function that takes any bytes and aborts when
 * a promise of the parser is broken.
 *
 * Two programs drive them: libfuzzer.c (configure --enable-fuzzing, clang) looks for inputs by
 * coverage; counters/recorded.c feeds a fixed number of mutations of the seeds, the same in every run, and is
 * part of `make check`. */
#ifndef BERTH_FUZZ_H
#define BERTH_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
    const char *name;
    void (*one)(const uint8_t *data, size_t size);
    const char *const *seed; /* sound inputs, ended by NULL */
};

extern const struct fuzz_target fuzz_wire_request, fuzz_wire_answer, fuzz_cpus, fuzz_step_name,
    fuzz_conf, fuzz_journal, fuzz_ledger_line, fuzz_machine_profile, fuzz_profile_demand,
    fuzz_profile_text, fuzz_samples, fuzz_event_table, fuzz_metrics_accept, fuzz_metrics_label,
    fuzz_metrics_address;

/* Abort, naming the promise, when it does not hold. */
#define fuzz_assert(promise) ((promise) ? (void)0 : fuzz_broken(#promise, __FILE__, __LINE__))
void fuzz_broken(const char *promise, const char *file, int line) __attribute__((noreturn));

/* The input as a string of its own, so that a read beyond its end is seen; free it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* The path of a file of this process in a folder that its end removes, with these bytes in it. */
const char *fuzz_file(const char *name, const uint8_t *data, size_t size);

#endif
