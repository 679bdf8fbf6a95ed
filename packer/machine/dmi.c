/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dmi - see dmi.h */
#include "packer/machine/dmi.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MEMORY_DEVICE = 17, END_OF_TABLE = 127, HEADER = 4 };

/* One structure: its formatted part, of bytes[1] bytes, and its strings. */
struct structure {
    const uint8_t *bytes;
    size_t length;
    const char *strings, *end; /* each ended by NUL */
};

/* ---- a field; 0 where the structure is too short to have it ---- */

static unsigned byte(const struct structure *s, size_t at)
{
    return at < s->length ? s->bytes[at] : 0;
}

static unsigned word(const struct structure *s, size_t at)
{
    return at + 1 < s->length ? s->bytes[at] | (unsigned)s->bytes[at + 1] << 8 : 0;
}

static uint32_t dword(const struct structure *s, size_t at)
{
    return at + 3 < s->length ? word(s, at) | (uint32_t)word(s, at + 2) << 16 : 0;
}

/* Copies the string whose number stands there, without what is not printable. */
static void text(const struct structure *s, size_t at, char *out, size_t size)
{
    unsigned number = byte(s, at);
    const char *string = s->strings;
    size_t used = 0;

    for (; number > 1 && string < s->end; number--)
        string += strlen(string) + 1;
    if (number == 1 && string < s->end)
        for (; *string && used + 1 < size; string++)
            if (isprint((unsigned char)*string))
                out[used++] = *string;
    out[used] = '\0';
}

/* ---- structures ---- */

/* Takes the structure at `at`, and returns where the next one begins; 0: it is not whole. */
static size_t take_structure(const uint8_t *table, size_t size, size_t at, struct structure *s)
{
    size_t end;

    if (size - at < HEADER || table[at + 1] < HEADER || size - at < table[at + 1])
        return 0;
    s->bytes = table + at;
    s->length = table[at + 1];
    at += s->length;
    for (end = at; size - end >= 2 && (table[end] || table[end + 1]);)
        end++;
    if (size - end < 2)
        return 0;
    s->strings = (const char *)table + at;
    s->end = (const char *)table + end;
    return end + 2;
}

/* ---- memory devices ---- */

static bool is_there(const struct structure *s)
{
    unsigned size = word(s, 0x0c); /* 0: an empty slot; 0xffff: not known; 0x7fff: at 0x1c */

    return size == 0x7fff ? (dword(s, 0x1c) & 0x7fffffff) > 0 : size > 0 && size != 0xffff;
}

static enum dram_kind kind_of(unsigned type)
{
    switch (type) {
    case 0x18:
        return DRAM_DDR3;
    case 0x1a:
        return DRAM_DDR4;
    case 0x22:
        return DRAM_DDR5;
    default:
        return DRAM_UNKNOWN;
    }
}

/* Returns the configured speed, MT/s: 0xffff says that it is in the longer field. */
static double speed_of(const struct structure *s)
{
    uint32_t speed = word(s, 0x20);

    if (speed == 0xffff)
        speed = dword(s, 0x58) & 0x7fffffff;
    return speed > 0 && speed <= 100000 ? speed : NAN;
}

static void read_module(const struct structure *s, struct dmi_module *module)
{
    text(s, 0x10, module->locator, sizeof(module->locator));
    text(s, 0x11, module->bank, sizeof(module->bank));
    module->kind = kind_of(byte(s, 0x12));
    module->ranks = byte(s, 0x1b) & 15;
    module->mega_transfers = speed_of(s);
}

long dmi_modules(const uint8_t *table, size_t size, struct dmi_module *module, size_t max,
                 struct berth_error *err)
{
    struct structure s;
    size_t n = 0;

    for (size_t at = 0, next; at < size; at = next) {
        next = take_structure(table, size, at, &s);
        if (next == 0)
            return berth_error_set(err, "the structure at byte %zu is not whole", at);
        if (s.bytes[0] == END_OF_TABLE)
            break;
        if (s.bytes[0] != MEMORY_DEVICE || !is_there(&s))
            continue;
        if (n < max)
            read_module(&s, &module[n]);
        n++;
    }
    return (long)n;
}

/* ---- channels ---- */

/* Writes the name up to and with the letter or number behind the word CHANNEL, and whatever stands
 * before it (the socket), in capitals; false where there is none. */
static bool channel_of(const char *name, char out[64])
{
    static const char mark[] = "CHANNEL";
    size_t used = 0;
    char *found;

    for (; used < 63 && name[used]; used++)
        out[used] = (char)toupper((unsigned char)name[used]);
    out[used] = '\0';
    found = strstr(out, mark);
    if (!found)
        return false;
    found += sizeof(mark) - 1;
    found += strspn(found, " _-");
    if (isdigit((unsigned char)*found))
        found += strspn(found, "0123456789");
    else if (isupper((unsigned char)*found))
        found++;
    else
        return false;
    if (isalnum((unsigned char)*found)) /* "CHANNELS", "CHANNEL A1": not only a channel's name */
        return false;
    *found = '\0';
    return true;
}

size_t dmi_channels(const struct dmi_module *module, size_t n)
{
    char name[DMI_MODULES_MAX][64];
    size_t channels = 0;

    for (size_t i = 0; i < n; i++) {
        bool known = false;

        if (channels == DMI_MODULES_MAX || (!channel_of(module[i].bank, name[channels]) &&
                                            !channel_of(module[i].locator, name[channels])))
            return 0;
        for (size_t j = 0; j < channels; j++)
            known = known || strcmp(name[j], name[channels]) == 0;
        channels += !known;
    }
    return channels;
}
