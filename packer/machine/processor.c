/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processor - see processor.h */
#include "packer/machine/processor.h"

#include <hwloc.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/system/cpuinfo.h"

#define TRANSFER_BYTES 8.0 /* of a channel; a DDR5 module's two are one here */

/* Kinds of processors: all channels of a socket in use, at the most that they are made for. The
 * channels and their speeds are from the vendors' data sheets. What one cache can draw is, of the
 * first two generations of EPYC, what was measured on a core complex (likwid-bench's load on EPYC
 * 7451 and 7452); of the later ones the width of the link from the die to the memory (32 bytes a
 * cycle of the fabric). The first row that fits counts. */
struct kind {
    const char *vendor, *named; /* named: what the name contains; NULL: whatever it is */
    long family, from, to;      /* models */
    double channels, mega_transfers;
    double port_gbps; /* 0: not known */
};

static const struct kind kinds[] = {
    {"GenuineIntel", NULL, 6, 26, 26, 3, 1333, 0},          /* Nehalem-EP */
    {"GenuineIntel", NULL, 6, 44, 44, 3, 1333, 0},          /* Westmere-EP */
    {"GenuineIntel", NULL, 6, 46, 47, 4, 1066, 0},          /* Nehalem-EX, Westmere-EX */
    {"GenuineIntel", NULL, 6, 45, 45, 4, 1600, 0},          /* Sandy Bridge-EP */
    {"GenuineIntel", NULL, 6, 62, 62, 4, 1866, 0},          /* Ivy Bridge-EP */
    {"GenuineIntel", NULL, 6, 63, 63, 4, 2133, 0},          /* Haswell-EP */
    {"GenuineIntel", NULL, 6, 79, 79, 4, 2400, 0},          /* Broadwell-EP */
    {"GenuineIntel", NULL, 6, 86, 86, 2, 2400, 0},          /* Broadwell-DE */
    {"GenuineIntel", NULL, 6, 85, 85, 6, 2666, 0},          /* Skylake-SP, and its successors */
    {"GenuineIntel", NULL, 6, 106, 106, 8, 3200, 0},        /* Ice Lake-SP */
    {"GenuineIntel", NULL, 6, 108, 108, 4, 2933, 0},        /* Ice Lake-D */
    {"GenuineIntel", NULL, 6, 143, 143, 8, 4800, 0},        /* Sapphire Rapids */
    {"GenuineIntel", NULL, 6, 207, 207, 8, 5600, 0},        /* Emerald Rapids */
    {"GenuineIntel", NULL, 6, 173, 173, 8, 6400, 0},        /* Granite Rapids; 6900: twelve */
    {"GenuineIntel", NULL, 6, 175, 175, 8, 6400, 0},        /* Sierra Forest */
    {"GenuineIntel", "Phi", 6, 87, 87, 6, 2400, 0},         /* Knights Landing, its DDR4 */
    {"AuthenticAMD", NULL, 16, 8, 8, 2, 800, 0},            /* Istanbul */
    {"AuthenticAMD", NULL, 16, 9, 9, 4, 1333, 0},           /* Magny-Cours */
    {"AuthenticAMD", "Opteron", 21, 1, 2, 4, 1600, 0},      /* Interlagos, Abu Dhabi */
    {"AuthenticAMD", "EPYC", 23, 1, 1, 8, 2666, 36},        /* Naples */
    {"AuthenticAMD", "EPYC", 23, 49, 49, 8, 3200, 36},      /* Rome */
    {"AuthenticAMD", "EPYC", 25, 0, 15, 8, 3200, 51.2},     /* Milan */
    {"AuthenticAMD", "EPYC", 25, 16, 31, 12, 4800, 57.6},   /* Genoa */
    {"AuthenticAMD", "EPYC", 25, 160, 175, 12, 4800, 57.6}, /* Bergamo */
    {"AuthenticAMD", "EPYC", 26, 0, 31, 12, 6000, 64},      /* Turin */
    {"HygonGenuine", NULL, 24, 0, 15, 8, 2666, 36},         /* Dhyana */
    {"0x41", NULL, -1, 0xd0c, 0xd0c, 8, 3200, 0},           /* Neoverse N1: Graviton2, Altra */
    {"0x41", NULL, -1, 0xd40, 0xd40, 8, 4800, 0},           /* Neoverse V1: Graviton3 */
    {"0x41", NULL, -1, 0xd4f, 0xd4f, 12, 5600, 0}, /* Neoverse V2: Graviton4; Grace alike */
    {"0x43", NULL, -1, 0xaf, 0xaf, 8, 2666, 0},    /* ThunderX2 */
    {"0x46", NULL, -1, 0x1, 0x1, 64, 2000, 0},     /* A64FX: HBM2 */
    {"0x48", NULL, -1, 0xd01, 0xd01, 8, 2933, 0},  /* Kunpeng 920 */
};

