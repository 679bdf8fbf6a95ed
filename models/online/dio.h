/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dio - when Distributed Intensity Online moves (Blagodurov 2010, section 6): the paper's re-place
 * at each sample, tamed. What is proposed is the policy's; this says whether it is done.
 *
 *   - It must pay: what it gains in `horizon_s` exceeds what it costs; or it is owed to somebody.
 *   - It must have done so for `agreements` decisions in a row: one sample is no trend.
 *   - There are at most so many moves in any minute.
 *   - Regret: where all steps of the caches concerned do less after a move, and one of them is
 * slower by more than chance explains, it is undone, and the same proposal is not tried again for
 *     `ban_s`.
 *
 * The paper samples at most once per 10^9 cycles and evaluates each sample (section 4.2); berthd's
 * `window` of a second is 3 * 10^9 at 3 GHz, and its lower bound of 100 ms is less than that below
 * 10 GHz. The running average, whose length the paper does not say, is that of rate.h since the
 * phase began.
 *
 * Gains are in cores: 0.5 means that the node does as much more as half a core does. Costs are in
 * core-seconds. Pure arithmetic: no I/O, no clock (the caller says what time it is), no globals. */
#ifndef BERTH_MODELS_ONLINE_DIO_H
#define BERTH_MODELS_ONLINE_DIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIO_MOVES_MAX 600 /* a minute */
#define DIO_BANS 16

struct dio_rules {
    double horizon_s; /* a move must have paid by then, > 0 */
    unsigned agreements;
    unsigned moves_per_minute; /* 0 .. DIO_MOVES_MAX */
    double regret;             /* fraction of speed lost that is too much, >= 0 */
    double ban_s;
};

struct dio_proposal {
    uint64_t id;   /* equal for equal placements */
    double gain;   /* cores */
    double cost_s; /* core-seconds */
    size_t moves;  /* steps that would move, > 0 */
    bool owed;     /* somebody was promised what only this gives: it need not pay */
};

enum dio_verdict {
    DIO_MOVE,
    DIO_NO_GAIN, /* it would not pay within the horizon */
    DIO_AGAIN,   /* it pays; if the next decision agrees, it is done */
    DIO_LIMIT,   /* too many moves in this minute */
    DIO_BANNED,  /* it was tried, and was slower */
    DIO_VERDICTS
};

struct dio { /* all zero: nothing has happened */
    uint64_t candidate;
    unsigned agreed; /* decisions in a row for it */
    size_t nmoved, next;
    double moved_s[DIO_MOVES_MAX]; /* when steps moved, a ring */
    struct dio_ban {
        uint64_t id;
        double until_s;
    } ban[DIO_BANS];
    size_t next_ban;
};

/* Returns what is to become of a proposal. For DIO_MOVE its moves are counted as made. */
enum dio_verdict dio_decide(struct dio *dio, const struct dio_rules *rules, double now_s,
                            const struct dio_proposal *proposal);

/* Notes a decision without a proposal: all steps are where the policy wants them. */
void dio_content(struct dio *dio);

/* Returns whether a step is slower after a move by more than `regret`, and by more than both
 * intervals explain: its speeds before and after, with their 95 % half widths (NAN: not known). */
bool dio_slower(const struct dio_rules *rules, double before, double before_error, double after,
                double after_error);

/* A step on the caches that a move concerned: its speed before and after, with their 95 % half
 * widths (NAN: not known). */
struct dio_speed {
    double before, before_error, after, after_error; /* in any unit, > 0 */
    double cores;
};

/* Returns whether a move is to be undone: one of the steps is slower by more than `regret` and
 * chance (dio_slower), and all together, core by core and each in proportion to its speed before,
 * do less than they did. A step that lost a little for the greater gain of others is no reason.
 * worth: the speed at which the move still pays, of that before; 1, or less where it saves power.
 */
bool dio_regrets(const struct dio_rules *rules, double worth, size_t n,
                 const struct dio_speed *speed);

/* Bans the proposal of that id until now_s + ban_s. The oldest ban gives way when there are
 * DIO_BANS. */
void dio_forbid(struct dio *dio, const struct dio_rules *rules, double now_s, uint64_t id);

#endif
