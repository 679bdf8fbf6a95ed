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

/* Puts a number, its lowest bits first, into the bits that a format lists: "config:0-7,32-35",
 * "config1:0-31". False: it tells others, or too few. */
static bool place_bits(const char *format, uint64_t number, struct uncore_code *code)
{
    unsigned word = 0, first, last;
    const char *next = strchr(format, ':');
    int length;

    if (strncmp(format, "config", strlen("config")) != 0 || !next)
        return false;
    if (format[strlen("config")] != ':' &&
        (sscanf(format, "config%u:", &word) != 1 || word >= UNCORE_WORDS))
        return false;
    for (next++;; next += length + 1) {
        if (sscanf(next, "%u-%u%n", &first, &last, &length) != 2) {
            if (sscanf(next, "%u%n", &first, &length) != 1)
                return false;
            last = first;
        }
        if (first > last || last > 63)
            return false;
        for (unsigned bit = first; bit <= last; bit++, number >>= 1)
            code->config[word] |= (number & 1) << bit;
        if (next[length] != ',')
            return !next[length] && number == 0;
    }
}

/* Puts the value of a term where it belongs. The event's own number is the lowest part also where
 * the PMU tells no formats. */
static bool place_term(const struct rootfs *root, const char *pmu, const char *term,
                       uint64_t number, struct uncore_code *code)
{
    char *format = read_line(root, pmu, "format/", term, "");
    bool placed = format ? place_bits(format, number, code) : strcmp(term, "event") == 0;

    if (!format && placed)
        code->config[0] |= number;
    free(format);
    return placed;
}

/* Reads "event=0x04,umask=0x03", which it cuts into pieces. */
static bool read_terms(const struct rootfs *root, const char *pmu, char *terms,
                       struct uncore_code *code)
{
    char *next = terms, *term;

    *code = (struct uncore_code){{0}};
    while ((term = strsep(&next, ","))) {
        char *value = strchr(term, '=');
        uint64_t number = 1; /* a term without a value is a flag */

        if (value)
            *value++ = '\0';
        if ((value && !parse_u64(value, &number)) || !place_term(root, pmu, term, number, code))
            return false;
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

bool uncore_terms(const struct rootfs *root, const char *pmu, const char *terms,
                  struct uncore_code *code)
{
    char *copy = strdup(terms);
    bool read = copy && read_terms(root, pmu, copy, code);

    free(copy);
    return read;
}

bool uncore_named(const struct rootfs *root, const char *pmu, const char *name,
                  struct uncore_code *code)
{
    char *terms = read_line(root, pmu, "events/", name, "");
    bool has = terms && read_terms(root, pmu, terms, code);

    free(terms);
    return has;
}

bool uncore_event(const struct rootfs *root, const char *pmu, const char *name, const char *unit,
                  struct uncore_event *event)
{
    char *its = read_line(root, pmu, "events/", name, ".unit");
    struct uncore_code code = {{0}};
    bool has = its && strcmp(its, unit) == 0 && uncore_named(root, pmu, name, &code) &&
               !code.config[1] && !code.config[2] && read_scale(root, pmu, name, &event->scale);

    event->config = code.config[0];
    free(its);
    return has;
}
