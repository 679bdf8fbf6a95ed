/* SPDX-License-Identifier: GPL-2.0-or-later */
/* energy - what the node's meters say: one vtable, several ways to read them.
 *
 *   powercap  RAPL by /sys/class/powercap: packages, their DRAM, the platform (psys)
 *   perf      RAPL by perf's "power" PMU, where powercap is not there or not readable
 *   hwmon     energy and power sensors of hwmon; ACPI power meters among them, which is how the
 *             kernel reads a management controller (acpi_power_meter with acpi_ipmi)
 *   model     idle and per-core power that the site configures (conf.energy_model); never otherwise
 *
 * A zone is one thing that is metered. It is read by the first way of that order that has it. All
 * files are below conf.energy_root, so that a recorded tree is as good as a machine. What cannot be
 * read is not known: never 0, never a guess. Nothing here knows of steps. */
#ifndef BERTH_ENERGY_ENERGY_H
#define BERTH_ENERGY_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"
#include "packer/conf/conf.h"
#include "packer/machine/topo.h"
#include "packer/system/rootfs.h"

enum energy_domain {
    ENERGY_PACKAGE, /* cores, caches and what else is on a package */
    ENERGY_DRAM,    /* the memory of a package */
    ENERGY_NODE,    /* the whole node: what the others measure is part of it */
    ENERGY_DOMAINS
};
extern const char *const energy_domain_name[ENERGY_DOMAINS]; /* "package", "dram", "node" */

/* Says whether a domain's energy is a part of what was used in all, as far as that is known:
 * packages and their memory are, or the node's own meter where no package was metered. Memory alone
 * is not.
 */
bool energy_counts(const bool known[ENERGY_DOMAINS], enum energy_domain domain);

#define ENERGY_ZONES 64

struct energy_zone {
    enum energy_domain domain;
    unsigned package;   /* index in topo->package order; 0 for ENERGY_NODE */
    const char *source; /* "rapl-powercap", "rapl-perf", "hwmon", "model" */
    bool modelled;      /* nothing is measured: the site's watts say what is drawn */
};

/* A meter that moved this long ago at last is dead: what it meters draws power all the time. */
#define ENERGY_STILL_S 10.0

/* The meters at one time. A zone that is not known now is read again next time, and nothing of it
 * is lost, unless its counter may have wrapped around more than once: `gaps` counts those. A meter
 * can be readable and dead: in a virtual machine it is there and always says the same. So a zone is
 * known once it has moved since it was opened, and no more when it stands still. */
struct energy_reading {
    double at_s; /* CLOCK_MONOTONIC */
    size_t zones;
    bool known[ENERGY_ZONES];
    bool still[ENERGY_ZONES]; /* not known, but readable: for still_s it has not moved */
    double still_s[ENERGY_ZONES];
    uint64_t uj[ENERGY_ZONES];   /* microjoules since the first energy_read; never falls */
    uint64_t gaps[ENERGY_ZONES]; /* times that energy was lost, since then */
};

struct perf_event_attr;

/* How an event is opened on a CPU, for all that runs there: the descriptor, or -1 with errno. */
typedef int energy_perf_open(const struct perf_event_attr *attr, int cpu, void *arg);

/* What a way needs of the node: all borrowed, valid until its close. */
struct energy_node {
    const struct rootfs *root; /* at conf->energy_root */
    const struct topo *topo;
    const struct conf *conf;
    energy_perf_open *perf_open; /* NULL: perf_event_open(2), and that only below the real root */
    void *perf_arg;
    const struct energy_zone *have; /* [had] zones of the ways before (energy_open says it) */
    size_t had;
};

/* So long a time between two readings is bridged, of a power or of a berthd that was restarted. */
#define ENERGY_BRIDGE_S 60.0

/* What one meter of a zone said at last, for the berthd that comes next. */
struct energy_last {
    double at_s;   /* CLOCK_MONOTONIC */
    uint64_t uj;   /* a counter: as it was read; a power: what nobody has been told of yet */
    double figure; /* a power: watts; a model: busy seconds of the package's CPUs */
};

#define ENERGY_LASTS 8 /* meters of a zone, at most: the dies of a package */

/* What of a zone outlives berthd. */
struct energy_kept {
    bool moved;     /* it counts: the meter has moved since it was opened */
    double moved_s; /* when it was seen to have moved at last; when it was read first */
    size_t n;
    struct energy_last last[ENERGY_LASTS];
};

#define ENERGY_SAY 256

struct energy_way {
    const char *name, *without; /* what is not known where it is absent, for `berthctl doctor` */

    /* 0: *state and zone[*zones] (at most ENERGY_ZONES) are filled, say is one line for people. -1:
     * not here, err says why; nothing is left behind. */
    int (*open)(const struct energy_node *node, void **state, struct energy_zone *zone,
                size_t *zones, char say[ENERGY_SAY], struct berth_error *err);
    void (*close)(void *state);

    /* Its i-th zone since open, wrap-around accounted for; busy_s: CPU seconds of all CPUs of the
     * zone's package until now (the model wants them; NAN not known). 0, or -1 with errno: not
     * known now. *gaps is counted up where energy was lost. */
    int (*read)(void *state, size_t i, double at_s, double busy_s, uint64_t *uj, uint64_t *gaps);

    /* What the meters of its i-th zone said when they were read at last: how many they are, 0 where
     * that cannot be gone on from. NULL, as `resume` then is: never (a perf event counts from its
     * opening on). */
    size_t (*keep)(void *state, size_t i, struct energy_last last[ENERGY_LASTS]);

    /* Before the zone is read first: it goes on from last[n], and *uj of the readings is since
     * then. False: it has other meters, and begins anew. */
    bool (*resume)(void *state, size_t i, const struct energy_last *last, size_t n);

    /* What it does by itself between readings, it does seldom from now on, or as often as ever.
     * NULL: nothing. */
    void (*rest)(void *state, bool rests);
};

extern const struct energy_way energy_powercap, energy_perf, energy_hwmon, energy_model;

/* ---- all of them together ---- */

struct energy;

/* Open every way that works here and is named in conf->energy. Fails for want of memory only: -1
 * and err. No meter at all is fine: no zones. */
int energy_open(struct energy **out, const struct energy_node *node, struct berth_error *err);
void energy_close(struct energy *energy); /* NULL is fine */

size_t energy_zones(const struct energy *energy);
const struct energy_zone *energy_zone(const struct energy *energy, size_t i);

/* Read all zones; at_s as CLOCK_MONOTONIC has it now. */
void energy_read(struct energy *energy, double at_s, struct energy_reading *reading);

/* Readings come seldom from now on, or as often as ever. */
void energy_rest(struct energy *energy, bool rests);

/* Fills in what the i-th zone said when it was read at last. False: it never was, or no berthd can
 * go on from there. */
bool energy_keep(const struct energy *energy, size_t i, struct energy_kept *kept);

/* Before the first energy_read: the i-th zone is read as if no berthd had ended since `kept`, and
 * counts from there. What a counter may have lost meanwhile is a gap of the next reading, as ever.
 * False: it cannot, and begins anew. */
bool energy_resume(struct energy *energy, size_t i, const struct energy_kept *kept);

/* The i-th way: its name, whether it is used, what it measures or why it is not used. False after
 * the last. */
struct energy_about {
    const char *name;
    bool used;
    const char *say, *without;
};
bool energy_about(const struct energy *energy, size_t i, struct energy_about *about);

#endif
