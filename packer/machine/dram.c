/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dram - see dram.h */
#include "packer/machine/dram.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/file.h"
#include "packer/machine/dmi.h"
#include "packer/machine/edac.h"
#include "packer/machine/spd.h"

#define DMI "/sys/firmware/dmi/tables/DMI"
#define NS_MAX 1e9
#define CHANNEL_BYTES 8 /* a transfer, of what slots call a channel */
#define MODULES_MAX DMI_MODULES_MAX

#define TIME(key, member, least)                                                                   \
    {                                                                                              \
        JSON_AT(struct machine_dram, key, member, OPTIONAL),                                       \
            .kind = JSON_NUMBER, .format = "%.6g", .min = (least), .max = NS_MAX                   \
    }
#define COUNT(member) JSON_WHOLE(struct machine_dram, #member, member, OPTIONAL, 1, 1e6)

const struct json_field machine_dram_fields[] = {
    {JSON_AT(struct machine_dram, "type", type, OPTIONAL), .kind = JSON_TEXT, .min = 1},
    {JSON_AT(struct machine_dram, "source", source, OPTIONAL), .kind = JSON_TEXT, .min = 1},
    COUNT(channels),
    COUNT(ranks),
    COUNT(banks),
    TIME("tCK_ns", tck_ns, 0),
    TIME("tRCD_ns", trcd_ns, 0),
    TIME("tCAS_ns", tcas_ns, 0),
    TIME("tRP_ns", trp_ns, 0),
    TIME("tBurst_ns", tburst_ns, 1e-9),
    TIME("tWR_ns", twr_ns, 0),
    TIME("tRTRS_ns", trtrs_ns, 0),
    TIME("tWTR_ns", twtr_ns, 0),
    TIME("request_bytes", request_bytes, 1),
    TIME("auto_close", auto_close, 0),
    JSON_END,
};

