/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/system/uncore.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 256

/* ---- files ---- */

/* A file of the PMU, without its end of line; the caller frees it. NULL: there is none. */
static char *read_line(const struct rootfs *root, const char *pmu, const char *folder,
                       const char *name, const char *suffix)
{
    char path[PATH_SIZE], *text;

    if (snprintf(path, sizeof(path), UNCORE_DEVICES "/%s/%s%s%s", pmu, folder, name, suffix) >=
        (int)sizeof(path))
        return NULL;
    text = rootfs_read(root, path);
    if (text)
        text[strcspn(text, "\n")] = '\0';
    return text;
}

static bool parse_u64(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    return !errno && end != text && !*end && text[0] != '-';
}

int uncore_type(const struct rootfs *root, const char *pmu, uint32_t *type)
{
    char *text = read_line(root, pmu, "", "type", "");
    uint64_t value = 0;
    bool read = text && parse_u64(text, &value) && value <= UINT32_MAX;

    free(text);
    *type = (uint32_t)value;
    return read ? 0 : -1;
}

int uncore_cpus(const struct rootfs *root, const char *pmu, struct cpus *cpus,
                struct berth_error *err)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), UNCORE_DEVICES "/%.200s/cpumask", pmu);
    return rootfs_read_cpus(root, path, cpus, err);
}

/* ---- events ---- */

/* The lowest bit of `config` that a term fills: "config:8-15". The event's own number is the lowest
 * part also where the PMU tells no formats. False: it is not in `config`, or in several pieces. */
static bool find_bit(const struct rootfs *root, const char *pmu, const char *term, unsigned *bit)
{
    char *format = read_line(root, pmu, "format/", term, ""), rest[2];
    unsigned last;
    bool found;

    if (!format) {
        *bit = 0;
        return strcmp(term, "event") == 0;
    }
    found = (sscanf(format, "config:%u-%u%1s", bit, &last, rest) == 2 ||
             sscanf(format, "config:%u%1s", bit, rest) == 1) &&
            *bit < 64;
    free(format);
    return found;
}

/* Reads "event=0x04,umask=0x03". */
static bool read_terms(const struct rootfs *root, const char *pmu, char *terms, uint64_t *config)
{
    char *next = terms, *term;

    *config = 0;
    while ((term = strsep(&next, ","))) {
        char *value = strchr(term, '=');
        uint64_t number = 1; /* a term without a value is a flag */
        unsigned bit;

        if (value)
            *value++ = '\0';
        if ((value && !parse_u64(value, &number)) || !find_bit(root, pmu, term, &bit))
            return false;
        *config |= number << bit;
    }
    return true;
}

static bool read_scale(const struct rootfs *root, const char *pmu, const char *name, double *scale)
{
    char *text = read_line(root, pmu, "events/", name, ".scale"), *end = NULL;
    bool read;

    *scale = text ? strtod(text, &end) : NAN;
    read = text && end != text && !*end && isnormal(*scale) && *scale > 0;
    free(text);
    return read;
}

bool uncore_event(const struct rootfs *root, const char *pmu, const char *name, const char *unit,
                  struct uncore_event *event)
{
    char *terms = read_line(root, pmu, "events/", name, ""),
         *its = read_line(root, pmu, "events/", name, ".unit");
    bool has = terms && its && strcmp(its, unit) == 0 &&
               read_terms(root, pmu, terms, &event->config) &&
               read_scale(root, pmu, name, &event->scale);

    free(terms);
    free(its);
    return has;
}
