/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lackey - see lackey.h */
#include "lackey.h"

#include <string.h>

/* Value of a hex digit, or 16. */
static inline unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a' + 10);
    return 16;
}

/* The kind that the first three characters name. */
static inline bool parse_kind(const char *line, enum lackey_kind *kind)
{
    if (line[2] != ' ')
        return false;
    if (line[0] == 'I' && line[1] == ' ') {
        *kind = LACKEY_INSTRUCTION;
        return true;
    }
    if (line[0] != ' ')
        return false;
    switch (line[1]) {
    case 'L':
        *kind = LACKEY_LOAD;
        return true;
    case 'S':
        *kind = LACKEY_STORE;
        return true;
    case 'M':
        *kind = LACKEY_MODIFY;
        return true;
    }
    return false;
}

bool lackey_parse(const char *line, size_t length, struct lackey_record *record)
{
    const char *at = line + 3, *end = line + length;
    uint64_t address = 0;
    uint32_t size = 0;
    unsigned digit;

    if (length < 6 || !parse_kind(line, &record->kind))
        return false;
    for (; at < end && (digit = hex_digit(*at)) < 16; at++) {
        if (address >> 60)
            return false;
        address = address << 4 | digit;
    }
    if (at == line + 3 || at == end || *at++ != ',' || at == end)
        return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        size = size * 10 + (uint32_t)(*at - '0');
        if (size > LACKEY_SIZE_MAX)
            return false;
    }
    record->address = address;
    record->size = size;
    return size > 0 && address + (size - 1) >= address;
}

void lackey_init(struct lackey *lackey)
{
    lackey->start = lackey->end = 0;
    lackey->garbage = 0;
    lackey->skipping = false;
}

char *lackey_space(struct lackey *lackey, size_t *room)
{
    size_t left = lackey->end - lackey->start;

    if (left == sizeof(lackey->buffer)) { /* no newline in all of it: one line of garbage */
        lackey->garbage += lackey->skipping ? 0 : 1;
        lackey->skipping = true;
        left = 0;
    }
    memmove(lackey->buffer, lackey->buffer + lackey->start, left);
    lackey->start = 0;
    lackey->end = left;
    *room = sizeof(lackey->buffer) - left;
    return lackey->buffer + left;
}

void lackey_fed(struct lackey *lackey, size_t length)
{
    lackey->end += length;
}

bool lackey_next(struct lackey *lackey, struct lackey_record *record)
{
    const char *line, *newline;
    bool skipping;

    while (lackey->start < lackey->end) {
        line = lackey->buffer + lackey->start;
        newline = memchr(line, '\n', lackey->end - lackey->start);
        if (!newline)
            return false;
        lackey->start += (size_t)(newline - line) + 1;
        skipping = lackey->skipping;
        lackey->skipping = false;
        if (skipping)
            continue;
        if (lackey_parse(line, (size_t)(newline - line), record))
            return true;
        lackey->garbage++;
    }
    return false;
}
