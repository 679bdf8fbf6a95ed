/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind - see bind.h. Pure text: nothing here knows Slurm. */
#include "bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "packer/wire/wire.h"

#define MASKS "mask_cpu:"

/* Are these the four that Slurm leaves? SLURM_CPU_BIND is then the others in one. */
static bool is_slurms(const char *all, const char *verbose, const char *type, const char *list)
{
    size_t length;

    if (!all || !verbose || !type || !list || strcmp(type, MASKS) != 0)
        return false;
    length = strlen(verbose);
    return strncmp(all, verbose, length) == 0 && all[length] == ',' &&
           strncmp(all + length + 1, type, strlen(type)) == 0 &&
           strcmp(all + length + 1 + strlen(type), list) == 0;
}

void bind_note_left(void)
{
    const char *list = getenv("SLURM_CPU_BIND_LIST");

    if (is_slurms(getenv("SLURM_CPU_BIND"), getenv("SLURM_CPU_BIND_VERBOSE"),
                  getenv("SLURM_CPU_BIND_TYPE"), list))
        setenv(BIND_LEFT, list, 1);
    else
        unsetenv(BIND_LEFT);
}

/* Returns where the digits of a mask begin: Slurm writes the same one as 0x3, 0x0003 and 3. */
static const char *mask_digits(const char *mask)
{
    if (mask[0] == '0' && (mask[1] == 'x' || mask[1] == 'X'))
        mask += 2;
    return mask + strspn(mask, "0");
}

static bool same_masks(const char *a, const char *b)
{
    while (true) {
        size_t length;

        a = mask_digits(a);
        b = mask_digits(b);
        length = strcspn(a, ",");
        if (length != strcspn(b, ",") || strncasecmp(a, b, length) != 0 || a[length] != b[length])
            return false;
        if (!a[length])
            return true;
        a += length + 1;
        b += length + 1;
    }
}

bool bind_by_hand(const char *type, const char *list, const char *left)
{
    if (!type || (!strstr(type, "map_") && !strstr(type, "mask_")))
        return false;
    return strcmp(type, MASKS) != 0 || !list || !left || !same_masks(list, left);
}

/* Reads a mask that ends at ',' or '\0', its last digit the lowest CPUs. 0, or -1. */
static int read_mask(const char *mask, struct cpus *cpus)
{
    static const char digits[] = "0123456789abcdef";
    const char *first = mask_digits(mask);
    size_t length = strcspn(first, ",");

    cpus_zero(cpus);
    if (length > CPUS_MAX / 4)
        return -1;
    for (size_t i = 0; i < length; i++) {
        const char *digit = strchr(digits, first[length - 1 - i] | 0x20);

        if (!digit)
            return -1;
        for (size_t bit = 0; bit < 4; bit++)
            if ((size_t)(digit - digits) >> bit & 1)
                cpus_add(cpus, 4 * i + bit);
    }
    return 0;
}

void bind_common(const char *type, const char *list, char *text, size_t size)
{
    struct cpus common, one;
    const char *mask = list;

    text[0] = '\0';
    if (!type || strcmp(type, MASKS) != 0 || !list || read_mask(list, &common) < 0)
        return;
    while ((mask = strchr(mask, ','))) {
        if (read_mask(++mask, &one) < 0)
            return;
        cpus_and(&common, &one);
    }
    if (cpus_format(&common, text, size) < 0)
        text[0] = '\0';
}
