/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dram - the figures of a machine's memory that DraMon computes with (Wang 2015, Table 4.1, "from
 * data sheets and PCI configuration registers"), as far as Linux shows them.
 *
 * Three sources, each of which may be absent: the firmware's SMBIOS table (root only) says at which
 * speed the modules run and how many ranks they have, the modules' EEPROMs (drivers at24, ee1004
 * and spd5118) their times, EDAC the channels in use. A controller keeps the times of the slowest
 * module in whole cycles of the clock that it runs at, so that is what stands here. Two figures are
 * shown nowhere: tRTRS, which the controller adds between ranks, and after how many requests it
 * closes a row; the site may know them. */
#ifndef BERTH_MACHINE_DRAM_H
#define BERTH_MACHINE_DRAM_H

#include <json-c/json.h>

#include "models/numa/dramon.h"
#include "packer/base/json_fields.h"
#include "packer/system/rootfs.h"

/* NAN, and "" of a text, where it is not known. */
struct machine_dram {
    char type[8];    /* "DDR4" */
    char source[64]; /* where from: some of "SMBIOS, SPD, EDAC, given" */
    double channels; /* of a NUMA node, those with memory; a DDR5 module's two count as two */
    double ranks;    /* of a channel */
    double banks;    /* of a rank */
    double tck_ns;   /* the clock's cycle: two transfers */
    double trcd_ns, tcas_ns, trp_ns, tburst_ns, twr_ns, trtrs_ns, twtr_ns;
    double request_bytes;
    double auto_close; /* requests after which a row is closed (D_ac) */
};

/* Its JSON: as "hardware" of `berthctl model dramon`, and type, source and ranks. */
extern const struct json_field machine_dram_fields[];

/* Says that nothing is known. */
void machine_dram_init(struct machine_dram *dram);

/* Fills in what the machine below `root` shows, of a machine of so many NUMA nodes, which are taken
 * to have as many channels each. *dram is overwritten. For each source that says nothing tell(text,
 * arg) is called with the reason. */
void machine_dram_read(const struct rootfs *root, size_t nodes, struct machine_dram *dram,
                       void (*tell)(const char *text, void *arg), void *arg);

/* Returns what the memory next to one of so many NUMA nodes could give by its data sheet, 1e9 bytes
 * per second: the channels with modules (EDAC, SMBIOS), times the speed at which the slowest one
 * runs (SMBIOS). NAN where the machine below the root does not show it. EEPROMs are not read: that
 * takes tens of milliseconds each. */
double machine_dram_nominal(const struct rootfs *root, size_t nodes);

/* Puts what somebody says of the memory, an object of machine_dram_fields that can be read, in the
 * place of what the machine showed. */
void machine_dram_give(struct json_object *given, struct machine_dram *dram);

/* Writes the names of figures that are not known, as "tRTRS_ns, auto_close", cut to size; "": all
 * are known. */
void machine_dram_missing(const struct machine_dram *dram, char *text, size_t size);

/* Makes the hardware of DraMon of it for a program with these ratios of requests that switch from
 * write to read and between ranks: where the ratio is 0, nobody asks what a switch takes. Its ranks
 * are the program's (struct dramon_software). Returns
 * 0; -1 and err, which names the figure that is not known. */
int machine_dram_hardware(const struct machine_dram *dram, double wtr, double rtr,
                          struct dramon_hardware *hardware, struct berth_error *err);

#endif
