/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unit - reads the [Service] section of a unit file and of drop-ins, as far as berth's own have
 * directives. */
#ifndef BERTH_TESTS_CONFINED_UNIT_H
#define BERTH_TESTS_CONFINED_UNIT_H

#include <stdbool.h>
#include <stddef.h>

#define WORDS_MAX 256

/* A list that a directive has filled; an empty value empties it. A word of a list of what is not
 * meant begins with "~". */
struct words {
    size_t n;
    const char *word[WORDS_MAX];
    bool given; /* at all, if only to empty it */
};

struct unit {
    bool no_new_privileges, private_tmp, private_devices, private_network, private_ipc;
    bool protect_home, protect_tunables, protect_modules, protect_logs, protect_clock;
    bool protect_hostname, protect_cgroups;
    bool no_namespaces, no_realtime, no_setuid_files, lock_personality, no_written_code;
    bool native_calls, strict_system;
    struct words capabilities, families, calls, writable, runtime, state;
    const char *umask, *files, *memory, *tasks; /* NULL: not given */
};

/* Adds what the file says. Prints what is wrong, and where, and exits with 2: a directive that is
 * not known here must not be passed over. */
void unit_read(struct unit *unit, const char *path);

#endif
