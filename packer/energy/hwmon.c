/* SPDX-License-Identifier: GPL-2.0-or-later */
/* energy_hwmon - the sensors of hwmon that are known to measure a package or the whole node.
 *
 * hwmon has many powers: of fans, disks, network cards, rails. Only those of the table below are
 * taken, of which it is known what they measure:
 *
 *   amd_energy   energyN_input of the label "Esocket0": a package's counter of 64 bits
 *   power_meter  power1_average of an ACPI power meter: the whole node's, unless its oem_info says
 *                "Grace Power Socket 0", which is a package of NVIDIA's Grace with its memory. Its
 *                other meters are parts of that or have a GPU in them. What IPMI-DCMI knows comes
 *                this way, too: the meter's ACPI methods ask the management controller (acpi_ipmi)
 *   apm_xgene    powerN_input of the label "CPU power": the package of an X-Gene
 *
 * Where several meters would be the whole node's, what each of them measures is not known, and none
 * is used. A driver's files are in hwmonN or in hwmonN/device. Linux: Documentation/hwmon/
 * {sysfs-interface,acpi_power_meter,amd_energy,xgene-hwmon}.rst. */
#include "packer/energy/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/energy/sampler.h"

#define CLASS "/sys/class/hwmon"

enum kind { COUNTER, POWER };

static const struct rule {
    const char *driver;
    enum kind kind;
    const char *value[2]; /* which files say it, the better one first: "power%u_average" */
    const char *about;    /* which file says what it is; NULL: none need */
    const char *what;     /* and what that says; %u is the package, else it is the first */
    enum energy_domain domain;
} rules[] = {
    {"amd_energy", COUNTER, {"energy%u_input"}, "energy%u_label", "Esocket%u", ENERGY_PACKAGE},
    {"power_meter",
     POWER,
     {"power%u_average", "power%u_input"},
     "power%u_oem_info",
     "Grace Power Socket %u",
     ENERGY_PACKAGE},
    {"power_meter", POWER, {"power%u_average", "power%u_input"}, NULL, NULL, ENERGY_NODE},
    {"apm_xgene", POWER, {"power%u_input"}, "power%u_label", "CPU power", ENERGY_PACKAGE},
};
#define RULES (sizeof(rules) / sizeof(rules[0]))

struct meter {
    enum kind kind;
    struct energy_file file;
    struct energy_counter counter; /* COUNTER */
    size_t index;                  /* POWER: in the sampler */
};

struct hwmon {
    const struct rootfs *root;
    struct energy_sampler *sampler; /* NULL: there is no POWER */
    size_t n, nodes;                /* meters; those that would be the whole node's */
    int why;                        /* errno of the last that could not be read */
    struct meter meter[ENERGY_ZONES];
};

/* ---- finding ---- */

/* One device: the folder of its files, the name of its driver. */
struct device {
    char folder[ENERGY_PATH], name[ENERGY_NAME];
    char witness[ENERGY_PATH]; /* the file that says the name */
};

/* The pattern holds at most one %u; this is not the place of a user's text. */
static void fill(char *text, size_t size, const char *folder, const char *pattern, unsigned i)
{
    const char *at = strstr(pattern, "%u");

    if (at)
        snprintf(text, size, "%.120s/%.*s%u%s", folder, (int)(at - pattern), pattern, i, at + 2);
    else
        snprintf(text, size, "%.120s/%s", folder, pattern);
}

/* Does the text fit the pattern? What stands for %u goes to *number (0 without one). */
static bool fits(const char *text, const char *pattern, unsigned *number)
{
    const char *at = strstr(pattern, "%u");
    char rest;

    *number = 0;
    if (!at)
        return strcmp(text, pattern) == 0;
    return strncmp(text, pattern, (size_t)(at - pattern)) == 0 &&
           sscanf(text + (at - pattern), "%u%c", number, &rest) == 1;
}

/* A part of a socket of Grace, or of it and its GPU. */
static bool is_part(const struct energy_node *node, const struct device *device, unsigned i)
{
    char path[ENERGY_PATH], text[ENERGY_NAME];

    fill(path, sizeof(path), device->folder, "power%u_is_battery", i);
    if (energy_line(node->root, path, text, sizeof(text)) && strcmp(text, "0") != 0)
        return true;
    fill(path, sizeof(path), device->folder, "power%u_oem_info", i);
    return energy_line(node->root, path, text, sizeof(text)) && strstr(text, " Power Socket ");
}

