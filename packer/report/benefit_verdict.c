/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_verdict - see benefit_verdict.h; and the sentence that says it. */
#include "packer/report/benefit_verdict.h"

#include <math.h>
#include <string.h>

#include "packer/base/text.h"
#include "packer/report/benefit_mean.h"
#include "enum_table.h"

#define NORMAL 1.96 /* standard errors to either side of 95 % */
#define MISSED 0.05 /* of intervals */
#define MORE_MOST 1000000

const char *const TABLE(benefit_word_text, BENEFIT_WORDS) = {
    ROW(BENEFIT_HELPS) = "helps",
    ROW(BENEFIT_HURTS) = "hurts",
    ROW(BENEFIT_NO_GAIN) = "no gain here",
    ROW(BENEFIT_UNTOLD) = "cannot be told yet",
};
TABLE_COMPLETE(benefit_word_text);

/* ---- the word ---- */

/* Returns how many standard errors to either side an interval has that is looked at after each lot,
 * so that in 95 of 100 trials none of all these misses the truth: the boundary of a normal mixture
 * (Robbins 1970, Annals of Mathematical Statistics 41(5)), of the weight of BENEFIT_LOT lots. 3.0
 * to 3.2 of 25 to 500 lots. */
static double errors_always(size_t lots)
{
    double n = fmax((double)lots, 1), all = n + BENEFIT_LOT;

    return sqrt(all / n * (log(all / BENEFIT_LOT) - 2 * log(MISSED)));
}

/* Moves an end of an interval so many times as far from what was measured; of logs. */
static double wider(double end, double gain, double times)
{
    double log_gain = log1p(-gain);

    return -expm1(log_gain + times * (log1p(-end) - log_gain));
}

/* lots: how many of the trial's lots have left something to Slurm. */
static enum benefit_word word_of(const struct benefit_verdict *verdict, size_t lots)
{
    if (!(verdict->high >= verdict->low) || (verdict->trial && lots < BENEFIT_LOT))
        return BENEFIT_UNTOLD;
    if (verdict->low > -BENEFIT_WORTH && verdict->high < BENEFIT_WORTH)
        return BENEFIT_NO_GAIN;
    if (verdict->low > 0)
        return BENEFIT_HELPS;
    return verdict->high < 0 ? BENEFIT_HURTS : BENEFIT_UNTOLD;
}

/* Returns a number with two digits that count, rounded up. */
static size_t rounded(double n)
{
    double step = 1;

    while (n / step > 100)
        step *= 10;
    return (size_t)(ceil(n / step) * step);
}

/* Returns how often as many jobs it takes: an error falls with the root of their number. It has to
 * be narrow enough to tell the gain that was found from nothing, or to tell that it is worth
 * nothing. */
static double times_of(const struct benefit_verdict *verdict, double error, double errors)
{
    double gain = fabs(verdict->gain), target = fmax(gain, BENEFIT_WORTH - gain);

    return pow(errors * error / target, 2);
}

static size_t bounded(double n)
{
    return n < 2 ? 2 : n > MORE_MOST ? MORE_MOST : rounded(n);
}

/* What lacks until it can be told. */
static void look_ahead(const struct benefit_pairs *pairs, struct benefit_verdict *verdict)
{
    double n = (double)(verdict->slurm_n + verdict->berth_n), times;
    double errors = verdict->trial ? errors_always(verdict->slurm_n) : NORMAL;

    if (pairs->programs == 0) {
        verdict->more = pairs->lacks_slurm + pairs->lacks_berth;
    } else {
        times = fmax(times_of(verdict, pairs->error, errors), 1);
        if (verdict->trial && verdict->slurm_n > 0)
            times = fmax(times, (double)BENEFIT_LOT / (double)verdict->slurm_n);
        verdict->more = bounded(n * (times - 1));
        verdict->needed = verdict->trial ? bounded((double)verdict->slurm_n * times) : 0;
    }
    if (verdict->more == 0) /* nearly all of it is in one job */
        verdict->more = 1;
}

