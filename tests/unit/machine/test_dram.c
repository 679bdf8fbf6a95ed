/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_dram - the figures of memory by SMBIOS, EEPROM and EDAC: trees of /sys that are made here,
 * with the modules of Wang's machine (Table 4.1), of a DDR4 and of a DDR5 server. */
#include "packer/machine/dram.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "packer/machine/dmi.h"
#include "packer/machine/edac.h"
#include "packer/machine/spd.h"
#include "tests/unit/common/folder.h"

#define DMI_PATH "sys/firmware/dmi/tables/DMI"

/* ---- EEPROMs ---- */

struct byte {
    size_t at;
    uint8_t value;
};

static void seal(uint8_t *bytes, size_t covered)
{
    unsigned crc = spd_crc(bytes, covered);

    bytes[covered] = (uint8_t)crc;
    bytes[covered + 1] = (uint8_t)(crc >> 8);
}

static void fill(uint8_t *bytes, size_t size, const struct byte *set, size_t n, size_t covered)
{
    memset(bytes, 0, size);
    for (size_t i = 0; i < n; i++)
        bytes[set[i].at] = set[i].value;
    seal(bytes, covered);
}

/* DDR3-1333, two ranks of 8 banks: 13.5 ns, write recovery 15 ns, write to read 7.5 ns. */
static void ddr3(uint8_t bytes[256])
{
    static const struct byte set[] = {{2, 0x0b}, {4, 0x03}, {7, 0x08}, {8, 0x0b}, {9, 0x11},
                                      {10, 1},   {11, 8},   {12, 12},  {16, 108}, {17, 120},
                                      {18, 108}, {20, 108}, {26, 60}};

    fill(bytes, 256, set, sizeof(set) / sizeof(set[0]), 126);
}

/* DDR4-2666 V (13.75 ns) that can do 3200: fine corrections; 16 banks, two ranks. */
static void ddr4(uint8_t bytes[512])
{
    static const struct byte set[] = {{2, 0x0c}, {4, 0x85}, {12, 0x09}, {13, 0x0b}, {18, 5},
                                      {24, 110}, {25, 110}, {26, 110},  {42, 120},  {44, 20},
                                      {121, 0},  {123, 0},  {125, 0}};

    fill(bytes, 512, set, sizeof(set) / sizeof(set[0]), 126);
}

/* DDR5-4800: 416 ps, 16 ns, 30 ns of write recovery; 8 groups of 4 banks, one rank, two channels.
 */
static void ddr5(uint8_t bytes[1024])
{
    static const struct byte set[] = {{2, 0x12},         {7, 0x62},         {20, 0xa0},
                                      {21, 0x01},        {30, 16000 & 255}, {31, 16000 >> 8},
                                      {32, 16000 & 255}, {33, 16000 >> 8},  {34, 16000 & 255},
                                      {35, 16000 >> 8},  {40, 30000 & 255}, {41, 30000 >> 8},
                                      {234, 0x00},       {235, 0x22}};

    fill(bytes, 1024, set, sizeof(set) / sizeof(set[0]), 510);
}

static void assert_near(double got, double want)
{
    if (isnan(want) ? !isnan(got) : !(fabs(got - want) <= 1e-9))
        fail_msg("%.12g, not %.12g", got, want);
}

static void test_spd(void **state)
{
    uint8_t bytes[1024];
    struct spd_module m;

    (void)state;
    ddr3(bytes);
    assert_int_equal(spd_parse(bytes, 256, &m, NULL), 0);
    assert_int_equal(m.kind, DRAM_DDR3);
    assert_true(m.banks == 8 && m.ranks == 2 && m.channels == 1);
    assert_near(m.tck_ns, 1.5);
    assert_near(m.tcas_ns, 13.5);
    assert_near(m.twr_ns, 15);
    assert_near(m.twtr_ns, 7.5);
    ddr4(bytes);
    bytes[123] = (uint8_t)-30; /* tAA 30 ps less */
    seal(bytes, 126);
    assert_int_equal(spd_parse(bytes, 512, &m, NULL), 0);
    assert_true(m.kind == DRAM_DDR4 && m.banks == 16 && m.ranks == 2);
    assert_near(m.tcas_ns, 13.72);
    assert_near(m.trcd_ns, 13.75);
    assert_near(m.twtr_ns, 2.5);
    ddr5(bytes);
    assert_int_equal(spd_parse(bytes, 1024, &m, NULL), 0);
    assert_true(m.kind == DRAM_DDR5 && m.banks == 32 && m.ranks == 1 && m.channels == 2);
    assert_near(m.tck_ns, 0.416);
    assert_near(m.twr_ns, 30);
    assert_near(m.twtr_ns, NAN);
}

