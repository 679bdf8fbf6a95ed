/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_trial - see day_trial.h */
#include "tests/bench/day_trial.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/base/json.h"

#define NOTHING 1e-9 /* of the time: a gain has no sign */

/* ---- the records ---- */

struct records {
    size_t n, room;
    struct ledger_record *of;
};

static int keep(const struct ledger_record *record, void *arg)
{
    struct records *records = arg;

    if (array_grow(&records->of, &records->room, records->n + 1, sizeof(*records->of)) < 0)
        return 1;
    records->of[records->n++] = *record;
    return 0;
}

static int by_end(const void *a, const void *b)
{
    const struct ledger_record *x = a, *y = b;

    if (x->end_ms != y->end_ms)
        return x->end_ms < y->end_ms ? -1 : 1;
    return x->id.job < y->id.job ? -1 : x->id.job > y->id.job;
}

static int read_ledger(struct records *records, const char *folder, struct berth_error *err)
{
    const struct ledger_filter all = {.by_job = true};
    char url[PATH_MAX];

    snprintf(url, sizeof(url), "sqlite:%.1000s/ledger.db", folder);
    if (ledger_read(url, "", &all, keep, records, err) < 0)
        return -1;
    qsort(records->of, records->n, sizeof(*records->of), by_end);
    return records->n ? 0 : berth_error_set(err, "%s: no job has a record", url);
}

/* ---- one after the other ---- */

static enum benefit_word word_of(double gain)
{
    if (fabs(gain) < BENEFIT_WORTH)
        return BENEFIT_NO_GAIN;
    return gain > 0 ? BENEFIT_HELPS : BENEFIT_HURTS;
}

/* Takes down what is said now. */
static void look(struct day_trial *trial, const struct benefit_verdict *verdict, double gain)
{
    const struct day_moment now = {trial->jobs, trial->lot};
    bool right = verdict->gain * gain > 0 && fabs(gain) > NOTHING;

    if (!right)
        trial->sign = (struct day_moment){0, 0};
    else if (!trial->sign.jobs)
        trial->sign = now;
    if (verdict->word == trial->truth && !trial->told.jobs)
        trial->told = now;
    trial->misled += verdict->word != trial->truth && verdict->word != BENEFIT_UNTOLD;
    trial->word = verdict->word;
}

static int add_all(struct day_trial *trial, struct benefit *benefit, const struct records *records,
                   double gain)
{
    for (size_t i = 0; i < records->n; i++) {
        const struct ledger_record *record = &records->of[i];
        const struct benefit_result *result;

        if (benefit_add(benefit, record) < 0)
            return -1;
        trial->jobs++;
        trial->lot += strcmp(record->trial, "control") == 0;
        result = benefit_conclude(benefit);
        if (result->verdict.trial)
            look(trial, &result->verdict, gain);
    }
    benefit_sentence(benefit_conclude(benefit), trial->sentence);
    return 0;
}

int day_trial_read(struct day_trial *trial, const char *folder, double gain,
                   struct berth_error *err)
{
    struct benefit *benefit = benefit_new();
    struct records records = {0};
    int rc = -1;

    *trial = (struct day_trial){.truth = word_of(gain), .word = BENEFIT_UNTOLD};
    if (!benefit)
        berth_no_memory(err);
    else if (read_ledger(&records, folder, err) == 0 &&
             (rc = add_all(trial, benefit, &records, gain)) < 0)
        berth_error_set(err, "%s", strerror(errno));
    free(records.of);
    benefit_free(benefit);
    return rc;
}

/* ---- what is printed ---- */

static void print_moment(const char *what, const struct day_moment *moment)
{
    if (moment->jobs)
        printf("  %-24s after %zu jobs, %zu of them by lot\n", what, moment->jobs, moment->lot);
    else
        printf("  %-24s not until the end\n", what);
}

void day_trial_print(const struct day_trial *trial, double without, double with)
{
    char word[64];

    printf("trial: %zu jobs, %zu by lot; it costs %.2f %% of the time (stretch %.4f, without it "
           "%.4f)\n",
           trial->jobs, trial->lot, 100 * (with / without - 1), with, without);
    if (trial->truth != BENEFIT_NO_GAIN) /* else there is no sign */
        print_moment("the sign is right", &trial->sign);
    snprintf(word, sizeof(word), "\"%s\" is said", benefit_word_text[trial->truth]);
    print_moment(word, &trial->told);
    printf("  %-24s after %zu jobs\n  in the end: %s\n", "something wrong is said", trial->misled,
           trial->sentence);
}

static struct json_object *moment_json(const struct day_moment *moment)
{
    struct json_object *object;

    if (!moment->jobs)
        return NULL;
    object = json_object_new_object();
    json_add_u64(object, "jobs", moment->jobs);
    json_add_u64(object, "lot", moment->lot);
    return object;
}

struct json_object *day_trial_json(const struct day_trial *trial, double without, double with)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "jobs", trial->jobs);
    json_add_u64(object, "lot", trial->lot);
    json_add_double(object, "cost", with / without - 1);
    json_add_text(object, "truth", benefit_word_text[trial->truth]);
    json_add(object, "sign", moment_json(&trial->sign));
    json_add(object, "told", moment_json(&trial->told));
    json_add_u64(object, "misled", trial->misled);
    json_add_text(object, "word", benefit_word_text[trial->word]);
    json_add_text(object, "sentence", trial->sentence);
    return object;
}
