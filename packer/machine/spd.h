/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spd - what a memory module says of itself in its serial presence detect EEPROM, which the
 * kernel's drivers at24 (DDR3), ee1004 (DDR4) and spd5118 (DDR5) show as files.
 *
 * JEDEC Standard 21-C, annexes K (DDR3) and L (DDR4), and JESD400-5 (DDR5). Pure parsing, no I/O.
 */
#ifndef BERTH_MACHINE_SPD_H
#define BERTH_MACHINE_SPD_H

#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"

#define SPD_BYTES_MAX 1024

enum dram_kind { DRAM_UNKNOWN, DRAM_DDR3, DRAM_DDR4, DRAM_DDR5, DRAM_KINDS };

extern const char *const dram_kind_name[DRAM_KINDS]; /* "", "DDR3", "DDR4", "DDR5" */

/* Times are the least that the module can do, in ns; NAN where it does not say. */
struct spd_module {
    enum dram_kind kind;
    unsigned ranks;    /* of the module; on DDR5 of each of its channels */
    unsigned banks;    /* of a rank */
    unsigned channels; /* independent ones of the module: 2 on most DDR5 modules, else 1 */
    double tck_ns;     /* the shortest cycle */
    double tcas_ns;    /* tAA */
    double trcd_ns, trp_ns;
    double twr_ns;  /* NAN before revision 1.1 of DDR4's */
    double twtr_ns; /* between bank groups; NAN on DDR5, which has it in another form */
};

/* Reads the first `size` bytes of an EEPROM. Returns 0; -1 and err, *module untouched: too short,
 * no DDR3, DDR4 or DDR5, a wrong checksum, or a figure that no such module has. */
int spd_parse(const uint8_t *bytes, size_t size, struct spd_module *module,
              struct berth_error *err);

/* Returns the CRC of the bytes as in an EEPROM's last two: CCITT's polynomial, beginning with 0. */
unsigned spd_crc(const uint8_t *bytes, size_t size);

#endif
