/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz targets of what firmware and memory modules say: a module's EEPROM, the SMBIOS table, and
 * the place of a module by EDAC. A vendor writes them, and some write nonsense. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/machine/dmi.h"
#include "packer/machine/edac.h"
#include "packer/machine/spd.h"
#include "tests/fuzz/fuzz.h"

#define MODULES 4

/* Inputs of a target are texts: bytes up to the first NUL. The kinds of modules; what is missing of
 * them is filled in. */
static const char *const spd_seeds[] = {"\x23\x10\x0b\x01", "\x23\x11\x0c\x01\x85",
                                        "\x30\x10\x12\x01", NULL};
static const char *const dmi_seeds[] = {"\x11\x5c\x01\x01", "\x7f\x04\x01\x01", NULL};
static const char *const location_seeds[] = {"channel 1 slot 0 \n", "csrow 2 channel 1 ", NULL};

/* Mends the checksums, which random bytes never have, and tries again. */
static void one_spd(const uint8_t *data, size_t size)
{
    uint8_t bytes[SPD_BYTES_MAX] = {0};
    struct spd_module module = {.ranks = 77};
    struct berth_error err = {""};

    size = size < sizeof(bytes) ? size : sizeof(bytes);
    memcpy(bytes, data, size);
    if (spd_parse(bytes, size, &module, &err) < 0)
        fuzz_assert(err.text[0] && module.ranks == 77);
    for (size_t covered = 126; covered <= 510; covered += 384) {
        unsigned crc =
            spd_crc(bytes, covered == 126 && bytes[2] == 0x0b && bytes[0] & 0x80 ? 117 : covered);

        bytes[covered] = (uint8_t)crc;
        bytes[covered + 1] = (uint8_t)(crc >> 8);
    }
    if (spd_parse(bytes, sizeof(bytes), &module, &err) < 0)
        return;
    fuzz_assert(module.kind > DRAM_UNKNOWN && module.kind < DRAM_KINDS);
    fuzz_assert(module.ranks >= 1 && module.ranks <= 8 && module.banks >= 4 && module.banks <= 64);
    fuzz_assert(module.channels == 1 || module.channels == 2);
    fuzz_assert(module.tck_ns > 0 && module.tcas_ns > 0 && module.trcd_ns > 0 && module.trp_ns > 0);
    fuzz_assert(isnan(module.twr_ns) || (module.twr_ns > 0 && module.twr_ns <= 1000));
    fuzz_assert(isnan(module.twtr_ns) || (module.twtr_ns > 0 && module.twtr_ns <= 1000));
}

static void one_dmi(const uint8_t *data, size_t size)
{
    struct dmi_module module[MODULES];
    struct berth_error err = {""};
    uint8_t *table = malloc(size + !size); /* its own, so that a read beyond its end is seen */
    long n;

    fuzz_assert(table);
    memcpy(table, data, size);
    n = dmi_modules(table, size, module, MODULES, &err);
    fuzz_assert(n >= 0 || err.text[0]);
    for (long i = 0; i < n && i < MODULES; i++) {
        fuzz_assert(strlen(module[i].locator) < sizeof(module[i].locator));
        fuzz_assert(module[i].ranks < 16 && module[i].kind < DRAM_KINDS);
        fuzz_assert(isnan(module[i].mega_transfers) || module[i].mega_transfers > 0);
    }
    if (n > 0)
        fuzz_assert(dmi_channels(module, n < MODULES ? (size_t)n : MODULES) <= MODULES);
    free(table);
}

static void one_location(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size);
    long channel = edac_channel(input);

    fuzz_assert(channel >= -1 && channel < 64);
    free(input);
}

const struct fuzz_target fuzz_spd = {"spd", one_spd, spd_seeds, 1};
const struct fuzz_target fuzz_dmi = {"dmi", one_dmi, dmi_seeds, 1};
const struct fuzz_target fuzz_edac_location = {"edac_location", one_location, location_seeds, 1};