static void refuses(const uint8_t *bytes, size_t size, const char *why)
{
    struct spd_module m = {.ranks = 77};
    struct berth_error err;

    assert_int_equal(spd_parse(bytes, size, &m, &err), -1);
    if (!strstr(err.text, why))
        fail_msg("'%s', not '%s'", err.text, why);
    assert_int_equal(m.ranks, 77);
}

static void test_spd_refused(void **state)
{
    uint8_t bytes[1024];

    (void)state;
    ddr4(bytes);
    refuses(bytes, 0, "no EEPROM of");
    refuses(bytes, 2, "no EEPROM of");
    refuses(bytes, 127, "127 bytes: 128 expected");
    bytes[25]++;
    refuses(bytes, 512, "wrong checksum");
    bytes[25] = 0; /* a time of nothing */
    seal(bytes, 126);
    refuses(bytes, 512, "a figure that no DDR4 module has");
    bytes[2] = 0x08; /* DDR2 */
    refuses(bytes, 512, "no EEPROM of DDR3, DDR4 or DDR5");
    ddr5(bytes);
    refuses(bytes, 511, "511 bytes: 512 expected");
    bytes[31] = bytes[30] = 0xff; /* 65 ns is one */
    bytes[7] = 0xe7;              /* 128 groups of 128 */
    seal(bytes, 510);
    refuses(bytes, 1024, "a figure that no DDR5 module has");
}

/* ---- SMBIOS ---- */

struct table {
    uint8_t bytes[8192];
    size_t size;
};

/* Adds a structure with these strings, each ended by NUL, `strings` by one more; "" has none. */
static void add(struct table *table, const uint8_t *formatted, const char *strings)
{
    size_t length = formatted[1];

    memcpy(table->bytes + table->size, formatted, length);
    table->size += length;
    do {
        length = strlen(strings) + 1;
        memcpy(table->bytes + table->size, strings, length);
        table->size += length;
        strings += length;
    } while (length > 1 && *strings);
    table->bytes[table->size++] = 0;
}

