/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spell - see spell.h */
#include "packer/observe/spell.h"

#include <math.h>
#include <stdlib.h>

#include "packer/steps/programs.h"

#define RING (2 * SPELL_AFTER)
#define NOISE 0.03     /* of a window's speed, as long as nothing is known of the program's */
#define ASSUMED 2      /* measurements that this counts as */
#define REMEMBERED 300 /* measurements; older ones fade */
#define LEAST 0.005    /* clocks and counts are no better */

/* ---- what a program does by itself ---- */

static void remember(double *sum, double *n, double difference)
{
    double fade = *n < REMEMBERED ? 1 : (REMEMBERED - 1) / *n;

    *sum = *sum * fade + difference * difference;
    *n = *n * fade + 1;
}

/* Returns the mean of `count` windows of which the last is the `last`-th. */
static double mean_until(const struct spell *spell, size_t last, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += spell->speed[(last - i) % RING];
    return sum / (double)count;
}

void spell_add(struct spell *spell, double speed, double predicted, double modelled,
               struct program_scatter *scatter)
{
    size_t at = spell->n++;

    spell->speed[at % RING] = speed;
    if (!isnan(predicted)) {
        spell->predicted += predicted;
        spell->modelled += modelled;
        spell->predictions++;
    }
    if (at % 2 == 1)
        remember(&scatter->near, &scatter->nears, speed - spell->speed[(at - 1) % RING]);
    if (spell->n % SPELL_AFTER == 0 && spell->n >= 2 * SPELL_AFTER)
        remember(&scatter->far, &scatter->fars,
                 mean_until(spell, at, SPELL_AFTER) -
                     mean_until(spell, at - SPELL_AFTER, SPELL_AFTER));
}

void spell_end(struct spell *spell)
{
    free(spell->pair);
    *spell = (struct spell){0};
}

/* ---- a change ---- */

/* Returns the variance of a window's speed, and of what comes on top of it over the windows of a
 * change: a phase more likely begins within those than within the fewer that were compared. */
static double window_variance(const struct program_scatter *scatter)
{
    return fmax((scatter->near / 2 + ASSUMED * NOISE * NOISE) / (scatter->nears + ASSUMED),
                LEAST * LEAST);
}

static double slow_variance(const struct program_scatter *scatter)
{
    double both = 2.0 / SPELL_AFTER, window = window_variance(scatter);
    double longer = (SPELL_BEFORE + SPELL_AFTER) / (2.0 * SPELL_AFTER);

    return longer *
           fmax((scatter->far + ASSUMED * NOISE * NOISE * both) / (scatter->fars + ASSUMED) -
                    both * window,
                0);
}

double spell_step(const struct spell *before, const struct spell *after,
                  const struct program_scatter *scatter, double *error)
{
    size_t last = before->n < SPELL_BEFORE ? before->n : SPELL_BEFORE,
           first = after->n < SPELL_AFTER ? after->n : SPELL_AFTER;

    *error = sqrt(window_variance(scatter) * (1 / (double)last + 1 / (double)first) +
                  slow_variance(scatter));
    return mean_until(before, before->n - 1, last) - mean_until(after, first - 1, first);
}

bool spell_drift(const struct spell *spell, size_t n, const struct program_scatter *scatter,
                 double *grown, double *error)
{
    size_t kept = spell->n < RING ? spell->n : RING;

    if (n == 0 || n > SPELL_AFTER || kept < n + SPELL_AFTER)
        return false;
    *error = sqrt(window_variance(scatter) * (1 / (double)n + 1 / (double)(kept - n)) +
                  slow_variance(scatter));
    *grown = mean_until(spell, spell->n - 1 - n, kept - n) - mean_until(spell, spell->n - 1, n);
    return true;
}