static const struct kind *kind_of(const struct processor *processor)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct kind *kind = &kinds[i];

        if (strcmp(processor->vendor, kind->vendor) == 0 && processor->family == kind->family &&
            processor->model >= kind->from && processor->model <= kind->to &&
            (!kind->named || strstr(processor->name, kind->named)))
            return kind;
    }
    return NULL;
}

bool processor_memory(const struct processor *processor, struct processor_memory *memory)
{
    const struct kind *kind = kind_of(processor);

    if (!kind)
        return false;
    memory->package_gbps = kind->channels * kind->mega_transfers * TRANSFER_BYTES / 1e3;
    memory->port_gbps = kind->port_gbps > 0 ? kind->port_gbps : NAN;
    return true;
}

/* ---- which one it is ---- */

/* How hwloc and /proc/cpuinfo call the same. */
enum word { VENDOR, NAME, FAMILY, MODEL, WORDS };

struct words {
    const char *hwloc[WORDS], *cpuinfo[WORDS]; /* NULL: there is none */
};

static const struct words x86 = {
    .hwloc = {"CPUVendor", "CPUModel", "CPUFamilyNumber", "CPUModelNumber"},
    .cpuinfo = {"vendor_id", "model name", "cpu family", "model"},
};
static const struct words arm = {
    .hwloc = {"CPUImplementer", "CPUModel", NULL, "CPUPart"},
    .cpuinfo = {"CPU implementer", "model name", NULL, "CPU part"},
};

/* Where words are looked up: in a text, or at an object of hwloc. */
struct source {
    const char *cpuinfo;  /* NULL: it is hwloc */
    hwloc_obj_t of, root; /* a package, and the machine: files of old versions say it there */
};

static void look_up(const struct source *source, const struct words *words, enum word word,
                    char *value, size_t size)
{
    const char *info = NULL;

    value[0] = '\0';
    if (source->cpuinfo) {
        if (words->cpuinfo[word])
            cpuinfo_field(source->cpuinfo, words->cpuinfo[word], value, size);
        return;
    }
    if (words->hwloc[word] && source->of)
        info = hwloc_obj_get_info_by_name(source->of, words->hwloc[word]);
    if (words->hwloc[word] && !info)
        info = hwloc_obj_get_info_by_name(source->root, words->hwloc[word]);
    snprintf(value, size, "%s", info ? info : "");
}

/* Returns a whole number of either base; -1: it is none. */
static long number_of(const char *text)
{
    char *end;
    long value = strtol(text, &end, 0);

    return end == text || *end || value < 0 || value > INT_MAX ? -1 : value;
}

static bool read_words(const struct source *source, const struct words *words,
                       struct processor *processor)
{
    char family[32], model[32];

    look_up(source, words, VENDOR, processor->vendor, sizeof(processor->vendor));
    look_up(source, words, NAME, processor->name, sizeof(processor->name));
    look_up(source, words, FAMILY, family, sizeof(family));
    look_up(source, words, MODEL, model, sizeof(model));
    processor->family = number_of(family);
    processor->model = number_of(model);
    return processor->vendor[0];
}

static void read_xml(const char *path, struct processor *processor)
{
    hwloc_topology_t hwloc;

    if (hwloc_topology_init(&hwloc) < 0)
        return;
    if (hwloc_topology_set_flags(hwloc, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
        hwloc_topology_set_xml(hwloc, path) == 0 && hwloc_topology_load(hwloc) == 0) {
        const struct source source = {
            .of = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_PACKAGE, 0),
            .root = hwloc_get_root_obj(hwloc),
        };

        if (!read_words(&source, &x86, processor))
            read_words(&source, &arm, processor);
    }
    hwloc_topology_destroy(hwloc);
}

void processor_read(const struct rootfs *root, const char *topology, struct processor *processor)
{
    *processor = (struct processor){.family = -1, .model = -1};
    if (!topology || !topology[0]) {
        char *text = rootfs_read(root, "/proc/cpuinfo");
        const struct source source = {.cpuinfo = text};

        if (text && !read_words(&source, &x86, processor))
            read_words(&source, &arm, processor);
        free(text);
    } else if (access(topology, F_OK) == 0) {
        read_xml(topology, processor);
    }
}