/* Is the device's i-th sensor that rule's? */
static bool rule_fits(const struct energy_node *node, const struct rule *rule,
                      const struct device *device, unsigned i, unsigned *package)
{
    char path[ENERGY_PATH], text[ENERGY_NAME];

    *package = 0;
    if (!rule->about)
        return !is_part(node, device, i);
    fill(path, sizeof(path), device->folder, rule->about, i);
    return energy_line(node->root, path, text, sizeof(text)) && fits(text, rule->what, package) &&
           *package < node->topo->packages;
}

/* The file that says the i-th sensor's value; false: there is no such sensor. */
static bool value_path(const struct hwmon *hwmon, const struct rule *rule,
                       const struct device *device, unsigned i, char *path)
{
    for (size_t v = 0; v < 2 && rule->value[v]; v++) {
        fill(path, ENERGY_PATH, device->folder, rule->value[v], i);
        if (rootfs_exists(hwmon->root, path))
            return true;
    }
    return false;
}

static bool open_file(struct hwmon *hwmon, struct energy_file *file, const struct rule *rule,
                      const struct device *device, unsigned i)
{
    if (rule->about)
        fill(file->witness, sizeof(file->witness), device->folder, rule->about, i);
    else
        snprintf(file->witness, sizeof(file->witness), "%s", device->witness);
    energy_line(hwmon->root, file->witness, file->name, sizeof(file->name));
    if (energy_file_open(file, hwmon->root, NULL) == 0)
        return true;
    hwmon->why = errno;
    return false;
}

/* Add the sensor, unless its zone is there already. */
static void add_sensor(struct hwmon *hwmon, const struct energy_node *node,
                       struct energy_zone *zone, const struct rule *rule,
                       const struct device *device, unsigned i)
{
    struct meter meter = {.kind = rule->kind, .counter = {.most_w = energy_most_w(rule->domain)}};
    unsigned package;
    size_t meters = hwmon->n;

    if (!rule_fits(node, rule, device, i, &package) || energy_had(node, rule->domain, package))
        return;
    value_path(hwmon, rule, device, i, meter.file.path);
    if (!open_file(hwmon, &meter.file, rule, device, i))
        return;
    hwmon->nodes += rule->domain == ENERGY_NODE;
    if (energy_zone_index(zone, &hwmon->n, rule->domain, package, "hwmon") == meters &&
        meters < ENERGY_ZONES)
        hwmon->meter[meters] = meter;
    else
        energy_file_close(&meter.file);
}

/* The name of its driver, and which file says it. */
static bool find_device(const struct energy_node *node, const char *folder, struct device *device)
{
    for (size_t b = 0; b < 2; b++) {
        snprintf(device->witness, sizeof(device->witness), CLASS "/%.32s%s/name", folder,
                 b ? "/device" : "");
        if (energy_line(node->root, device->witness, device->name, sizeof(device->name)))
            return true;
    }
    return false;
}

static void add_device(struct hwmon *hwmon, const struct energy_node *node,
                       struct energy_zone *zone, const char *folder)
{
    struct device device;
    size_t before = hwmon->n + hwmon->nodes;

    if (!find_device(node, folder, &device))
        return;
    for (size_t b = 0; b < 2 && hwmon->n + hwmon->nodes == before; b++) {
        char path[ENERGY_PATH];

        snprintf(device.folder, sizeof(device.folder), CLASS "/%.32s%s", folder,
                 b ? "/device" : "");
        for (size_t r = 0; r < RULES; r++) {
            if (strcmp(rules[r].driver, device.name) != 0)
                continue;
            for (unsigned i = 1; value_path(hwmon, &rules[r], &device, i, path); i++)
                add_sensor(hwmon, node, zone, &rules[r], &device, i);
        }
    }
}

static void add_devices(struct hwmon *hwmon, const struct energy_node *node,
                        struct energy_zone *zone)
{
    char **folder = energy_folders(node->root, CLASS);

    for (size_t i = 0; folder && folder[i]; i++)
        add_device(hwmon, node, zone, folder[i]);
    rootfs_list_free(folder);
}

/* ---- the way ---- */

/* Several meters of the whole node: none. */
static void drop_nodes(struct hwmon *hwmon, struct energy_zone *zone)
{
    size_t kept = 0;

    for (size_t i = 0; hwmon->nodes > 1 && i < hwmon->n; i++) {
        if (zone[i].domain == ENERGY_NODE) {
            energy_file_close(&hwmon->meter[i].file);
            continue;
        }
        zone[kept] = zone[i];
        hwmon->meter[kept++] = hwmon->meter[i];
    }
    if (hwmon->nodes > 1)
        hwmon->n = kept;
}

