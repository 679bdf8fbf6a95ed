/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of the reader of plugin_version: nothing outside of the file's bytes is read, and
 * they have a series of Slurm's, or a reason why not. The sound inputs are stored, since text
 * cannot say them: each is a small shared object, as it is and without what it may lack. A first
 * byte '.' stands for the one of ELF, so that no tool takes what is stored for a program. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "packer/slurm/plugin_file.h"
#include "tests/fuzz/fuzz.h"

#define STORED '.'

static const char *const seeds[] = {".ELF", "\177ELF", "", NULL};

static void one(const uint8_t *data, size_t size)
{
    struct berth_error err = {""};
    char *bytes = malloc(size ? size : 1); /* a block of just their size */
    slurm_series series;

    fuzz_assert(bytes);
    memcpy(bytes, data, size);
    if (size && bytes[0] == STORED)
        bytes[0] = ELFMAG0;
    series = plugin_bytes_series(bytes, size, &err);
    if (series)
        fuzz_assert(series >= 100 && series <= 255 * 100 + 255);
    else
        fuzz_assert(strstr(err.text, "is no "));
    free(bytes);
}

const struct fuzz_target fuzz_plugin_file = {.name = "plugin_file", .one = one, .seed = seeds};