void machine_dram_init(struct machine_dram *dram)
{
    *dram = (struct machine_dram){"",  "",  NAN, NAN, NAN, NAN, NAN, NAN,
                                  NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

/* Holds what the sources said. */
struct found {
    struct dmi_module dmi[MODULES_MAX];
    size_t by_dmi;
    struct spd_module spd[MODULES_MAX];
    size_t by_spd;
    struct edac_memory edac; /* .channels 0: says nothing */
    void (*tell)(const char *text, void *arg);
    void *arg;
};

static void tell(const struct found *found, const char *what, const char *why)
{
    char text[sizeof(struct berth_error) + 300];

    snprintf(text, sizeof(text), "%s: %s", what, why);
    if (found->tell)
        found->tell(text, found->arg);
}

/* ---- the sources ---- */

/* Returns the file's bytes, at most `max` of them, which the caller frees; NULL with errno. */
static uint8_t *read_bytes(const struct rootfs *root, const char *path, size_t max, size_t *size)
{
    int fd = rootfs_openat(root, path, O_RDONLY);
    char *bytes = fd < 0 ? NULL : file_read_fd(fd, max, size);

    file_close(fd);
    return (uint8_t *)bytes;
}

static void read_dmi(const struct rootfs *root, struct found *found)
{
    size_t size = 0;
    uint8_t *table = read_bytes(root, DMI, DMI_TABLE_MAX, &size);
    struct berth_error err;
    long n;

    if (!table) {
        tell(found, DMI, strerror(errno));
        return;
    }
    n = dmi_modules(table, size, found->dmi, MODULES_MAX, &err);
    free(table);
    if (n < 0)
        tell(found, DMI, err.text);
    else if (n == 0 || n > MODULES_MAX)
        tell(found, DMI, n ? "too many memory modules" : "no memory module");
    else
        found->by_dmi = (size_t)n;
}

static void read_eeprom(const struct rootfs *root, const char *path, struct found *found)
{
    size_t size = 0;
    uint8_t *bytes = read_bytes(root, path, SPD_BYTES_MAX, &size);
    struct berth_error err;

    if (!bytes)
        tell(found, path, strerror(errno));
    else if (found->by_spd == MODULES_MAX)
        tell(found, path, "too many memory modules");
    else if (spd_parse(bytes, size, &found->spd[found->by_spd], &err) < 0)
        tell(found, path, err.text);
    else
        found->by_spd++;
    free(bytes);
}

/* Reads the EEPROMs that a driver has: folders of i2c devices, "5-0050". */
static size_t read_driver(const struct rootfs *root, const char *driver, struct found *found)
{
    char folder[128], path[256];
    size_t seen = 0;
    char **devices;

    snprintf(folder, sizeof(folder), "/sys/bus/i2c/drivers/%s", driver);
    devices = rootfs_list(root, folder);
    for (size_t i = 0; devices && devices[i]; i++) {
        snprintf(path, sizeof(path), "%s/%.64s/eeprom", folder, devices[i]);
        if (!strchr(devices[i], '-') || !rootfs_exists(root, path))
            continue;
        read_eeprom(root, path, found);
        seen++;
    }
    rootfs_list_free(devices);
    return seen;
}

static void read_spd(const struct rootfs *root, struct found *found)
{
    static const char *const driver[] = {"at24", "ee1004", "spd5118"};
    size_t seen = 0;

    for (size_t i = 0; i < sizeof(driver) / sizeof(driver[0]); i++)
        seen += read_driver(root, driver[i], found);
    if (seen == 0)
        tell(found, "/sys/bus/i2c/drivers",
             "no EEPROM of a memory module: is the driver loaded (ee1004, spd5118, at24)?");
}

static void read_edac(const struct rootfs *root, struct found *found)
{
    struct berth_error err;

    if (edac_read(root, &found->edac, &err) == 0)
        return;
    found->edac = (struct edac_memory){0};
    tell(found, "EDAC", err.text);
}

/* ---- what follows ---- */

/* Returns the modules' kind where it is the same of all; DRAM_UNKNOWN else. */
static enum dram_kind kind_of(const struct found *found)
{
    enum dram_kind kind = found->by_spd   ? found->spd[0].kind
                          : found->by_dmi ? found->dmi[0].kind
                                          : DRAM_UNKNOWN;

    for (size_t i = 0; i < found->by_spd; i++)
        kind = found->spd[i].kind == kind ? kind : DRAM_UNKNOWN;
    for (size_t i = 0; i < found->by_dmi; i++)
        kind = found->dmi[i].kind == kind ? kind : DRAM_UNKNOWN;
    return kind;
}

/* Returns the channels of one module: what its EEPROM says, where all say the same; else DDR5 has
 * not said. */
static double split_of(const struct found *found, enum dram_kind kind)
{
    double split = found->by_spd ? found->spd[0].channels : kind == DRAM_DDR5 ? NAN : 1;

    for (size_t i = 0; i < found->by_spd; i++)
        split = found->spd[i].channels == split ? split : NAN;
    return split;
}

/* Returns total / parts where that is a whole number of at least 1; NAN else. */
static double even(double total, double parts)
{
    double each = total / parts;

    return each >= 1 && floor(each) == each ? each : NAN;
}

/* Returns the ranks of all modules; NAN where one does not say. */
static double ranks_of(const struct found *found, double split)
{
    double sum = 0;

    if (found->edac.ranks)
        return (double)found->edac.ranks * split;
    for (size_t i = 0; i < found->by_dmi; i++)
        sum += found->dmi[i].ranks ? found->dmi[i].ranks * split : NAN;
    if (found->by_dmi && !isnan(sum))
        return sum;
    sum = 0;
    for (size_t i = 0; i < found->by_spd; i++)
        sum += found->spd[i].ranks * (double)found->spd[i].channels;
    return found->by_spd ? sum : NAN;
}

/* Returns the channels that have a name, as slots do; 0: nothing says them. */
static size_t named_channels(const struct found *found)
{
    return found->edac.channels ? found->edac.channels : dmi_channels(found->dmi, found->by_dmi);
}

static void count_parts(const struct found *found, size_t nodes, enum dram_kind kind,
                        struct machine_dram *dram)
{
    double split = split_of(found, kind);
    size_t named = named_channels(found);
    double channels = named ? (double)named * split : NAN;

    dram->channels = even(channels, (double)nodes);
    dram->ranks = even(ranks_of(found, split), channels);
    dram->banks = kind == DRAM_DDR3 ? 8 : NAN; /* JESD79-3: always */
    if (found->by_spd)
        dram->banks = found->spd[0].banks;
    for (size_t i = 0; i < found->by_spd; i++)
        dram->banks = found->spd[i].banks == dram->banks ? dram->banks : NAN;
}

/* Returns the transfers per second (MT/s) that a firmware means by a whole number: 1333 is 1333.33,
 * as clocks are multiples of 33.33 MHz. */
static double exact_speed(double mega_transfers)
{
    double of_clock = round(mega_transfers * 3 / 200) * 200 / 3;

    return fabs(of_clock - mega_transfers) < 1 ? of_clock : mega_transfers;
}

/* Returns the slowest module's cycle as it runs, by the firmware: an EEPROM only says what the
 * module could do. NAN where one does not say. */
static double cycle_of(const struct found *found)
{
    double slowest = INFINITY;

    for (size_t i = 0; i < found->by_dmi; i++) {
        if (isnan(found->dmi[i].mega_transfers))
            return NAN;
        slowest = fmin(slowest, found->dmi[i].mega_transfers);
    }
    return found->by_dmi ? 2000 / exact_speed(slowest) : NAN;
}

/* Returns the greatest of a time over all modules, in whole cycles (or pairs of them); NAN where
 * one does not say, or the cycle is not known. A cycle counts from 2.6 % of it on: JEDEC's rule,
 * for tables round. */
static double slowest(const struct found *found, size_t offset, double cycle_ns)
{
    double most = found->by_spd ? 0 : NAN;

    for (size_t i = 0; i < found->by_spd; i++) {
        double ns = *(const double *)((const char *)&found->spd[i] + offset);

        most = ns <= most ? most : ns;
        if (isnan(ns))
            return NAN;
    }
    return ceil(most / cycle_ns - 0.026) * cycle_ns;
}

static void find_times(const struct found *found, enum dram_kind kind, struct machine_dram *dram)
{
    double cycle_ns = cycle_of(found);
    double cas_ns = (kind == DRAM_DDR5 ? 2 : 1) * cycle_ns; /* DDR5 has even latencies only */

    dram->tck_ns = cycle_ns;
    dram->tcas_ns = slowest(found, offsetof(struct spd_module, tcas_ns), cas_ns);
    dram->trcd_ns = slowest(found, offsetof(struct spd_module, trcd_ns), cycle_ns);
    dram->trp_ns = slowest(found, offsetof(struct spd_module, trp_ns), cycle_ns);
    dram->twr_ns = slowest(found, offsetof(struct spd_module, twr_ns), cycle_ns);
    dram->twtr_ns = slowest(found, offsetof(struct spd_module, twtr_ns), cycle_ns);
    if (kind == DRAM_UNKNOWN)
        return;
    /* Eight transfers of 8 bytes; DDR5: 16 of 4. Two a cycle. */
    dram->tburst_ns = (kind == DRAM_DDR5 ? 8 : 4) * cycle_ns;
    dram->request_bytes = 64;
}

static void name_sources(const struct found *found, struct machine_dram *dram)
{
    const struct {
        bool there;
        const char *name;
    } source[] = {
        {found->by_dmi > 0, "SMBIOS"}, {found->by_spd > 0, "SPD"}, {found->edac.channels, "EDAC"}};

    for (size_t i = 0; i < sizeof(source) / sizeof(source[0]); i++)
        if (source[i].there)
            snprintf(dram->source + strlen(dram->source),
                     sizeof(dram->source) - strlen(dram->source), "%s%s",
                     dram->source[0] ? ", " : "", source[i].name);
}

void machine_dram_read(const struct rootfs *root, size_t nodes, struct machine_dram *dram,
                       void (*say)(const char *text, void *arg), void *arg)
{
    struct found *found = calloc(1, sizeof(*found));
    enum dram_kind kind;

    machine_dram_init(dram);
    if (!found)
        return;
    found->tell = say;
    found->arg = arg;
    read_dmi(root, found);
    read_spd(root, found);
    read_edac(root, found);
    kind = kind_of(found);
    snprintf(dram->type, sizeof(dram->type), "%s", dram_kind_name[kind]);
    count_parts(found, nodes, kind, dram);
    find_times(found, kind, dram);
    name_sources(found, dram);
    free(found);
}

double machine_dram_nominal(const struct rootfs *root, size_t nodes)
{
    struct found *found = calloc(1, sizeof(*found));
    double gbps = NAN;

    if (!found || nodes == 0) {
        free(found);
        return NAN;
    }
    read_dmi(root, found);
    read_edac(root, found);
    if (named_channels(found) > 0) /* two transfers a cycle */
        gbps = CHANNEL_BYTES * (double)named_channels(found) / (double)nodes * 2 / cycle_of(found);
    free(found);
    return gbps;
}

void machine_dram_give(struct json_object *given, struct machine_dram *dram)
{
    struct machine_dram said = *dram;
    size_t used;

    if (json_read(given, machine_dram_fields, &said, NULL) < 0)
        return;
    *dram = said;
    used = strlen(dram->source);
    snprintf(dram->source + used, sizeof(dram->source) - used, used ? ", given" : "given");
}

/* ---- what is missing ---- */

/* Returns the figure of a row of machine_dram_fields; its texts are never missing. */
static double figure(const struct machine_dram *dram, const struct json_field *field)
{
    return field->kind == JSON_TEXT ? 0 : *(const double *)((const char *)dram + field->offset);
}

void machine_dram_missing(const struct machine_dram *dram, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (const struct json_field *field = machine_dram_fields; field->name; field++)
        if (isnan(figure(dram, field)) && used < size)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", field->name);
}

int machine_dram_hardware(const struct machine_dram *dram, double wtr, double rtr,
                          struct dramon_hardware *hardware, struct berth_error *err)
{
    struct machine_dram use = *dram;

    if (!(wtr > 0) && isnan(use.twtr_ns))
        use.twtr_ns = 0;
    if (!(rtr > 0) && isnan(use.trtrs_ns))
        use.trtrs_ns = 0;
    for (const struct json_field *field = machine_dram_fields; field->name; field++)
        if (isnan(figure(&use, field)) && field->offset != offsetof(struct machine_dram, ranks))
            return berth_error_set(err, "dram.%s: not known", field->name);
    *hardware = (struct dramon_hardware){
        .channels = use.channels,
        .banks = use.banks,
        .trcd_ns = use.trcd_ns,
        .tcas_ns = use.tcas_ns,
        .trp_ns = use.trp_ns,
        .tburst_ns = use.tburst_ns,
        .twr_ns = use.twr_ns,
        .trtrs_ns = use.trtrs_ns,
        .twtr_ns = use.twtr_ns,
        .tck_ns = use.tck_ns,
        .request_bytes = use.request_bytes,
        .auto_close = use.auto_close,
    };
    return 0;
}
