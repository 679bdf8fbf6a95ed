/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_capabilities - what root gives away is gone, and who misses it is told its name. */
#include <errno.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/system/capabilities.h"

static void test_names(void **state)
{
    (void)state;
    for (unsigned i = 0; i <= CAP_LAST_CAP; i++) {
        assert_non_null(capability_name(i));
        assert_int_equal(capability_number(capability_name(i)), i);
    }
    assert_string_equal(capability_name(CAP_SYS_NICE), "CAP_SYS_NICE");
    assert_null(capability_name(CAPABILITIES_MAX - 1));
    assert_int_equal(capability_number("SYS_NICE"), -1);
    assert_int_equal(capability_number(""), -1);
}

static void test_format(void **state)
{
    char text[64];

    (void)state;
    capabilities_format(0, text, sizeof(text));
    assert_string_equal(text, "none");
    capabilities_format(CAPABILITY(CAP_BPF) | CAPABILITY(CAP_CHOWN), text, sizeof(text));
    assert_string_equal(text, "CAP_CHOWN, CAP_BPF");
    capabilities_format(CAPABILITY(60), text, sizeof(text));
    assert_string_equal(text, "60");
    capabilities_format(UINT64_MAX, text, sizeof(text));
    assert_int_equal(strlen(text), sizeof(text) - 1); /* cut */
}

static void test_why(void **state)
{
    uint64_t held = capabilities_held();

    (void)state;
    assert_string_equal(capabilities_why(0, ENOENT), strerror(ENOENT));
    assert_non_null(strstr(capabilities_why(held, EPERM), "seccomp"));
    assert_null(strstr(capabilities_why(held, EPERM), "CAP_"));
    assert_string_equal(capabilities_why(held | CAPABILITY(60), EACCES),
                        "Permission denied: 60 is missing");
    assert_string_equal(capabilities_why(held | CAPABILITY(60) | CAPABILITY(61), EPERM),
                        "Operation not permitted: 60, 61 are missing");
}

/* Returns 0 when nothing but `keep` is left; in a child of its own. */
static int try_keep(uint64_t keep)
{
    uint64_t held = capabilities_held();
    struct berth_error err;

    if (capabilities_keep(keep, &err) < 0)
        return 1;
    if (capabilities_held() != (held & keep))
        return 2;
    for (unsigned i = 0; i <= CAP_LAST_CAP && held; i++)
        if (prctl(PR_CAPBSET_READ, i) == 1 && !(keep & CAPABILITY(i)))
            return 3;
    /* What is gone does not come back. */
    if (capabilities_keep(UINT64_MAX, &err) < 0 || capabilities_held() != (held & keep))
        return 4;
    return 0;
}

static void test_keep(void **state)
{
    static const uint64_t keeps[] = {CAPABILITY(CAP_SYS_NICE) | CAPABILITY(CAP_BPF), 0};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        pid_t pid = fork();
        int status;

        if (pid == 0)
            _exit(try_keep(keeps[i]));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_why),
        cmocka_unit_test(test_keep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
