/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made_machine - machines that hwloc is told of: an XML file as lstopo would have written it there,
 * with what no synthetic string can say. */
#ifndef BERTH_TESTS_MADE_MACHINE_H
#define BERTH_TESTS_MADE_MACHINE_H

#define MADE_KINDS 3

struct made_machine {
    const char *synthetic;
    const char *offline; /* CPUs that it has not; NULL: none */
    struct made_kind {
        const char *cpus, *name, *value; /* what hwloc tells of them; name NULL: nothing */
    } kind[MADE_KINDS];                  /* .cpus NULL: no more kinds */
};

/* Writes the file. */
void made_machine_write(const struct made_machine *made, const char *path);

#endif
