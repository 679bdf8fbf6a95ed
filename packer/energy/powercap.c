/* SPDX-License-Identifier: GPL-2.0-or-later */
/* energy_powercap - RAPL by /sys/class/powercap.
 *
 * AMD's processors are in folders called intel-rapl, too. A folder intel-rapl:N is a package (its
 * file `name` says "package-0", or "package-0-die-1" where a package has several dies) or the
 * platform ("psys"); intel-rapl:N:M is a part of it, of which "dram" is a zone. "core" and "uncore"
 * are in the package's own figure. A zone of several dies is the sum of theirs.
 *
 * Of a node with several "psys" ("psys-1" is the second package's) only one counts: the first that
 * has counted anything. Linux: drivers/powercap/intel_rapl_common.c, powercap_sys.c. */
#include "packer/energy/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASS "/sys/class/powercap"
#define METERS 128 /* packages and their dies, each with its memory */

struct meter {
    size_t zone;
    struct energy_file file;
    struct energy_counter counter;
};

struct powercap {
    const struct rootfs *root;
    size_t meters, zones, unreadable, strange;
    int why;                    /* errno of the unreadable ones */
    char stranger[ENERGY_NAME]; /* the last zone whose package the topology does not know */
    struct meter meter[METERS];
};

/* What the folder's `name` says it is, and of which package. */
struct what {
    enum energy_domain domain;
    unsigned package;
};

static bool is_package(const char *name, unsigned *package)
{
    unsigned die;
    char rest;

    return sscanf(name, "package-%u%c", package, &rest) == 1 ||
           sscanf(name, "package-%u-die-%u%c", package, &die, &rest) == 2;
}

static bool name_of(const struct energy_node *node, const char *folder, char *name)
{
    char path[ENERGY_PATH];

    snprintf(path, sizeof(path), CLASS "/%.64s/name", folder);
    return energy_line(node->root, path, name, ENERGY_NAME);
}

/* Which package of the topology does the zone name? */
static bool find_package(struct powercap *powercap, const struct energy_node *node,
                         const char *name, struct what *what)
{
    unsigned physical;
    long package;

    if (!is_package(name, &physical))
        return false;
    package = energy_package(node, physical);
    what->package = (unsigned)package;
    if (package >= 0)
        return true;
    powercap->strange++;
    snprintf(powercap->stranger, sizeof(powercap->stranger), "%s", name);
    return false;
}

/* Is the folder a zone of ours? */
static bool find_what(struct powercap *powercap, const struct energy_node *node, const char *folder,
                      struct what *what)
{
    char name[ENERGY_NAME], above[ENERGY_NAME];
    const char *part = strrchr(folder, ':');

    if (strncmp(folder, "intel-rapl:", 11) != 0 || !name_of(node, folder, name))
        return false;
    what->package = 0;
    what->domain = ENERGY_NODE;
    if (strncmp(name, "psys", 4) == 0)
        return true;
    snprintf(above, sizeof(above), "%.*s", (int)(part - folder), folder);
    what->domain = strcmp(name, "dram") == 0 ? ENERGY_DRAM : ENERGY_PACKAGE;
    if (what->domain == ENERGY_DRAM && (!strchr(above, ':') || !name_of(node, above, name)))
        return false;
    return find_package(powercap, node, name, what);
}

/* Fill the meter's paths and see that it can be read now. */
static bool open_meter(struct powercap *powercap, struct meter *meter, const char *folder,
                       const struct what *what)
{
    char path[ENERGY_PATH], text[32];
    uint64_t value;

    memset(meter, 0, sizeof(*meter));
    snprintf(path, sizeof(path), CLASS "/%.64s/max_energy_range_uj", folder);
    if (energy_line(powercap->root, path, text, sizeof(text)))
        meter->counter.range = strtoull(text, NULL, 10);
    meter->counter.most_w = energy_most_w(what->domain);
    snprintf(meter->file.path, ENERGY_PATH, CLASS "/%.64s/energy_uj", folder);
    snprintf(meter->file.witness, ENERGY_PATH, CLASS "/%.64s/name", folder);
    energy_line(powercap->root, meter->file.witness, meter->file.name, ENERGY_NAME);
    if (energy_file_open(&meter->file, powercap->root, &value) < 0) {
        powercap->unreadable++;
        powercap->why = errno;
        return false;
    }
    if (what->domain == ENERGY_NODE && value == 0) { /* the package that is not the platform's */
        energy_file_close(&meter->file);
        return false;
    }
    return true;
}

static void add_folder(struct powercap *powercap, const struct energy_node *node,
                       struct energy_zone *zone, const char *folder)
{
    struct meter *meter = &powercap->meter[powercap->meters];
    struct what what;
    size_t before = powercap->zones;

