/* SPDX-License-Identifier: GPL-2.0-or-later */
/* meters - a copy of a recorded tree of tests/fixtures/meters, whose files a test may change. */
#ifndef TESTS_UNIT_METERS_H
#define TESTS_UNIT_METERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packer/energy/parts.h"

#define METERS_TOPOLOGY "package:2 l3:1 core:4 pu:1" /* of all the trees */

struct meters {
    char dir[64];
    struct rootfs root;
    struct topo *topo;
    struct conf conf;
    struct energy_node node;
};

/* A tree's name, or NULL for an empty one. Fails the test where it cannot. */
void meters_open(struct meters *meters, const char *name);
void meters_close(struct meters *meters);

/* Write a line into a file, made with its folders if need be; remove a file or a folder. */
void meters_put(const struct meters *meters, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void meters_remove(const struct meters *meters, const char *path);

/* A way that was opened. */
struct way {
    const struct energy_way *way;
    void *state;
    struct energy_zone zone[ENERGY_ZONES];
    size_t zones;
    char say[ENERGY_SAY];
    struct berth_error err;
};

/* 0, or -1 and err. */
int way_open(struct way *way, const struct energy_way *which, const struct meters *meters);
void way_close(struct way *way);

/* Its zone of that kind; fails the test where there is none. */
size_t way_zone(const struct way *way, enum energy_domain domain, unsigned package);

/* Expect that the zone's reading at that time says so; busy time unknown. */
void way_says(struct way *way, size_t zone, double at_s, uint64_t uj, uint64_t gaps);
void way_fails(struct way *way, size_t zone, double at_s);

#endif