static void hwmon_close(void *state)
{
    struct hwmon *hwmon = state;

    if (hwmon->sampler)
        energy_sampler_stop(hwmon->sampler);
    for (size_t i = 0; i < hwmon->n; i++)
        energy_file_close(&hwmon->meter[i].file);
    free(hwmon);
}

static int start_sampler(struct hwmon *hwmon, struct berth_error *err)
{
    struct energy_file file[ENERGY_ZONES];
    size_t n = 0;

    for (size_t i = 0; i < hwmon->n; i++) {
        struct meter *meter = &hwmon->meter[i];

        if (meter->kind != POWER)
            continue;
        energy_file_close(&meter->file);
        meter->index = n;
        file[n++] = meter->file;
    }
    return n == 0
               ? 0
               : energy_sampler_start(&hwmon->sampler, hwmon->root, file, n, ENERGY_SAMPLE_MS, err);
}

static int explain(const struct hwmon *hwmon, struct berth_error *err)
{
    if (hwmon->nodes > 1)
        return berth_error_set(err, "%zu meters that may be the whole node's: none is used",
                               hwmon->nodes);
    if (hwmon->why)
        return berth_error_set(err, "a meter in " CLASS " is not readable: %s",
                               strerror(hwmon->why));
    return berth_error_set(err, "no meter that is known and not read already in " CLASS);
}

static int hwmon_open(const struct energy_node *node, void **state, struct energy_zone *zone,
                      size_t *zones, char say[ENERGY_SAY], struct berth_error *err)
{
    struct hwmon *hwmon = calloc(1, sizeof(*hwmon));
    size_t packages = 0;

    if (!hwmon)
        return berth_no_memory(err);
    hwmon->root = node->root;
    add_devices(hwmon, node, zone);
    drop_nodes(hwmon, zone);
    if (hwmon->n == 0 ? explain(hwmon, err) < 0 : start_sampler(hwmon, err) < 0) {
        hwmon_close(hwmon);
        return -1;
    }
    for (size_t i = 0; i < hwmon->n; i++)
        packages += zone[i].domain == ENERGY_PACKAGE;
    snprintf(say, ENERGY_SAY, "packages %zu, whole node: %s", packages,
             hwmon->nodes > 1      ? "several meters, none is used"
             : packages < hwmon->n ? "yes"
                                   : "no");
    *zones = hwmon->n;
    *state = hwmon;
    return 0;
}

static int hwmon_read(void *state, size_t i, double at_s, double busy_s, uint64_t *uj,
                      uint64_t *gaps)
{
    struct hwmon *hwmon = state;
    struct meter *meter = &hwmon->meter[i];
    uint64_t value;

    (void)busy_s;
    if (meter->kind == POWER)
        return energy_sampler_get(hwmon->sampler, meter->index, at_s, uj, gaps);
    if (energy_file_read(&meter->file, hwmon->root, &value) < 0)
        return -1;
    energy_counter_take(&meter->counter, value, at_s);
    *uj = meter->counter.uj;
    *gaps = meter->counter.gaps;
    return 0;
}

static size_t hwmon_keep(void *state, size_t i, struct energy_last last[ENERGY_LASTS])
{
    struct hwmon *hwmon = state;
    const struct meter *meter = &hwmon->meter[i];

    if (meter->kind == POWER)
        return energy_sampler_keep(hwmon->sampler, meter->index, last);
    *last = (struct energy_last){meter->counter.at_s, meter->counter.last, 0};
    return meter->counter.begun;
}

static bool hwmon_resume(void *state, size_t i, const struct energy_last *last, size_t n)
{
    struct hwmon *hwmon = state;
    struct meter *meter = &hwmon->meter[i];

    if (n != 1)
        return false;
    if (meter->kind == POWER)
        return energy_sampler_resume(hwmon->sampler, meter->index, last);
    energy_counter_resume(&meter->counter, last);
    return true;
}

static void hwmon_rest(void *state, bool rests)
{
    const struct hwmon *hwmon = state;

    if (hwmon->sampler)
        energy_sampler_rest(hwmon->sampler, rests);
}

const struct energy_way energy_hwmon = {.name = "hwmon",
                                        .without =
                                            "packages and the node are what RAPL has of them",
                                        .open = hwmon_open,
                                        .close = hwmon_close,
                                        .read = hwmon_read,
                                        .keep = hwmon_keep,
                                        .resume = hwmon_resume,
                                        .rest = hwmon_rest};