static void put_word(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

/* A memory device of SMBIOS 3.3, of `length` bytes of it. */
static void add_device(struct table *table, size_t length, unsigned size_mb, unsigned type,
                       unsigned ranks, unsigned speed, const char *locator, const char *bank)
{
    uint8_t s[92] = {17, (uint8_t)length};
    char strings[160];
    int used = snprintf(strings, sizeof(strings), "%s%c%s", locator, 0, bank);

    strings[used + 1] = '\0';
    put_word(s + 0x0c, size_mb);
    s[0x10] = 1;
    s[0x11] = 2;
    s[0x12] = (uint8_t)type;
    s[0x1b] = (uint8_t)(0x40 | ranks);
    put_word(s + 0x1c, size_mb == 0x7fff ? 65536 & 0xffff : 0);
    put_word(s + 0x1e, size_mb == 0x7fff ? 65536 >> 16 : 0);
    put_word(s + 0x20, speed > 0xfffe ? 0xffff : speed);
    put_word(s + 0x58, speed);
    put_word(s + 0x5a, speed >> 16);
    add(table, s, strings);
}

static void end_table(struct table *table)
{
    static const uint8_t end[] = {127, 4, 0xff, 0xff};

    add(table, end, "");
}

static void test_dmi(void **state)
{
    static const uint8_t bios[] = {0, 6, 0, 0, 1, 2};
    struct table table = {.size = 0};
    struct dmi_module m[4];
    struct berth_error err;

    (void)state;
    add(&table, bios,
        "vendor\0"
        "1.0\0");
    add_device(&table, 92, 16384, 0x1a, 2, 2666, "CPU1_DIMM_A1", "P0_Node0_Channel0_Dimm0");
    add_device(&table, 92, 0, 0x02, 0, 0, "CPU1_DIMM_A2", "P0_Node0_Channel0_Dimm1");
    add_device(&table, 92, 0x7fff, 0x22, 1, 70000, "DIMM 0", "P0 CHANNEL B");
    add_device(&table, 0x15, 4096, 0x18, 0, 0, "old", ""); /* SMBIOS 2.1: no speed, no ranks */
    end_table(&table);
    add_device(&table, 92, 1, 0x1a, 1, 1, "behind", "the end");
    assert_int_equal(dmi_modules(table.bytes, table.size, m, 4, NULL), 3);
    assert_string_equal(m[0].locator, "CPU1_DIMM_A1");
    assert_string_equal(m[0].bank, "P0_Node0_Channel0_Dimm0");
    assert_true(m[0].kind == DRAM_DDR4 && m[0].ranks == 2 && m[0].mega_transfers == 2666);
    assert_true(m[1].kind == DRAM_DDR5 && m[1].ranks == 1 && m[1].mega_transfers == 70000);
    assert_true(m[2].kind == DRAM_DDR3 && m[2].ranks == 0 && isnan(m[2].mega_transfers));
    assert_int_equal(dmi_channels(m, 2), 2);
    assert_int_equal(dmi_channels(m, 3), 0); /* the last one does not say */
    assert_int_equal(dmi_modules(table.bytes, 20, m, 4, &err), -1);
    assert_non_null(strstr(err.text, "the structure at byte"));
    assert_int_equal(dmi_modules(table.bytes, 0, m, 4, NULL), 0);
}

static void test_channels(void **state)
{
    static const struct {
        const char *bank[3], *locator[3];
        size_t channels;
    } cases[] = {
        {{"P0 CHANNEL A", "P0 CHANNEL B", "P1 CHANNEL A"}, {"", "", ""}, 3},
        {{"P0 CHANNEL A", "P0 CHANNEL A", "P0 CHANNEL B"}, {"DIMM 0", "DIMM 1", "DIMM 0"}, 2},
        {{"BANK 0", "BANK 1", "BANK 2"}, {"ChannelA-DIMM0", "ChannelA-DIMM1", "ChannelB-DIMM0"}, 2},
        {{"NODE 0", "NODE 0", "NODE 1"}, {"A1", "A2", "B1"}, 0},
        {{"CHANNELS", "CHANNEL A1", ""}, {"", "", ""}, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dmi_module m[3];

        for (size_t j = 0; j < 3; j++) {
            snprintf(m[j].bank, sizeof(m[j].bank), "%s", cases[i].bank[j]);
            snprintf(m[j].locator, sizeof(m[j].locator), "%s", cases[i].locator[j]);
        }
        assert_int_equal(dmi_channels(m, 3), cases[i].channels);
    }
    assert_int_equal(dmi_channels(NULL, 0), 0);
}

static void test_edac_channel(void **state)
{
    (void)state;
    assert_int_equal(edac_channel("channel 1 slot 0 \n"), 1);
    assert_int_equal(edac_channel("csrow 2 channel 11 "), 11);
    assert_int_equal(edac_channel("memory 3 "), -1);
    assert_int_equal(edac_channel("channel x"), -1);
    assert_int_equal(edac_channel("channel"), -1);
    assert_int_equal(edac_channel("channel 64"), -1);
    assert_int_equal(edac_channel("channel 99999999999999999999"), -1);
    assert_int_equal(edac_channel(""), -1);
}

/* ---- the whole ---- */

static char *new_root(void)
{
    static char path[64];

    folder_new(path, sizeof(path), "test-dram");
    return path;
}

static void put_bytes(const char *root, const char *path, const uint8_t *bytes, size_t size)
{
    char name[512];
    FILE *file;

    folder_put(root, path, "");
    snprintf(name, sizeof(name), "%s/%s", root, path);
    file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

struct told {
    char text[2048];
};

static void tell(const char *text, void *arg)
{
    struct told *told = arg;

    strcat(told->text, text);
    strcat(told->text, "\n");
}

static void read_tree(const char *path, size_t nodes, struct machine_dram *dram, struct told *told)
{
    struct rootfs root;

    told->text[0] = '\0';
    assert_int_equal(rootfs_open(&root, path, NULL), 0);
    machine_dram_read(&root, nodes, dram, tell, told);
    rootfs_close(&root);
}

/* Returns what a node could give by its data sheet. */
static double nominal_of(const char *path, size_t nodes)
{
    struct rootfs root;
    double gbps;

    assert_int_equal(rootfs_open(&root, path, NULL), 0);
    gbps = machine_dram_nominal(&root, nodes);
    rootfs_close(&root);
    return gbps;
}

/* One node of Wang's machine: two channels with three modules each. All of Table 4.1 but what
 * nothing shows. */
static void test_opteron(void **state)
{
    struct dramon_hardware hw;
    struct table table = {.size = 0};
    struct machine_dram dram;
    struct berth_error err;
    struct told told;
    char path[64], missing[128], *root = new_root();
    uint8_t bytes[256];

    (void)state;
    ddr3(bytes);
    for (unsigned i = 0; i < 6; i++) {
        char bank[32];

        snprintf(path, sizeof(path), "sys/bus/i2c/drivers/at24/0-00%u/eeprom", 50 + i);
        put_bytes(root, path, bytes, sizeof(bytes));
        snprintf(bank, sizeof(bank), "CHANNEL %c", 'A' + (int)i % 2);
        add_device(&table, 40, 4096, 0x18, 2, 1333, "DIMM", bank);
    }
    end_table(&table);
    put_bytes(root, DMI_PATH, table.bytes, table.size);
    read_tree(root, 1, &dram, &told);
    assert_near(nominal_of(root, 1), 2 * 8 * 4 / 3.0);
    assert_near(nominal_of(root, 2), 8 * 4 / 3.0);
    assert_string_equal(dram.type, "DDR3");
    assert_string_equal(dram.source, "SMBIOS, SPD");
    assert_non_null(strstr(told.text, "EDAC: /sys/devices/system/edac/mc: no memory controller"));
    machine_dram_missing(&dram, missing, sizeof(missing));
    assert_string_equal(missing, "tRTRS_ns, auto_close");
    assert_int_equal(machine_dram_hardware(&dram, 0.1, 0.1, &hw, &err), -1);
    assert_string_equal(err.text, "dram.tRTRS_ns: not known");
    dram.auto_close = 4;
    assert_int_equal(machine_dram_hardware(&dram, 0.1, 0, &hw, &err), 0);
    dram.trtrs_ns = 4.5;
    assert_int_equal(machine_dram_hardware(&dram, 0.1, 0.1, &hw, &err), 0);
    assert_near(dram.ranks, 6);
    assert_near(hw.channels, 2);
    assert_near(hw.banks, 8);
    assert_near(hw.request_bytes, 64);
    assert_near(hw.trcd_ns, 13.5);
    assert_near(hw.tcas_ns, 13.5);
    assert_near(hw.trp_ns, 13.5);
    assert_near(hw.tburst_ns, 6);
    assert_near(hw.twr_ns, 15);
    assert_near(hw.trtrs_ns, 4.5);
    assert_near(hw.twtr_ns, 7.5);
    assert_near(hw.tck_ns, 1.5);
    folder_remove(root);
}

/* Two nodes of DDR4: EDAC says the channels, the firmware that 3200 runs at 2666. */
static void test_ddr4(void **state)
{
    struct table table = {.size = 0};
    struct machine_dram dram;
    struct told told;
    char path[96], *root = new_root();
    uint8_t bytes[512];

    (void)state;
    ddr4(bytes);
    for (unsigned i = 0; i < 8; i++) {
        snprintf(path, sizeof(path), "sys/bus/i2c/drivers/ee1004/%u-0050/eeprom", i);
        put_bytes(root, path, bytes, sizeof(bytes));
        add_device(&table, 92, 16384, 0x1a, 2, 2666, "A1", "NODE 0");
        snprintf(path, sizeof(path), "sys/devices/system/edac/mc/mc%u/dimm%u/size", i / 2, i);
        folder_put(root, path, "16384\n");
        snprintf(path, sizeof(path), "sys/devices/system/edac/mc/mc%u/dimm%u/dimm_location", i / 2,
                 i);
        folder_put(root, path, i % 2 ? "channel 1 slot 0 \n" : "channel 0 slot 0 \n");
    }
    folder_put(root, "sys/devices/system/edac/mc/mc0/dimm9/size", "0\n");
    end_table(&table);
    put_bytes(root, DMI_PATH, table.bytes, table.size);
    read_tree(root, 2, &dram, &told);
    assert_string_equal(told.text, "");
    assert_string_equal(dram.source, "SMBIOS, SPD, EDAC");
    assert_near(dram.channels, 4);
    assert_near(dram.ranks, 2);
    assert_near(dram.banks, 16);
    assert_near(dram.tck_ns, 0.75);
    assert_near(dram.tcas_ns, 14.25); /* CL19 */
    assert_near(dram.tburst_ns, 3);
    assert_near(nominal_of(root, 2), 4 * 8 * 8 / 3.0);
    read_tree(root, 3, &dram, &told); /* nodes that cannot be alike */
    assert_near(dram.channels, NAN);
    folder_remove(root);
}

/* DDR5 behind a controller that tells ranks, and one module slower than the others. */
static void test_ddr5(void **state)
{
    struct table table = {.size = 0};
    struct machine_dram dram;
    struct told told;
    char path[96], *root = new_root();
    uint8_t bytes[1024];

    (void)state;
    ddr5(bytes);
    put_bytes(root, "sys/bus/i2c/drivers/spd5118/1-0050/eeprom", bytes, sizeof(bytes));
    put_word(bytes + 32, 17000);
    seal(bytes, 510);
    put_bytes(root, "sys/bus/i2c/drivers/spd5118/1-0051/eeprom", bytes, sizeof(bytes));
    folder_put(root, "sys/bus/i2c/drivers/spd5118/bind", "");
    for (unsigned i = 0; i < 2; i++) {
        add_device(&table, 92, 0x7fff, 0x22, 1, i ? 4800 : 5600, "DIMM", "");
        snprintf(path, sizeof(path), "sys/devices/system/edac/mc/mc0/rank%u/size", i);
        folder_put(root, path, "16384\n");
        snprintf(path, sizeof(path), "sys/devices/system/edac/mc/mc0/rank%u/dimm_location", i);
        folder_put(root, path, i ? "csrow 0 channel 1 \n" : "csrow 0 channel 0 \n");
    }
    end_table(&table);
    put_bytes(root, DMI_PATH, table.bytes, table.size);
    read_tree(root, 1, &dram, &told);
    assert_string_equal(told.text, "");
    assert_near(dram.channels, 4);
    assert_near(dram.ranks, 1);
    assert_near(dram.banks, 32);
    assert_near(dram.tck_ns, 1 / 2.4);
    assert_near(dram.tcas_ns, 40 / 2.4);
    assert_near(dram.trcd_ns, 41 / 2.4);
    assert_near(dram.tburst_ns, 8 / 2.4);
    assert_near(dram.twtr_ns, NAN);
    assert_near(nominal_of(root, 1), 2 * 8 * 4.8);
    folder_remove(root);
}

/* A machine that shows nothing: each source is named, with the reason. */
static void test_nothing(void **state)
{
    struct machine_dram dram;
    struct told told;
    char missing[256], *root = new_root();

    (void)state;
    assert_near(nominal_of(root, 1), NAN);
    assert_near(nominal_of(root, 0), NAN);
    read_tree(root, 1, &dram, &told);
    assert_non_null(strstr(told.text, "/sys/firmware/dmi/tables/DMI: No such file or directory\n"));
    assert_non_null(strstr(told.text, "/sys/bus/i2c/drivers: no EEPROM of a memory module"));
    assert_non_null(strstr(told.text, "EDAC: "));
    assert_true(dram.type[0] == '\0' && dram.source[0] == '\0');
    machine_dram_missing(&dram, missing, sizeof(missing));
    assert_string_equal(missing, "channels, ranks, banks, tCK_ns, tRCD_ns, tCAS_ns, tRP_ns, "
                                 "tBurst_ns, tWR_ns, tRTRS_ns, tWTR_ns, request_bytes, auto_close");
    folder_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spd),          cmocka_unit_test(test_spd_refused),
        cmocka_unit_test(test_dmi),          cmocka_unit_test(test_channels),
        cmocka_unit_test(test_edac_channel), cmocka_unit_test(test_opteron),
        cmocka_unit_test(test_ddr4),         cmocka_unit_test(test_ddr5),
        cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
