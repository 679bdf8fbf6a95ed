/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/energy/parts.h"
#include "enum_table.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const TABLE(energy_domain_name, ENERGY_DOMAINS) = {
    ROW(ENERGY_PACKAGE) = "package", ROW(ENERGY_DRAM) = "dram", ROW(ENERGY_NODE) = "node"};
TABLE_COMPLETE(energy_domain_name);

bool energy_counts(const bool known[ENERGY_DOMAINS], enum energy_domain domain)
{
    return known[domain] && known[ENERGY_PACKAGE] == (domain != ENERGY_NODE);
}

/* The kernel's counters are of some time ago, at each of the two readings. */
#define STALE_S 0.1

/* ---- files ---- */

bool energy_line(const struct rootfs *root, const char *path, char *text, size_t size)
{
    char *all = rootfs_read(root, path);
    size_t length;

    text[0] = '\0';
    if (!all)
        return false;
    length = strcspn(all, "\n");
    while (length && isspace((unsigned char)all[length - 1]))
        length--;
    snprintf(text, size, "%.*s", (int)length, all);
    free(all);
    return true;
}

/* "12345\n" and nothing else */
static int parse(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || (*end != '\n' && *end != '\0'))
        errno = EPROTO;
    return errno ? -1 : 0;
}

void energy_file_close(struct energy_file *file)
{
    int saved = errno;

    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    errno = saved;
}

static int read_open(struct energy_file *file, uint64_t *value)
{
    char text[32];
    ssize_t got = pread(file->fd, text, sizeof(text) - 1, 0);

    if (got < 0)
        return -1;
    text[got] = '\0';
    return parse(text, value);
}

static bool still_there(const struct energy_file *file, const struct rootfs *root)
{
    char name[ENERGY_NAME];

    return !file->witness[0] ||
           (energy_line(root, file->witness, name, sizeof(name)) && strcmp(name, file->name) == 0);
}

int energy_file_open(struct energy_file *file, const struct rootfs *root, uint64_t *value)
{
    file->fd = -1;
    return energy_file_read(file, root, value ? value : &(uint64_t){0});
}

int energy_file_read(struct energy_file *file, const struct rootfs *root, uint64_t *value)
{
    if (file->fd < 0 && !still_there(file, root)) {
        errno = ENODEV;
        return -1;
    }
    if (file->fd < 0)
        file->fd = rootfs_openat(root, file->path, O_RDONLY);
    if (file->fd < 0)
        return -1;
    if (read_open(file, value) == 0)
        return 0;
    energy_file_close(file);
    return -1;
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

char **energy_folders(const struct rootfs *root, const char *path)
{
    char **folder = rootfs_list(root, path);
    size_t n = 0;

    while (folder && folder[n])
        n++;
    if (folder)
        qsort(folder, n, sizeof(*folder), by_name);
    return folder;
}

/* ---- counters ---- */

static void go_on(struct energy_counter *counter, uint64_t value, double at_s)
{
    double most_uj = (at_s - counter->at_s + STALE_S) * counter->most_w * 1e6;
    bool falls = value < counter->last;
    uint64_t more = falls ? counter->range - counter->last + value : value - counter->last;

    if (counter->range && most_uj >= (double)counter->range) {
        counter->gaps++;
        counter->uj += more;
    } else if ((falls && !counter->range) || (double)more > most_uj) {
        counter->gaps++;
    } else {
        counter->uj += more;
    }
}

/* A value beyond the range is none of this counter's. */
void energy_counter_take(struct energy_counter *counter, uint64_t value, double at_s)
{
    if (counter->range && value > counter->range) {
        counter->gaps++;
        counter->begun = false;
        return;
    }
    if (counter->begun)
        go_on(counter, value, at_s);
    counter->begun = true;
    counter->last = value;
    counter->at_s = at_s;
}

void energy_counter_resume(struct energy_counter *counter, const struct energy_last *last)
{
    counter->begun = true;
    counter->last = last->uj;
    counter->at_s = last->at_s;
    counter->uj = counter->gaps = 0;
}

void energy_power_take(struct energy_power *power, double watts, double at_s)
{
    double time_s = at_s - power->at_s;

    if (power->begun && time_s > ENERGY_BRIDGE_S) {
        power->gaps++;
    } else if (power->begun && time_s > 0) {
        power->part_uj += (power->last_w + watts) / 2 * time_s * 1e6;
        power->uj += (uint64_t)power->part_uj;
        power->part_uj -= floor(power->part_uj);
    }
    power->begun = true;
    power->last_w = watts;
    power->at_s = at_s;
}

/* ---- zones ---- */

double energy_most_w(enum energy_domain domain)
{
    static const double TABLE(watts, ENERGY_DOMAINS) = {
        ROW(ENERGY_PACKAGE) = 1000, ROW(ENERGY_DRAM) = 500, ROW(ENERGY_NODE) = 10000};
    TABLE_COMPLETE(watts);

    return watts[domain];
}

/* What the kernel calls the package, by its first CPU; -1: it does not say. */
static long physical_of(const struct energy_node *node, size_t package)
{
    char path[128], text[32];
    uint64_t number;
    size_t core = 0;

    while (core < node->topo->cores && node->topo->core[core].package != package)
        core++;
    if (core == node->topo->cores)
        return -1;
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%zu/topology/physical_package_id",
             cpus_next(&node->topo->core[core].cpus, 0));
    if (!energy_line(node->root, path, text, sizeof(text)) || parse(text, &number) < 0)
        return -1;
    return number < UINT16_MAX ? (long)number : -1;
}

long energy_package(const struct energy_node *node, unsigned physical)
{
    bool said = false;

    for (size_t i = 0; i < node->topo->packages; i++) {
        long number = physical_of(node, i);

        if (number == (long)physical)
            return (long)i;
        said = said || number >= 0;
    }
    return said || physical >= node->topo->packages ? -1 : (long)physical;
}

static size_t find_zone(const struct energy_zone *zone, size_t n, enum energy_domain domain,
                        unsigned package)
{
    size_t i = 0;

    while (i < n && (zone[i].domain != domain || zone[i].package != package))
        i++;
    return i;
}

bool energy_had(const struct energy_node *node, enum energy_domain domain, unsigned package)
{
    return find_zone(node->have, node->had, domain, package) < node->had;
}

size_t energy_zone_index(struct energy_zone *zone, size_t *n, enum energy_domain domain,
                         unsigned package, const char *source)
{
    size_t i = find_zone(zone, *n, domain, package);

    if (i == *n && i < ENERGY_ZONES)
        zone[(*n)++] = (struct energy_zone){domain, package, source, false};
    return i;
}
