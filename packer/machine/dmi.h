/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dmi - the memory modules by the firmware's SMBIOS table (/sys/firmware/dmi/tables/DMI):
 * structures of type 17, DSP0134 7.18. Pure parsing, no I/O. */
#ifndef BERTH_MACHINE_DMI_H
#define BERTH_MACHINE_DMI_H

#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"
#include "packer/machine/spd.h"

#define DMI_MODULES_MAX 256
#define DMI_TABLE_MAX (1u << 20)

struct dmi_module {
    char locator[64], bank[64]; /* as the vendor names slot and bank; "" not said */
    enum dram_kind kind;        /* DRAM_UNKNOWN: another one */
    unsigned ranks;             /* 0: not said */
    double mega_transfers;      /* per second, at which it runs; NAN: not said */
};

/* Reads the modules that are there (empty slots are none) into module[max]. Returns how many, those
 * beyond max counted too; -1 and err: a structure that is not whole. */
long dmi_modules(const uint8_t *table, size_t size, struct dmi_module *module, size_t max,
                 struct berth_error *err);

/* Returns how many channels they are on, by names such as "P0 CHANNEL A" of bank or slot; 0: some
 * module's name does not say. */
size_t dmi_channels(const struct dmi_module *module, size_t n);

#endif
