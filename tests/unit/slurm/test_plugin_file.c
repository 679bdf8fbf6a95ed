/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_plugin_file - which Slurm a plugin was built for: of this program's own plugin, and of files
 * that are cut or changed anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packer/base/file.h"
#include "packer/slurm/plugin_file.h"

#define PLUGIN ".libs/spank_berth.so"

static void test_built(void **state)
{
    struct berth_error err = {""};
    slurm_series series = plugin_file_series(PLUGIN, &err);

    (void)state;
    if (series != SLURM_SERIES)
        fail_msg("%u, not %u: %s", series, SLURM_SERIES, err.text);
}

static void test_no_plugin(void **state)
{
    static const struct {
        const char *path, *says;
    } table[] = {{"/no/such.so", "/no/such.so: "},
                 {"Makefile", "Makefile: is no shared object of this machine"},
                 {"/proc/self/exe", "/proc/self/exe: is no plugin of Slurm's"}};

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct berth_error err = {""};

        assert_int_equal(plugin_file_series(table[i].path, &err), 0);
        if (!strstr(err.text, table[i].says))
            fail_msg("'%s', not '%s'", err.text, table[i].says);
    }
}

/* Nothing outside of the bytes is read: they are given in a block of just their size. */
static slurm_series read_copy(const char *bytes, size_t size)
{
    char *copy = malloc(size ? size : 1);
    slurm_series series;

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    series = plugin_bytes_series(copy, size, NULL);
    free(copy);
    return series;
}

static void test_cut_and_changed(void **state)
{
    size_t size, step;
    char *bytes = file_read(PLUGIN, 16u << 20, &size, NULL);

    (void)state;
    assert_non_null(bytes);
    step = size / 500 + 1;
    for (size_t cut = 0; cut < size; cut += cut < 128 ? 1 : step)
        assert_true(read_copy(bytes, cut) == 0 || read_copy(bytes, cut) == SLURM_SERIES);
    for (size_t at = 0; at < 64; at++)
        for (int value = 1; value < 256; value += 50) {
            bytes[at] = (char)(bytes[at] ^ value);
            read_copy(bytes, size);
            bytes[at] = (char)(bytes[at] ^ value);
        }
    free(bytes);
}

static void test_series_of_text(void **state)
{
    static const struct {
        const char *text;
        slurm_series series;
    } table[] = {{"slurm 26.05.5", 2605},
                 {"slurm-wlm 22.05.8", 2205},
                 {"slurm 24.11.0-0rc1", 2411},
                 {"slurm 24.11", 0},
                 {"berthctl 1.2.3", 0},
                 {"slurm", 0},
                 {"", 0},
                 {"slurm x.y.z", 0},
                 {"slurm 100.1.1", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(slurm_series_parse(table[i].text), table[i].series);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built),
        cmocka_unit_test(test_no_plugin),
        cmocka_unit_test(test_cut_and_changed),
        cmocka_unit_test(test_series_of_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
