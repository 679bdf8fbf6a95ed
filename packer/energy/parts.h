/* SPDX-License-Identifier: GPL-2.0-or-later */
/* energy_parts - what the ways to read meters have in common: a file that stays open, a counter
 * that wraps around, a power that is integrated, and which package is meant. The arithmetic asks no
 * clock and touches no file. */
#ifndef BERTH_ENERGY_PARTS_H
#define BERTH_ENERGY_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/energy/energy.h"

/* ---- a file of one number ---- */

#define ENERGY_PATH 192
#define ENERGY_NAME 48

/* Kept open: a read is one pread. After a failure it is opened anew at the next read, and then the
 * file called `witness` must still say `name`: another meter may have got the path meanwhile. */
struct energy_file {
    char path[ENERGY_PATH];
    char witness[ENERGY_PATH]; /* "": nothing is asked */
    char name[ENERGY_NAME];
    int fd; /* -1: not open */
};

/* Open it and see that it can be read. 0 and *value (NULL is fine), or -1 with errno: it is closed.
 */
int energy_file_open(struct energy_file *file, const struct rootfs *root, uint64_t *value);
void energy_file_close(struct energy_file *file);

/* 0, or -1 with errno (EPROTO: it says no number). */
int energy_file_read(struct energy_file *file, const struct rootfs *root, uint64_t *value);

/* The first line of a file, without blanks at its end, cut to size. False: not readable. */
bool energy_line(const struct rootfs *root, const char *path, char *text, size_t size);

/* The names in a folder, in the order of their numbers, NULL at the end; NULL: there is none. The
 * caller frees them with rootfs_list_free. */
char **energy_folders(const struct rootfs *root, const char *path);

/* ---- a counter of energy ---- */

struct energy_counter {
    uint64_t range; /* it goes from there to 0; 0: it does not wrap around */
    double most_w;  /* no such thing takes more power */
    bool begun;
    uint64_t last; /* as it was read */
    double at_s;
    uint64_t uj, gaps; /* since its first reading */
};

/* The counter says `value` (of 0 to range, microjoules) at that time. It has wrapped around once
 * where that can be; it may have done so more often where most_w for the time since the last
 * reading is a whole range: a gap is counted, and only what is certain is added. Where even most_w
 * cannot explain the difference the counter was set back: a gap, and nothing is added. */
void energy_counter_take(struct energy_counter *counter, uint64_t value, double at_s);

/* The counter said that when a berthd before this one read it at last, and goes on from there. */
void energy_counter_resume(struct energy_counter *counter, const struct energy_last *last);

/* ---- a power ---- */

struct energy_power {
    bool begun;
    double last_w, at_s;
    double part_uj;    /* what is less than a microjoule */
    uint64_t uj, gaps; /* since its first reading */
};

/* So much power at that time; integrated by the trapezoidal rule, over ENERGY_BRIDGE_S at most: a
 * longer time is a gap. */
void energy_power_take(struct energy_power *power, double watts, double at_s);

/* ---- zones ---- */

/* More than a zone of that domain can take, watts. RAPL's units give a package at least 65 kJ, so
 * that it wraps around once a minute at the most. */
double energy_most_w(enum energy_domain domain);

/* The index of the package that the kernel numbers so, by the physical_package_id of its first CPU;
 * where /sys does not say, they are taken to be numbered in order. -1: there is none. */
long energy_package(const struct energy_node *node, unsigned physical);

/* Do earlier ways have that zone? */
bool energy_had(const struct energy_node *node, enum energy_domain domain, unsigned package);

/* Returns the index of the zone in zone[*n], which it is added to if need be, as of that source;
 * ENERGY_ZONES where there is no room for it. */
size_t energy_zone_index(struct energy_zone *zone, size_t *n, enum energy_domain domain,
                         unsigned package, const char *source);

#endif