    if (powercap->meters == METERS || !find_what(powercap, node, folder, &what) ||
        !open_meter(powercap, meter, folder, &what))
        return;
    meter->zone =
        energy_zone_index(zone, &powercap->zones, what.domain, what.package, "rapl-powercap");
    if (meter->zone == ENERGY_ZONES || (what.domain == ENERGY_NODE && powercap->zones == before))
        energy_file_close(&meter->file);
    else
        powercap->meters++;
}

static void powercap_close(void *state)
{
    struct powercap *powercap = state;

    for (size_t i = 0; i < powercap->meters; i++)
        energy_file_close(&powercap->meter[i].file);
    free(powercap);
}

/* Every folder, in the order of their numbers. */
static void add_folders(struct powercap *powercap, const struct energy_node *node,
                        struct energy_zone *zone)
{
    char **folder = energy_folders(node->root, CLASS);

    for (size_t i = 0; folder && folder[i]; i++)
        add_folder(powercap, node, zone, folder[i]);
    rootfs_list_free(folder);
}

static int nothing(struct powercap *powercap, struct berth_error *err)
{
    if (powercap->unreadable)
        berth_error_set(err, "%zu RAPL zones in " CLASS ", none readable: %s", powercap->unreadable,
                        strerror(powercap->why));
    else if (powercap->strange)
        berth_error_set(err,
                        "%zu RAPL zones in " CLASS ", of no package that the topology knows (%s)",
                        powercap->strange, powercap->stranger);
    else
        berth_error_set(err, "no RAPL zones in " CLASS);
    powercap_close(powercap);
    return -1;
}

static int powercap_open(const struct energy_node *node, void **state, struct energy_zone *zone,
                         size_t *zones, char say[ENERGY_SAY], struct berth_error *err)
{
    struct powercap *powercap = calloc(1, sizeof(*powercap));
    int length;

    if (!powercap)
        return berth_no_memory(err);
    powercap->root = node->root;
    add_folders(powercap, node, zone);
    if (powercap->zones == 0)
        return nothing(powercap, err);
    length = snprintf(say, ENERGY_SAY, "RAPL:");
    for (enum energy_domain domain = 0; domain < ENERGY_DOMAINS; domain++) {
        size_t n = 0;

        for (size_t i = 0; i < powercap->zones; i++)
            n += zone[i].domain == domain;
        if (n)
            length += snprintf(say + length, ENERGY_SAY - (size_t)length, " %s %zu",
                               energy_domain_name[domain], n);
    }
    if (powercap->unreadable)
        snprintf(say + length, ENERGY_SAY - (size_t)length, "; %zu not readable: %s",
                 powercap->unreadable, strerror(powercap->why));
    *zones = powercap->zones;
    *state = powercap;
    return 0;
}

/* The sum of its meters: of all or of none. A meter that was read while another one failed has not
 * lost anything: its counter has kept it. */
static int powercap_read(void *state, size_t i, double at_s, double busy_s, uint64_t *uj,
                         uint64_t *gaps)
{
    struct powercap *powercap = state;
    uint64_t value;
    int rc = 0;

    (void)busy_s;
    *uj = *gaps = 0;
    for (size_t m = 0; m < powercap->meters; m++) {
        struct meter *meter = &powercap->meter[m];

        if (meter->zone != i)
            continue;
        if (energy_file_read(&meter->file, powercap->root, &value) < 0)
            rc = -1;
        else
            energy_counter_take(&meter->counter, value, at_s);
        *uj += meter->counter.uj;
        *gaps += meter->counter.gaps;
    }
    return rc;
}

static size_t powercap_keep(void *state, size_t i, struct energy_last last[ENERGY_LASTS])
{
    const struct powercap *powercap = state;
    size_t n = 0;

    for (size_t m = 0; m < powercap->meters; m++) {
        const struct energy_counter *counter = &powercap->meter[m].counter;

        if (powercap->meter[m].zone != i)
            continue;
        if (n == ENERGY_LASTS || !counter->begun)
            return 0;
        last[n++] = (struct energy_last){counter->at_s, counter->last, 0};
    }
    return n;
}

static bool powercap_resume(void *state, size_t i, const struct energy_last *last, size_t n)
{
    struct powercap *powercap = state;
    size_t have = 0;

    for (size_t m = 0; m < powercap->meters; m++)
        have += powercap->meter[m].zone == i;
    if (have != n)
        return false;
    for (size_t m = 0; m < powercap->meters; m++)
        if (powercap->meter[m].zone == i)
            energy_counter_resume(&powercap->meter[m].counter, last++);
    return true;
}

const struct energy_way energy_powercap = {.name = "powercap",
                                           .without = "RAPL is read by perf, where that can be",
                                           .open = powercap_open,
                                           .close = powercap_close,
                                           .read = powercap_read,
                                           .keep = powercap_keep,
                                           .resume = powercap_resume};
