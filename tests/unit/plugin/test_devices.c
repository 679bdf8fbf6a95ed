/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_devices - which devices an environment lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/devices.h"

static void test_lists(void **state)
{
    static const struct {
        const char *a, *b, *devices;
    } cases[] = {
        {"HOME=/root", "PATH=/bin", ""},
        {"SLURM_STEP_GPUS=0", "CUDA_VISIBLE_DEVICES=0", "gpu:0"},
        {"CUDA_VISIBLE_DEVICES=0", "SLURM_STEP_GPUS=2,3", "gpu:2,gpu:3"},
        {"SLURM_JOB_GPUS=1", "SLURM_STEP_GPUS=0", "gpu:0"},
        {"SLURM_JOB_GPUS=1", "SLURM_STEP_GPUS=", "gpu:1"},
        {"CUDA_VISIBLE_DEVICES=0,1", "A=b", "cuda:0,cuda:1"},
        {"CUDA_VISIBLE_DEVICES=GPU-9fe1-2", "A=b", "cuda:GPU-9fe1-2"},
        {"CUDA_VISIBLE_DEVICES=NoDevFiles", "A=b", ""},
        {"CUDA_VISIBLE_DEVICES=-1", "ROCR_VISIBLE_DEVICES=3", "rocm:3"},
        {"CUDA_VISIBLE_DEVICES=MIG-GPU-1/2/3", "A=b", ""}, /* a name that is not taken */
        {"ZE_AFFINITY_MASK=0.1,2", "A=b", "ze:0,ze:2"},
        {"SLURM_STEP_GPUS=0,,1", "A=b", ""},
        {"SLURM_STEP_GPUS=0;reboot", "A=b", ""},
        {"SLURM_STEP_NICS=1", "SLURM_STEP_GPUS=0", "gpu:0,nic:1"},
        {"SLURM_STEP_GPUSX=0", "XSLURM_STEP_GPUS=0", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *env[] = {(char *)cases[i].a, (char *)cases[i].b, NULL};
        char devices[WIRE_DEVICES_MAX];

        devices_of_environment(env, devices);
        if (strcmp(devices, cases[i].devices) != 0)
            fail_msg("%s %s: '%s'", cases[i].a, cases[i].b, devices);
    }
}

/* A list that is too long says nothing: half of the devices would be a wrong answer. */
static void test_long(void **state)
{
    char list[4 * WIRE_DEVICES_MAX] = "SLURM_STEP_GPUS=0", devices[WIRE_DEVICES_MAX];
    char *env[] = {list, NULL};

    (void)state;
    for (int i = 1; i < 200; i++) {
        char more[16];

        snprintf(more, sizeof(more), ",%d", i);
        strcat(list, more);
        devices_of_environment(env, devices);
        assert_true(!devices[0] || wire_devices_valid(devices));
    }
    assert_string_equal(devices, "");
    devices_of_environment(NULL, devices);
    assert_string_equal(devices, "");
}

static void test_valid(void **state)
{
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {
        {"gpu:0", true},  {"gpu:0,nic:1", true}, {"cuda:GPU-1_a.b", true},
        {"", false},      {"gpu:", false},       {"gpu", false},
        {":0", false},    {"gpu:0,", false},     {",gpu:0", false},
        {"GPU:0", false}, {"gpu:0 1", false},    {"gpu:/dev", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (wire_devices_valid(cases[i].text) != cases[i].valid)
            fail_msg("'%s'", cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_valid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