void benefit_judge(struct benefit_result *result)
{
    const struct benefit_pairs *pairs = &result->pairs;
    struct benefit_verdict *verdict = &result->verdict;
    double times;

    *verdict = (struct benefit_verdict){.gain = pairs->less.mean,
                                        .low = pairs->less.low,
                                        .high = pairs->less.high,
                                        .programs = pairs->programs,
                                        .slurm_n = pairs->slurm.n,
                                        .berth_n = pairs->berth.n,
                                        .trial = pairs->control > 0};
    if (verdict->trial) {
        times = errors_always(verdict->slurm_n) / NORMAL;
        verdict->low = wider(verdict->low, verdict->gain, times);
        verdict->high = wider(verdict->high, verdict->gain, times);
    }
    verdict->word = word_of(verdict, verdict->slurm_n);
    if (verdict->word == BENEFIT_UNTOLD)
        look_ahead(pairs, verdict);
}

/* ---- of berth-steer ---- */

static size_t fewer(const size_t hours[2])
{
    return hours[0] < hours[1] ? hours[0] : hours[1];
}

void benefit_judge_steering(struct benefit_steering *steering, double log, double error)
{
    struct benefit_verdict *verdict = &steering->verdict;
    double half = fewer(steering->hours) > 1
                      ? error * benefit_student((double)fewer(steering->hours) - 1)
                      : NAN;

    verdict->trial = true;
    verdict->gain = -expm1(log);
    verdict->low = -expm1(log + half);
    verdict->high = -expm1(log - half);
    verdict->word = word_of(verdict, steering->hours[0]);
    if (verdict->word != BENEFIT_UNTOLD || !(half > 0))
        return;
    verdict->needed = bounded(fmax((double)steering->hours[0] * times_of(verdict, error, NORMAL),
                                   fmax(BENEFIT_LOT, (double)steering->hours[0] + 1)));
}

/* ---- the sentence ---- */

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* "6.2% less", "9.4% more" */
static void put_time(char *text, double part)
{
    text_append(text, BENEFIT_SENTENCE_MAX, "%.1f%% %s", fabs(part) * 100,
                part < 0 ? "more" : "less");
}

/* "6.2% less time (4.1% to 8.3%)"; where the interval has both signs, "(2.0% more to 4.0% less)".
 */
static void put_gain(char *text, const struct benefit_verdict *verdict)
{
    double first = verdict->gain < 0 ? verdict->high : verdict->low;
    double last = verdict->gain < 0 ? verdict->low : verdict->high;

    put_time(text, verdict->gain);
    text_append(text, BENEFIT_SENTENCE_MAX, " time (");
    if ((first < 0) == (last < 0)) {
        text_append(text, BENEFIT_SENTENCE_MAX, "%.1f%% to %.1f%%", fabs(first) * 100,
                    fabs(last) * 100);
    } else {
        put_time(text, first);
        text_append(text, BENEFIT_SENTENCE_MAX, " to ");
        put_time(text, last);
    }
    text_append(text, BENEFIT_SENTENCE_MAX, ")");
}

/* How it was measured. */
static void put_way(char *text, const struct benefit_verdict *verdict)
{
    text_append(text, BENEFIT_SENTENCE_MAX, "measured on %zu and %zu job%s of %zu program%s",
                verdict->berth_n, verdict->slurm_n, plural(verdict->slurm_n), verdict->programs,
                plural(verdict->programs));
    if (verdict->trial)
        text_append(text, BENEFIT_SENTENCE_MAX, "; the lot had left %s there (control)",
                    verdict->slurm_n == 1 ? "that one" : "these");
}

/* What is known where nothing was measured both ways. */
static void put_predicted(char *text, const struct benefit_result *result)
{
    const struct benefit_amount *placed = &result->group[BENEFIT_PLACED].core_time;
    const struct benefit_amount *seen = &result->group[BENEFIT_OBSERVED].core_time;
    char hours[REPORT_NUMBER_MAX];

    if (placed->n) {
        benefit_hours(fabs(placed->sum), false, hours);
        text_append(text, BENEFIT_SENTENCE_MAX, "; only predicted: %s core-hours %s", hours,
                    placed->sum < 0 ? "lost" : "saved");
    } else if (seen->n) {
        benefit_hours(fabs(seen->sum), false, hours);
        text_append(text, BENEFIT_SENTENCE_MAX, "; only predicted: berth would %s %s core-hours",
                    seen->sum < 0 ? "lose" : "save", hours);
    }
}

