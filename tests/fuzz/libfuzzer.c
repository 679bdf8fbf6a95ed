/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libfuzzer - one target (FUZZ_TARGET, from the Makefile) under clang's libFuzzer. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_TARGET.one(data, size);
    return 0;
}
