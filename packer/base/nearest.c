/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nearest - see nearest.h. The distance is that of Damerau and Levenshtein, no part edited twice
 * (optimal string alignment). */
#include "packer/base/nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LENGTH_MAX 64 /* longer words are like no other */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Fills row i of the table from the two rows before it. */
static void fill_row(const char *a, const char *b, size_t i, size_t *before2, const size_t *before,
                     size_t *row)
{
    row[0] = i;
    for (size_t j = 1; b[j - 1]; j++) {
        bool same = a[i - 1] == b[j - 1];

        row[j] = least(least(before[j], row[j - 1]) + 1, before[j - 1] + !same);
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            row[j] = least(row[j], before2[j - 2] + 1);
    }
}

static size_t distance(const char *a, const char *b)
{
    size_t row[3][LENGTH_MAX + 1] = {{0}}, length = strlen(b), i;

    for (size_t j = 0; j <= length; j++)
        row[0][j] = j;
    for (i = 1; a[i - 1]; i++)
        fill_row(a, b, i, row[(i + 1) % 3], row[(i - 1) % 3], row[i % 3]);
    return row[(i - 1) % 3][length];
}

struct nearest nearest_begin(const char *typed)
{
    size_t letters = strlen(typed), limit = letters / 3;

    return (struct nearest){.typed = typed, .distance = (limit > 0 ? limit : 1) + 1};
}

void nearest_try(struct nearest *nearest, const char *word)
{
    size_t typed = strlen(nearest->typed), length = strlen(word), far;

    if (typed < 2 || typed > LENGTH_MAX || length > LENGTH_MAX)
        return;
    far = distance(nearest->typed, word);
    if (far >= nearest->distance)
        return;
    nearest->best = word;
    nearest->distance = far;
}

const char *nearest_say(const struct nearest *nearest, char text[NEAREST_SAY_MAX])
{
    text[0] = '\0';
    if (nearest->best) /* LENGTH_MAX at most */
        snprintf(text, NEAREST_SAY_MAX, " (%s?)", nearest->best);
    return text;
}
