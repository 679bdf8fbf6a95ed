/* SPDX-License-Identifier: GPL-2.0-or-later */
/* intern - see intern.h: a table of texts by their hash, with open addressing. A report asks for
 * one some twenty times a record. */
#include "packer/report/intern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64 /* a power of two, as all that follow */

struct report_intern {
    char **word; /* [room], NULL where there is none; each is ours */
    size_t n, room;
};

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

struct report_intern *report_intern_new(void)
{
    return calloc(1, sizeof(struct report_intern));
}

void report_intern_clear(struct report_intern *words)
{
    for (size_t i = 0; i < words->room; i++)
        free(words->word[i]);
    free(words->word);
    *words = (struct report_intern){0};
}

void report_intern_free(struct report_intern *words)
{
    if (words)
        report_intern_clear(words);
    free(words);
}

size_t report_intern_count(const struct report_intern *words)
{
    return words->n;
}

/* Returns where the text stands, or would. */
static char **place_of(const struct report_intern *words, const char *text)
{
    size_t at = hash_of(text) & (words->room - 1);

    while (words->word[at] && strcmp(words->word[at], text) != 0)
        at = (at + 1) & (words->room - 1);
    return &words->word[at];
}

/* Makes room for another one: a third at least stays empty. */
static int grow(struct report_intern *words)
{
    struct report_intern larger = {.n = words->n,
                                   .room = words->room ? words->room * 2 : ROOM_FIRST};

    if (words->room && words->n < words->room / 3 * 2)
        return 0;
    larger.word = calloc(larger.room, sizeof(*larger.word));
    if (!larger.word)
        return -1;
    for (size_t i = 0; i < words->room; i++)
        if (words->word[i])
            *place_of(&larger, words->word[i]) = words->word[i];
    free(words->word);
    *words = larger;
    return 0;
}

const char *report_intern_keep(struct report_intern *words, const char *text)
{
    char **place;

    if (!*text)
        return "";
    if (grow(words) < 0)
        return NULL;
    place = place_of(words, text);
    if (!*place) {
        *place = strdup(text);
        words->n += *place != NULL;
    }
    return *place;
}
