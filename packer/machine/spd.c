/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spd - see spd.h. A table a kind says where its figures stand. */
#include "packer/machine/spd.h"
#include "enum_table.h"

#include <math.h>
#include <stdbool.h>

#define TIME_MAX_NS 1000.0

const char *const TABLE(dram_kind_name, DRAM_KINDS) = {
    ROW(DRAM_UNKNOWN) = "",
    ROW(DRAM_DDR3) = "DDR3",
    ROW(DRAM_DDR4) = "DDR4",
    ROW(DRAM_DDR5) = "DDR5",
};
TABLE_COMPLETE(dram_kind_name);

unsigned spd_crc(const uint8_t *bytes, size_t size)
{
    unsigned crc = 0;

    for (size_t i = 0; i < size; i++) {
        crc ^= (unsigned)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
    }
    return crc;
}

static bool crc_holds(const uint8_t *bytes, size_t covered, size_t at)
{
    return spd_crc(bytes, covered) == (bytes[at] | (unsigned)bytes[at + 1] << 8);
}

/* ---- times ---- */

/* Returns a time of so many units, with the module's fine correction, ns; NAN where it is 0. */
static double time_of(unsigned units, double unit_ns, uint8_t fine, double fine_ns)
{
    return units ? units * unit_ns + (int8_t)fine * fine_ns : NAN;
}

static unsigned word(const uint8_t *bytes, size_t at)
{
    return bytes[at] | (unsigned)bytes[at + 1] << 8;
}

/* ---- the kinds ---- */

static void read_ddr3(const uint8_t *b, struct spd_module *m)
{
    double unit = b[11] ? (double)b[10] / b[11] : 0;
    double fine = b[9] & 15 ? (b[9] >> 4) / (double)(b[9] & 15) * 1e-3 : 0;

    m->kind = DRAM_DDR3;
    m->banks = 8u << (b[4] >> 4 & 7);
    m->ranks = (b[7] >> 3 & 7) + 1u;
    m->tck_ns = time_of(b[12], unit, b[34], fine);
    m->tcas_ns = time_of(b[16], unit, b[35], fine);
    m->twr_ns = time_of(b[17], unit, 0, fine);
    m->trcd_ns = time_of(b[18], unit, b[36], fine);
    m->trp_ns = time_of(b[20], unit, b[37], fine);
    m->twtr_ns = time_of(b[26], unit, 0, fine);
}

/* Annex L knows one pair of time bases: 125 ps and 1 ps. */
static void read_ddr4(const uint8_t *b, struct spd_module *m)
{
    const double unit = 0.125, fine = 1e-3;

    m->kind = DRAM_DDR4;
    m->banks = 4u << (b[4] >> 4 & 3) << (b[4] >> 6);
    m->ranks = (b[12] >> 3 & 7) + 1u;
    m->tck_ns = time_of(b[18], unit, b[125], fine);
    m->tcas_ns = time_of(b[24], unit, b[123], fine);
    m->trcd_ns = time_of(b[25], unit, b[122], fine);
    m->trp_ns = time_of(b[26], unit, b[121], fine);
    m->twr_ns = time_of((b[41] & 15u) << 8 | b[42], unit, 0, fine);
    m->twtr_ns = time_of((b[43] & 15u) << 8 | b[44], unit, 0, fine);
}

static void read_ddr5(const uint8_t *b, struct spd_module *m)
{
    const double unit = 1e-3;

    m->kind = DRAM_DDR5;
    m->banks = 1u << (b[7] >> 5) << (b[7] & 7);
    m->ranks = (b[234] >> 3 & 7) + 1u;
    m->channels = 1u << (b[235] >> 5 & 3);
    m->tck_ns = time_of(word(b, 20), unit, 0, 0);
    m->tcas_ns = time_of(word(b, 30), unit, 0, 0);
    m->trcd_ns = time_of(word(b, 32), unit, 0, 0);
    m->trp_ns = time_of(word(b, 34), unit, 0, 0);
    m->twr_ns = time_of(word(b, 40), unit, 0, 0);
    m->twtr_ns = NAN;
}

static const struct layout {
    uint8_t key; /* byte 2 */
    size_t size; /* that is looked at */
    size_t covered, crc;
    void (*read)(const uint8_t *bytes, struct spd_module *module);
} layouts[] = {
    {0x0b, 128, 126, 126, read_ddr3},
    {0x0c, 128, 126, 126, read_ddr4},
    {0x12, 512, 510, 510, read_ddr5},
};

/* ---- what is believed ---- */

static bool is_time(double ns)
{
    return ns > 0 && ns <= TIME_MAX_NS;
}

static bool is_sound(const struct spd_module *m)
{
    return is_time(m->tck_ns) && is_time(m->tcas_ns) && is_time(m->trcd_ns) && is_time(m->trp_ns) &&
           (isnan(m->twr_ns) || is_time(m->twr_ns)) && (isnan(m->twtr_ns) || is_time(m->twtr_ns)) &&
           m->banks >= 4 && m->banks <= 64 && m->channels <= 2;
}

int spd_parse(const uint8_t *bytes, size_t size, struct spd_module *module, struct berth_error *err)
{
    const struct layout *layout = NULL;
    struct spd_module read = {.channels = 1};

    for (size_t i = 0; size > 2 && i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].key == bytes[2])
            layout = &layouts[i];
    if (!layout)
        return berth_error_set(err, "no EEPROM of DDR3, DDR4 or DDR5");
    if (size < layout->size)
        return berth_error_set(err, "%zu bytes: %zu expected", size, layout->size);
    /* DDR3 may leave the module's own bytes out of it: byte 0, bit 7. */
    if (!crc_holds(bytes, bytes[2] == 0x0b && bytes[0] & 0x80 ? 117 : layout->covered, layout->crc))
        return berth_error_set(err, "wrong checksum");
    layout->read(bytes, &read);
    if (!is_sound(&read))
        return berth_error_set(err, "a figure that no %s module has", dram_kind_name[read.kind]);
    *module = read;
    return 0;
}
