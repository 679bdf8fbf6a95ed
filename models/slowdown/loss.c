/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loss - see loss.h */
#include "models/slowdown/loss.h"

#include <math.h>
#include <stddef.h>

/* Takes what is wanted from what is left; NAN, what is not known, takes nothing. */
static double part_left(double wanted, double *left)
{
    double taken = fmin(fmax(wanted, 0), *left);

    if (isnan(wanted))
        return NAN;
    *left -= taken;
    return taken;
}

/* Divides what it waited: what its own threads wanted beyond the room is theirs. Each second that
 * others had a CPU, as many threads waited for that as there are to a CPU. */
static void divide_waiting(const struct loss_of *of, double could_s, double part[LOSS_PARTS])
{
    double crowd = fmax(1, could_s / of->room_s); /* of its threads to a CPU */
    double left = of->wait_s - fmin(of->wait_s, fmax(0, could_s - of->room_s));
    double others = isnan(of->taken_s) ? left : fmin(left, of->taken_s * crowd);

    part[LOSS_WAITING] = others / could_s;
    part[LOSS_THREADS] = (of->wait_s - others) / could_s;
}

/* Divides the CPU time, which is that part of the time in which it could have run. */
static void divide_work(const struct loss_of *of, double work, double part[LOSS_PARTS])
{
    double predicted = fmax(of->caches, 0) + fmax(of->siblings, 0); /* of NAN: 0 */
    double left = isnan(of->measured) ? predicted : fmax(of->measured, 0), slowed = 1 + left;

    part[LOSS_CLOCK] = isnan(of->measured) ? NAN : part_left(of->clock, &left);
    part[LOSS_SIBLINGS] = part_left(of->siblings, &left);
    part[LOSS_CACHES] = part_left(of->caches, &left);
    part[LOSS_REST] = isnan(of->measured) ? NAN : left;
    for (enum loss_part i = LOSS_CACHES; i < LOSS_PARTS; i++)
        if (i != LOSS_WAITING && i != LOSS_THREADS)
            part[i] *= work / slowed;
}

double loss_divide(const struct loss_of *of, double part[LOSS_PARTS])
{
    double could_s = of->cpu_s + (of->wait_s > 0 ? of->wait_s : 0), sum = NAN;

    for (enum loss_part i = LOSS_CACHES; i < LOSS_PARTS; i++)
        part[i] = NAN;
    if (!(could_s > 0))
        return NAN;
    if (of->wait_s >= 0 && of->room_s > 0)
        divide_waiting(of, could_s, part);
    divide_work(of, of->cpu_s / could_s, part);
    for (enum loss_part i = LOSS_CACHES; i < LOSS_PARTS; i++)
        if (!isnan(part[i]))
            sum = isnan(sum) ? part[i] : sum + part[i];
    return sum;
}
