/* SPDX-License-Identifier: GPL-2.0-or-later */
/* meters - see meters.h */
#include "tests/unit/common/meters.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/common/folder.h"

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    char command[1024];
    va_list args;

    va_start(args, format);
    assert_in_range(vsnprintf(command, sizeof(command), format, args), 1, sizeof(command) - 1);
    va_end(args);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}

void meters_open(struct meters *meters, const char *name)
{
    const char *srcdir = getenv("srcdir");
    struct berth_error err = {""};

    memset(meters, 0, sizeof(*meters));
    folder_new(meters->dir, sizeof(meters->dir), "berth-meters");
    if (name)
        shell("cp -R -P '%s/tests/fixtures/meters/%s/.' '%s' && chmod -R u+w '%s'",
              srcdir ? srcdir : ".", name, meters->dir, meters->dir);
    if (rootfs_open(&meters->root, meters->dir, &err) < 0 ||
        topo_read(&meters->topo, METERS_TOPOLOGY, &err) < 0)
        fail_msg("%s", err.text);
    conf_init(&meters->conf);
    snprintf(meters->conf.energy_root, sizeof(meters->conf.energy_root), "%s", meters->dir);
    meters->node =
        (struct energy_node){.root = &meters->root, .topo = meters->topo, .conf = &meters->conf};
}

void meters_close(struct meters *meters)
{
    rootfs_close(&meters->root);
    topo_free(meters->topo);
    folder_remove(meters->dir);
}

void meters_put(const struct meters *meters, const char *path, const char *format, ...)
{
    char text[4096];
    va_list args;

    va_start(args, format);
    assert_in_range(vsnprintf(text, sizeof(text) - 1, format, args), 0, sizeof(text) - 2);
    va_end(args);
    folder_put(meters->dir, path, strcat(text, "\n"));
}

void meters_remove(const struct meters *meters, const char *path)
{
    shell("rm -r '%s%s'", meters->dir, path);
}

int way_open(struct way *way, const struct energy_way *which, const struct meters *meters)
{
    memset(way, 0, sizeof(*way));
    way->way = which;
    return which->open(&meters->node, &way->state, way->zone, &way->zones, way->say, &way->err);
}

void way_close(struct way *way)
{
    way->way->close(way->state);
}

size_t way_zone(const struct way *way, enum energy_domain domain, unsigned package)
{
    for (size_t i = 0; i < way->zones; i++)
        if (way->zone[i].domain == domain && way->zone[i].package == package)
            return i;
    fail_msg("no zone %s %u", energy_domain_name[domain], package);
    return 0;
}

void way_says(struct way *way, size_t zone, double at_s, uint64_t uj, uint64_t gaps)
{
    uint64_t is_uj = 1, is_gaps = 1;

    if (way->way->read(way->state, zone, at_s, NAN, &is_uj, &is_gaps) < 0)
        fail_msg("at %g s: %s", at_s, strerror(errno));
    assert_int_equal(is_uj, uj);
    assert_int_equal(is_gaps, gaps);
}

void way_fails(struct way *way, size_t zone, double at_s)
{
    uint64_t uj, gaps;

    assert_int_equal(way->way->read(way->state, zone, at_s, NAN, &uj, &gaps), -1);
}