static void put_lack(char *text, const struct benefit_result *result)
{
    const struct benefit_pairs *pairs = &result->pairs;

    text_append(text, BENEFIT_SENTENCE_MAX,
                "no program was measured twice both where Slurm put it and where berth did; at "
                "least %zu more job%s of one",
                result->verdict.more, plural(result->verdict.more));
    if (pairs->lacks_berth == 0)
        text_append(text, BENEFIT_SENTENCE_MAX, " where Slurm puts it");
    else if (pairs->lacks_slurm == 0)
        text_append(text, BENEFIT_SENTENCE_MAX, " where berth puts it");
    else
        text_append(text, BENEFIT_SENTENCE_MAX,
                    ", %zu where Slurm puts it and %zu where berth does", pairs->lacks_slurm,
                    pairs->lacks_berth);
    put_predicted(text, result);
}

static void put_untold(char *text, const struct benefit_result *result)
{
    const struct benefit_verdict *verdict = &result->verdict;

    text_append(text, BENEFIT_SENTENCE_MAX, "Cannot be told yet: ");
    if (result->steps == 0) {
        text_append(text, BENEFIT_SENTENCE_MAX,
                    "no step that berth knew of has ended in this time");
        return;
    }
    if (verdict->programs == 0) {
        put_lack(text, result);
        return;
    }
    text_append(text, BENEFIT_SENTENCE_MAX,
                verdict->more < MORE_MOST ? "about %zu more jobs would tell; until now the same "
                                            "programs took "
                                          : "%zu jobs more or many more would tell; until now the "
                                            "same programs took ",
                verdict->more);
    put_gain(text, verdict);
    text_append(text, BENEFIT_SENTENCE_MAX, " where berth put them than where Slurm did, ");
    put_way(text, verdict);
}

void benefit_sentence(const struct benefit_result *result, char text[BENEFIT_SENTENCE_MAX])
{
    static const char *const TABLE(begin, BENEFIT_WORDS) = {
        ROW(BENEFIT_HELPS) = "berth helps: the same programs took ",
        ROW(BENEFIT_HURTS) = "berth HURTS: the same programs took ",
        ROW(BENEFIT_NO_GAIN) = "No gain here: the same programs took ",
        ROW(BENEFIT_UNTOLD) = "",
    };
    TABLE_COMPLETE(begin);
    const struct benefit_verdict *verdict = &result->verdict;

    strcpy(text, begin[verdict->word]);
    if (verdict->word == BENEFIT_UNTOLD) {
        put_untold(text, result);
    } else {
        put_gain(text, verdict);
        text_append(text, BENEFIT_SENTENCE_MAX, " where berth put them than where Slurm did, ");
        put_way(text, verdict);
    }
    text_append(text, BENEFIT_SENTENCE_MAX, ".");
}

static void put_hours(char *text, const struct benefit_steering *steering)
{
    const struct benefit_verdict *verdict = &steering->verdict;

    text_append(text, BENEFIT_SENTENCE_MAX,
                " in hours that berth-steer steered than in those that the lot left to Slurm "
                "alone; %zu and %zu hour%s, %zu and %zu job%s of %zu program%s.",
                steering->hours[1], steering->hours[0], plural(steering->hours[0]),
                verdict->berth_n, verdict->slurm_n, plural(verdict->slurm_n), verdict->programs,
                plural(verdict->programs));
}

void benefit_steering_sentence(const struct benefit_steering *steering,
                               char text[BENEFIT_SENTENCE_MAX])
{
    static const char *const TABLE(begin, BENEFIT_WORDS) = {
        ROW(BENEFIT_HELPS) = "Steering helps: jobs took ",
        ROW(BENEFIT_HURTS) = "Steering HURTS: jobs took ",
        ROW(BENEFIT_NO_GAIN) = "No gain by steering: jobs took ",
        ROW(BENEFIT_UNTOLD) = "Of steering it cannot be told yet",
    };
    TABLE_COMPLETE(begin);
    const struct benefit_verdict *verdict = &steering->verdict;

    strcpy(text, begin[verdict->word]);
    if (verdict->word == BENEFIT_UNTOLD && !(verdict->high >= verdict->low)) {
        text_append(text, BENEFIT_SENTENCE_MAX,
                    ": no program began in two hours that berth-steer steered and in two that the "
                    "lot left to Slurm alone.");
        return;
    }
    if (verdict->word == BENEFIT_UNTOLD)
        text_append(text, BENEFIT_SENTENCE_MAX,
                    ", about %zu hours have to be left to Slurm alone; until now jobs took ",
                    verdict->needed);
    put_gain(text, verdict);
    put_hours(text, steering);
}
