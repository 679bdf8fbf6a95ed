/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loss - see loss.h */
#include "packer/cli/explain/loss.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/screen.h"
#include "packer/fact/fact.h"
#include "enum_table.h"

#define WORTH 0.005 /* of the time: less is next to nothing */

/* What takes the time; the two rows that end in "that" say who had the CPU. */
static const struct {
    enum fact_id id;
    const char *text;
} TABLE(rows, LOSS_ROWS) = {
    ROW(LOSS_CACHES) = {FACT_LOST_CACHES, "sharing caches and memory"},
    ROW(LOSS_SIBLINGS) = {FACT_LOST_SIBLINGS, "others on its cores' other hardware threads"},
    ROW(LOSS_CLOCK) = {FACT_LOST_CLOCK, "a lower clock than alone"},
    ROW(LOSS_WAITING) = {FACT_LOST_WAITING, "waiting for a CPU that"},
    ROW(LOSS_THREADS) = {FACT_LOST_THREADS, "waiting for a CPU that its own threads had"},
    ROW(LOSS_REST) = {FACT_LOST_REST, "not explained"},
};
TABLE_COMPLETE(rows);

/* Adds a part. Returns whether no step before has lost so much by that. */
static bool add_part(struct loss *loss, enum loss_row row, double s)
{
    bool most = s > loss->most[row];

    if (isnan(s))
        return false;
    loss->known[row] = true;
    loss->s[row] += s;
    if (most)
        loss->most[row] = s;
    return most;
}

void loss_add(struct loss *loss, struct json_object *step)
{
    struct json_object *lost = ctl_object(step, "loss"), *observe = ctl_object(step, "observe");
    double wait_s = ctl_number(observe, fact[FACT_CPU_WAIT_S].key);
    double could_s =
        ctl_number(observe, "user_s") + ctl_number(observe, "system_s") + (wait_s > 0 ? wait_s : 0);

    if (isnan(ctl_number(lost, fact[FACT_LOST].key)) || !(could_s > 0))
        return;
    loss->could_s += could_s;
    for (enum loss_row i = LOSS_CACHES; i < LOSS_ROWS; i++) {
        bool most = add_part(loss, i, could_s * ctl_number(lost, fact[rows[i].id].key));

        if (most && i == LOSS_CACHES)
            loss->culprits = ctl_known_text(lost, fact[FACT_CULPRITS].key);
        if (most && i == LOSS_WAITING)
            loss->rival = ctl_known_text(lost, fact[FACT_RIVAL].key);
    }
}

double loss_part(const struct loss *loss, enum loss_row row)
{
    double s = 0;

    for (enum loss_row i = LOSS_CACHES; i < LOSS_ROWS; i++)
        s += row == LOSS_ROWS || row == i ? loss->s[i] : 0;
    if (!(loss->could_s > 0) || (row < LOSS_ROWS && !loss->known[row]))
        return NAN;
    return s / loss->could_s;
}

const char *loss_rival(const struct loss *loss)
{
    static const struct {
        const char *word, *text;
    } rival[] = {{"outside", "processes outside Slurm"},
                 {"jobs", "other jobs"},
                 {"own-job", "other steps of its job"}};

    for (size_t i = 0; loss->rival && i < sizeof(rival) / sizeof(rival[0]); i++)
        if (strcmp(loss->rival, rival[i].word) == 0)
            return rival[i].text;
    return "others";
}

/* Says what more is known of a part. */
static void say_more(FILE *out, const struct loss *loss, enum loss_row row)
{
    bool guessed = row == LOSS_CACHES && !loss->known[LOSS_REST];

    if (row == LOSS_WAITING)
        fprintf(out, " %s had", loss_rival(loss));
    if (row == LOSS_CACHES && loss->culprits)
        fprintf(out, " with %s", loss->culprits);
    if (guessed || row == LOSS_SIBLINGS)
        fputs(" (predicted)", out);
}

/* Says each part that is worth a word. */
static void say_parts(FILE *out, const struct loss *loss)
{
    const char *before = ": ";
    char percent[32];

    for (enum loss_row i = LOSS_CACHES; i < LOSS_ROWS; i++) {
        if (!(loss_part(loss, i) >= WORTH))
            continue;
        fprintf(out, "%s%s %s", before, screen_percent(loss_part(loss, i), percent), rows[i].text);
        say_more(out, loss, i);
        before = ", ";
    }
}

void loss_say(FILE *out, const struct loss *loss)
{
    double all = loss_part(loss, LOSS_ROWS);
    char percent[32];

    if (isnan(all))
        return;
    fprintf(out, "%s of the time that it could have run",
            all < WORTH ? "next to nothing" : screen_percent(all, percent));
    say_parts(out, loss);
    if (isnan(loss_part(loss, LOSS_WAITING)))
        fputs("; how long it waited for a CPU is not known", out);
}

struct json_object *loss_json(const struct loss *loss)
{
    struct json_object *object = json_object_new_object();
    bool outside = loss_part(loss, LOSS_WAITING) > WORTH;

    json_add_number(object, fact[FACT_LOST].key, loss_part(loss, LOSS_ROWS));
    for (enum loss_row i = LOSS_CACHES; i < LOSS_ROWS; i++)
        json_add_number(object, fact[rows[i].id].key, loss_part(loss, i));
    json_add_text(object, fact[FACT_RIVAL].key, outside ? loss->rival : NULL);
    json_add_text(object, fact[FACT_CULPRITS].key, loss->culprits);
    return object;
}
