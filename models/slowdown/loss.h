/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loss - what became of the time in which a step could have run, in parts that add up.
 *
 * That time is the CPU time that it had and the time that its threads waited for a CPU. A step that
 * is slowed down by s needed 1 / (1 + s) of its CPU time alone; the rest of it is lost. Where the
 * slowdown was measured, that is what is divided: first the clock, which was measured, too; then
 * what is predicted of the hardware threads beside it, and of caches and memory, as far as there is
 * something left; what then is left nobody explains. Where it was only predicted, the prediction is
 * all that there is.
 *
 * A step with more threads than CPUs waits for its own: what its threads wanted beyond the CPU time
 * that its CPUs have. What it waited beyond that, others had, as far as they were seen there.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_SLOWDOWN_LOSS_H
#define BERTH_MODELS_SLOWDOWN_LOSS_H

enum loss_part {
    LOSS_CACHES,   /* caches and memory, that others used, too */
    LOSS_SIBLINGS, /* the other hardware threads of its cores, where others ran */
    LOSS_CLOCK,    /* a lower clock than alone */
    LOSS_WAITING,  /* for a CPU on which somebody else ran */
    LOSS_THREADS,  /* for a CPU on which it ran itself */
    LOSS_REST,     /* measured, and not explained */
    LOSS_PARTS
};

/* What is known of a step over its run; NAN is not known. Slowdowns are fractions of its time
 * alone. */
struct loss_of {
    double cpu_s;    /* CPU time that it had, seconds */
    double wait_s;   /* that its threads waited for a CPU, all together, seconds */
    double room_s;   /* CPU time that its CPUs have, seconds: their number times its time */
    double taken_s;  /* of that, what others had, seconds */
    double caches;   /* predicted slowdown by who shares its caches and memory */
    double siblings; /* predicted slowdown by who ran on its cores' other hardware threads */
    double measured; /* slowdown; what it waited is not in it */
    double clock;    /* the clock's part of that */
};

/* Fills in the parts, fractions of the time in which it could have run, >= 0; NAN is not known.
 * Returns the sum of those that are known; NAN: none is. */
double loss_divide(const struct loss_of *of, double part[LOSS_PARTS]);

#endif
