/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nearest - which word somebody may have meant who typed another one. */
#ifndef BERTH_BASE_NEAREST_H
#define BERTH_BASE_NEAREST_H

#include <stddef.h>

/* Compares words as they come. `best` is NULL until one is near enough: a third of the letters
 * wrong, left out, too many or exchanged with the next one, but one of a short word. */
struct nearest {
    const char *typed, *best;
    size_t distance; /* of best */
};

/* Begins with no word; `typed` is borrowed. */
struct nearest nearest_begin(const char *typed);

/* Takes a word (borrowed) if it is nearer than those before. */
void nearest_try(struct nearest *nearest, const char *word);

/* Writes " (WORD?)" for the end of an error; "" where no word was near. Returns text. */
#define NEAREST_SAY_MAX 72
const char *nearest_say(const struct nearest *nearest, char text[NEAREST_SAY_MAX]);

#endif
