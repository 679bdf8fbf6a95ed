/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/board/mbm.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/counters/resctrl_caches.h"
#include "packer/counters/resctrl_group.h"
#include "enum_table.h"

#define LOOK_S 1.0
#define MOST_BYTES_PER_S 1e13 /* above what the memory of any one cache can deliver */
#define PATH_SIZE 512

enum event { TOTAL, LOCAL, EVENTS };
static const char *const TABLE(event_file, EVENTS) = {ROW(TOTAL) = "mbm_total_bytes",
                                                      ROW(LOCAL) = "mbm_local_bytes"};
TABLE_COMPLETE(event_file);

/* An event of a control group on a cache. */
struct source {
    int fd; /* -1: it cannot be read */
    uint64_t last;
    bool known;
};

struct mbm {
    const struct rootfs *root;
    size_t llcs;
    long *id;              /* [llcs] what resctrl calls the caches; -1 not known */
    char **group;          /* the control groups but the root's own, ended by NULL */
    size_t groups;         /* with it */
    struct source *source; /* [groups][llcs][EVENTS] */
    double read_s, looked_s;
};

/* ---- the groups ---- */

static bool is_group(const struct rootfs *root, const char *name)
{
    char path[PATH_SIZE];

    if (strcmp(name, "info") == 0 || strcmp(name, "mon_groups") == 0 ||
        strcmp(name, "mon_data") == 0)
        return false;
    snprintf(path, sizeof(path), RESCTRL "/%.255s/mon_data", name);
    return rootfs_exists(root, path);
}

/* The control groups that there are now, but the root's own. */
static char **list_groups(const struct rootfs *root, size_t *n)
{
    char **names = rootfs_list(root, RESCTRL);

    *n = 0;
    for (size_t i = 0; names && names[i]; i++)
        if (is_group(root, names[i]))
            names[(*n)++] = names[i];
        else
            free(names[i]);
    if (names)
        names[*n] = NULL;
    return names;
}

static struct source *source_of(const struct mbm *mbm, size_t group, size_t llc, enum event event)
{
    return &mbm->source[(group * mbm->llcs + llc) * EVENTS + event];
}

/* Group 0 is the root's own. */
static int open_source(const struct mbm *mbm, size_t group, size_t llc, enum event event)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), RESCTRL "/%.255s%smon_data/mon_L3_%02ld/%s",
             group ? mbm->group[group - 1] : "", group ? "/" : "", mbm->id[llc], event_file[event]);
    return mbm->id[llc] < 0 ? -1 : rootfs_openat(mbm->root, path, O_RDONLY);
}

static void close_sources(struct mbm *mbm)
{
    for (size_t i = 0; mbm->source && i < mbm->groups * mbm->llcs * EVENTS; i++)
        file_close(mbm->source[i].fd);
    free(mbm->source);
    mbm->source = NULL;
    rootfs_list_free(mbm->group);
    mbm->group = NULL;
    mbm->groups = 0;
}

/* Takes over the list of groups, and opens what they have. */
static int open_sources(struct mbm *mbm, char **group, size_t n)
{
    close_sources(mbm);
    mbm->group = group;
    mbm->source = calloc((n + 1) * mbm->llcs * EVENTS, sizeof(*mbm->source));
    if (!mbm->source)
        return -1;
    mbm->groups = n + 1;
    for (size_t g = 0; g < mbm->groups; g++)
        for (size_t llc = 0; llc < mbm->llcs; llc++)
            for (enum event e = 0; e < EVENTS; e++)
                source_of(mbm, g, llc, e)->fd = open_source(mbm, g, llc, e);
    return 0;
}

static bool has_group(const struct mbm *mbm, const char *name)
{
    for (size_t i = 0; mbm->group && mbm->group[i]; i++)
        if (strcmp(mbm->group[i], name) == 0)
            return true;
    return false;
}

/* Looks whether there are other groups than before. */
static void look(struct mbm *mbm, double at_s)
{
    size_t n, same = 0;
    char **group = list_groups(mbm->root, &n);

    mbm->looked_s = at_s;
    for (size_t i = 0; i < n; i++)
        same += has_group(mbm, group[i]);
    if (group && (same != n || n + 1 != mbm->groups))
        open_sources(mbm, group, n);
    else
        rootfs_list_free(group);
}

/* ---- reading ---- */

static bool read_number(const struct source *source, uint64_t *value)
{
    char text[64], *end;
    ssize_t got = source->fd < 0 ? -1 : pread(source->fd, text, sizeof(text) - 1, 0);

    if (got <= 0)
        return false;
    text[got] = '\0';
    errno = 0;
    *value = strtoull(text, &end, 10); /* "Unavailable", "Error" */
    return end != text && text[0] != '-' && !errno;
}

/* Bytes since the last reading, that long ago; NAN not known. */
static double grown(struct source *source, double seconds)
{
    uint64_t value = 0, before = source->last;
    bool known = source->known;

    source->known = read_number(source, &value);
    source->last = value;
    if (!known || !source->known || !(seconds > 0) ||
        (double)(value - before) > MOST_BYTES_PER_S * fmax(seconds, 1))
        return NAN;
    return (double)(value - before);
}

static double read_event(const struct mbm *mbm, size_t llc, enum event event, double seconds)
{
    double sum = 0;

    for (size_t g = 0; g < mbm->groups; g++)
        sum += grown(source_of(mbm, g, llc, event), seconds);
    return mbm->groups ? sum / seconds : NAN;
}

void mbm_read(struct mbm *mbm, double at_s, double *total, double *local)
{
    double seconds = at_s - mbm->read_s;

    if (at_s - mbm->looked_s >= LOOK_S)
        look(mbm, at_s);
    for (size_t llc = 0; llc < mbm->llcs; llc++) {
        total[llc] = read_event(mbm, llc, TOTAL, seconds);
        local[llc] = read_event(mbm, llc, LOCAL, seconds);
    }
    mbm->read_s = at_s;
}

/* ---- opening ---- */

static bool counts_traffic(const struct rootfs *root)
{
    char *features = rootfs_read(root, RESCTRL_L3_MON "/mon_features");
    bool has = features && resctrl_has_line(features, event_file[TOTAL]);

    free(features);
    return has;
}

int mbm_open(struct mbm **out, const struct rootfs *root, const struct topo *topo,
             struct berth_error *err)
{
    struct mbm *mbm;

    if (!counts_traffic(root))
        return berth_error_set(err, "resctrl counts no memory traffic here");
    mbm = calloc(1, sizeof(*mbm));
    if (mbm)
        mbm->id = calloc(topo->llcs, sizeof(*mbm->id));
    if (!mbm || !mbm->id) {
        free(mbm);
        return berth_no_memory(err);
    }
    mbm->root = root;
    mbm->llcs = topo->llcs;
    mbm->looked_s = -INFINITY;
    for (size_t i = 0; i < topo->llcs; i++)
        mbm->id[i] = resctrl_cache_id(root, &topo->llc[i]);
    *out = mbm;
    return 0;
}

void mbm_close(struct mbm *mbm)
{
    if (!mbm)
        return;
    close_sources(mbm);
    free(mbm->id);
    free(mbm);
}
