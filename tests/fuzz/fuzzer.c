/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzzer - one target, named by $FUZZ_TARGET, under clang's libFuzzer. tests/fuzz/run calls it. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("FUZZ_TARGET");

    (void)argc;
    (void)argv;
    target = name ? fuzz_find(name) : NULL;
    if (!target) {
        fprintf(stderr, "fuzzer: FUZZ_TARGET=%s: no such target\n", name ? name : "");
        exit(2);
    }
    fuzz_report_fd = dup(STDERR_FILENO); /* -close_fd_mask=2 hides what berth logs */
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    target->one(data, size);
    return 0;
}
