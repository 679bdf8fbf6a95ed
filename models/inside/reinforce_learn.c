/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reinforce_learn - thresholds from recorded sweeps; see reinforce.h */
#include "models/inside/reinforce.h"

#include <math.h>

#define POINTS_MIN 4
#define OFF_MIN 0.1 /* of a figure's rise: nearer to the line is no knee */

/* One figure of a sweep: a field by the number of threads. */
struct figure {
    size_t n;
    const struct reinforce_point *point;
    size_t field; /* of struct reinforce_profile, in doubles */
    double bend;  /* 1: it lies below its line, and bends up; -1: above, and flattens */
};

static double value_of(const struct figure *figure, size_t i)
{
    return ((const double *)&figure->point[i].profile)[figure->field];
}

/* How far point i is off the line from the first to the last one, to the side that is meant. */
static double off_line(const struct figure *figure, size_t i)
{
    double first = figure->point[0].threads, last = figure->point[figure->n - 1].threads;
    double part = (figure->point[i].threads - first) / (last - first);
    double a = value_of(figure, 0), b = value_of(figure, figure->n - 1);

    return figure->bend * (a + part * (b - a) - value_of(figure, i));
}

/* Returns the point of the knee; 0: there is none. */
static size_t knee_of(const struct figure *figure)
{
    double up = value_of(figure, figure->n - 1) - value_of(figure, 0), most = OFF_MIN * up;
    size_t knee = 0;

    if (figure->n < POINTS_MIN || !(up > 0))
        return 0;
    for (size_t i = 1; i + 1 < figure->n; i++) {
        double off = off_line(figure, i);

        if (isnan(off))
            return 0;
        if (off > most) {
            most = off;
            knee = i;
        }
    }
    return knee;
}

/* The rise from the point before i to i, per t_step threads. */
static double rise_at(const struct figure *figure, size_t i, unsigned t_step)
{
    double threads = (double)figure->point[i].threads - figure->point[i - 1].threads;

    return (value_of(figure, i) - value_of(figure, i - 1)) * t_step / threads;
}

/* Between the rises up to the knee and the one right behind it; NAN: there is no knee. */
static double rise_of(const struct figure *figure, unsigned t_step)
{
    size_t knee = knee_of(figure);
    double slow = -INFINITY;

    if (!knee)
        return NAN;
    for (size_t i = 1; i <= knee; i++)
        slow = fmax(slow, figure->bend * rise_at(figure, i, t_step));
    return (figure->bend * slow + rise_at(figure, knee + 1, t_step)) / 2;
}

static double at_knee(const struct figure *figure, unsigned t_step)
{
    size_t knee = knee_of(figure);

    (void)t_step;
    return knee ? value_of(figure, knee) : NAN;
}

/* ---- of several programs ---- */

/* The k-th smallest of what the sweeps give, from 0: few enough to count. */
static double ranked(size_t n, const struct reinforce_sweep *sweep, const struct figure *kind,
                     double (*of)(const struct figure *, unsigned), unsigned t_step, size_t k)
{
    for (size_t i = 0; i < n; i++) {
        struct figure figure = {sweep[i].n, sweep[i].point, kind->field, kind->bend};
        double value = of(&figure, t_step);
        size_t below = 0, equal = 0;

        for (size_t j = 0; j < n; j++) {
            struct figure other = {sweep[j].n, sweep[j].point, kind->field, kind->bend};
            double against = of(&other, t_step);

            below += against < value;
            equal += against == value;
        }
        if (!isnan(value) && below <= k && k < below + equal)
            return value;
    }
    return NAN;
}

/* The median of what the sweeps give; *from is how many give anything. */
static double median(size_t n, const struct reinforce_sweep *sweep, size_t field, double bend,
                     double (*of)(const struct figure *, unsigned), unsigned t_step, double *from)
{
    struct figure kind = {.field = field, .bend = bend};
    size_t known = 0;

    for (size_t i = 0; i < n; i++) {
        struct figure figure = {sweep[i].n, sweep[i].point, field, bend};

        known += !isnan(of(&figure, t_step));
    }
    *from = (double)known;
    if (known == 0)
        return NAN;
    return (ranked(n, sweep, &kind, of, t_step, (known - 1) / 2) +
            ranked(n, sweep, &kind, of, t_step, known / 2)) /
           2;
}

#define FIELD(member) (offsetof(struct reinforce_profile, member) / sizeof(double))

struct reinforce_thresholds reinforce_learn(size_t n, const struct reinforce_sweep *sweep,
                                            unsigned t_step, struct reinforce_thresholds *from)
{
    struct reinforce_thresholds known;

    if (!from)
        from = &known;
    return (struct reinforce_thresholds){
        .cpu_util_delta =
            median(n, sweep, FIELD(cpu_util), -1, rise_of, t_step, &from->cpu_util_delta),
        .lock = median(n, sweep, FIELD(lock), 1, at_knee, t_step, &from->lock),
        .lock_delta = median(n, sweep, FIELD(lock), 1, rise_of, t_step, &from->lock_delta),
        .vcx_delta = median(n, sweep, FIELD(vcx), 1, rise_of, t_step, &from->vcx_delta),
        .migr_delta = median(n, sweep, FIELD(migr), 1, rise_of, t_step, &from->migr_delta),
    };
}
