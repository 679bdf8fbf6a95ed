/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain_summary - see explain_summary.h */
#include "packer/cli/explain/explain_summary.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/common/screen.h"
#include "packer/cli/explain/loss.h"
#include "enum_table.h"

#define RANKS_SHOWN 8
#define NAMES_SHOWN 3
#define SUFFERS 0.1 /* slower than alone by that: it needs the cache */
#define SAME 0.0005 /* slowdowns that differ by less are the same to a person */

static bool is(struct json_object *object, const char *key, const char *word)
{
    return strcmp(ctl_text(object, key), word) == 0;
}

enum explain_deed explain_deed(struct json_object *step)
{
    static const char *const TABLE(state, EXPLAIN_DEEDS) = {
        ROW(EXPLAIN_NEW) = "new",           ROW(EXPLAIN_PLACED) = "placed",
        ROW(EXPLAIN_OBSERVED) = "observed", ROW(EXPLAIN_LEFT) = "left",
        ROW(EXPLAIN_FAILED) = "failed",
    };
    TABLE_COMPLETE(state);
    const char *reason = ctl_known_text(ctl_object(step, "enforce"), "reason");
    bool ended = is(step, "state", "ended");

    for (size_t i = 0; i < sizeof(state) / sizeof(state[0]); i++)
        if (is(step, ended ? "was" : "state", state[i]))
            return (enum explain_deed)i;
    if (!reason)
        return EXPLAIN_PLACED;
    return strncmp(reason, "observed", 8) == 0 ? EXPLAIN_OBSERVED : EXPLAIN_LEFT;
}

const char *explain_reason(struct json_object *step)
{
    static const char *const said[] = {"left alone: ", "put back: "};
    const char *reason = ctl_known_text(ctl_object(step, "enforce"), "reason");
    enum explain_deed deed = explain_deed(step);

    if (deed == EXPLAIN_PLACED || deed == EXPLAIN_NEW || !reason)
        return NULL;
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        if (strncmp(reason, said[i], strlen(said[i])) == 0)
            return reason + strlen(said[i]);
    return reason;
}

static bool kept_off(struct json_object *step)
{
    return explain_deed(step) == EXPLAIN_LEFT || explain_deed(step) == EXPLAIN_FAILED;
}

/* ---- what ---- */

/* Says who it is: "solver of anna", "it" where nobody knows. */
static void say_who(FILE *out, struct json_object *step)
{
    struct json_object *request = ctl_object(step, "request");
    const char *path = ctl_text(request, "exe"), *slash = strrchr(path, '/');

    fprintf(out, "%.64s", slash ? slash + 1 : strcmp(path, "-") == 0 ? "the program" : path);
    ctl_say(out, request, "[ of {user}]");
}

static bool from_ledger(struct json_object *step)
{
    return is(step, "from", "ledger");
}

static void say_end(FILE *out, struct json_object *step)
{
    double status = ctl_number(step, "exit_status");
    int code = isnan(status) ? 0 : (int)status;

    if (isnan(ctl_number(step, "ended_at")))
        return;
    fputs("; it has ended", out);
    if (!isnan(status) && WIFSIGNALED(code))
        fprintf(out, ", killed by signal %d", WTERMSIG(code));
    else if (!isnan(status) && WEXITSTATUS(code) != 0)
        fprintf(out, ", exit status %d", WEXITSTATUS(code));
    if (from_ledger(step))
        ctl_say(out, step, " (from the ledger[, node {node_name}])");
}

/* Says what was done with a step that berth decides about. */
static void say_placed(FILE *out, struct json_object *step)
{
    struct json_object *place = ctl_object(step, "place"), *size = ctl_object(step, "size");
    bool same = strcmp(ctl_text(place, "home"), ctl_text(place, "cpus")) == 0;
    bool touches =
        explain_deed(step) != EXPLAIN_OBSERVED && !is(ctl_object(step, "enforce"), "way", "dryrun");

    if (same)
        ctl_say(out, place,
                touches ? "berth leaves it on CPUs {home}, where Slurm put it"
                        : "berth would leave it on CPUs {home}, where Slurm put it");
    else if (touches)
        ctl_say(out, place,
                "berth put it on CPUs {cpus}; Slurm had given {home}[, and {idle} to nobody]");
    else
        ctl_say(out, place,
                "berth only observes: it stays on CPUs {home}, and would be put on {cpus}");
    if (ctl_number(size, "given") < ctl_number(size, "cores"))
        ctl_say(out, size, ", {given} of its {cores} cores");
}

/* Says where its ranks stand, or why they are not placed. */
static void say_ranks(FILE *out, struct json_object *ranks)
{
    struct json_object *list = ctl_object(ranks, "ranks");
    size_t n = ctl_length(list);

    if (n == 0)
        return;
    if (!is(ranks, "reason", "-")) {
        ctl_say(out, ranks, "; {n} rank{n*} of {launcher} in it: {reason}");
        return;
    }
    for (size_t i = 0; i < n && i < RANKS_SHOWN; i++) {
        fputs(i ? ", " : "; ", out);
        ctl_say(out, json_object_array_get_idx(list, i), "rank {id}");
        fprintf(out, " of %zu", n);
        ctl_say(out, json_object_array_get_idx(list, i), " on CPUs {cpus}");
    }
    fputs(n > RANKS_SHOWN ? ", .." : "", out);
}

void explain_what(FILE *out, struct json_object *step)
{
    struct json_object *place = ctl_object(step, "place");

    say_who(out, step);
    fputs(": ", out);
    if (explain_deed(step) == EXPLAIN_LEFT)
        ctl_say(out, place, "berth leaves it alone[, on CPUs {home}]");
    else if (explain_deed(step) == EXPLAIN_FAILED)
        ctl_say(out, place, "berth put it back[ on CPUs {home}, where Slurm had it]");
    else if (is(step, "state", "new"))
        ctl_say(out, place, "berth has not decided yet");
    else if (!is(place, "cpus", "-") && !is(place, "cpus", ""))
        say_placed(out, step);
    else
        fputs("it stood where Slurm put it", out);
    if (isnan(ctl_number(step, "ended_at")))
        say_ranks(out, ctl_object(step, "ranks"));
    say_end(out, step);
}

/* ---- why ---- */

static void say_class(FILE *out, struct json_object *step)
{
    struct json_object *class = ctl_object(step, "class");
    double slower = ctl_number(ctl_object(step, "slowdown"), "predicted");

    if (is(class, "name", "devil"))
        fprintf(out, "it disturbs others in the cache%s",
                slower >= SUFFERS ? ", and suffers from who disturbs it" : "");
    else if (is(class, "name", "turtle") && slower >= SUFFERS)
        fputs("it lives from the cache, and suffers from who disturbs it", out);
    else if (is(class, "name", "turtle"))
        fputs("it hardly disturbs others in the cache", out);
    else
        fputs("how it uses the cache is not known yet", out);
    ctl_say(out, ctl_object(step, "profile"), "[ ({miss_pmi} misses per million instructions)]");
}

/* Says how the place was chosen: the policies by rule say it themselves. */
static void say_choice(FILE *out, struct json_object *step)
{
    struct json_object *place = ctl_object(step, "place");
    double rank = ctl_number(place, "rank");
    const char *reason = ctl_text(place, "reason");

    if (ctl_true(ctl_object(place, "near"), "holds") && rank > 0)
        ctl_say(out, place, "; {near.text}");
    else if (is(place, "policy", "di") && rank > 0 &&
             is(ctl_object(step, "class"), "name", "unprofiled"))
        fputs("; until then it is taken for the average of the node's programs", out);
    else if (is(place, "policy", "di") && rank > 0)
        ctl_say(out, place,
                "; number {rank} of {of} by cache misses, which are spread over the caches");
    else if (is(place, "policy", "dio-power") || !(rank > 0))
        fprintf(out, "; %.*s", (int)strcspn(reason, ";"), reason);
    else
        ctl_say(out, place, "; of all places this one costs the node's steps least speed");
}

void explain_sharers(FILE *out, size_t n, size_t devils)
{
    const char *s = n == 1 ? "s" : "";

    if (n == 0) {
        fputs("nobody else is on its caches", out);
        return;
    }
    fprintf(out, "%zu step%s share%s its caches", n, n == 1 ? "" : "s", s);
    if (devils == n)
        fprintf(out, " and disturb%s it", s);
    else if (devils > 0)
        fprintf(out, ", %zu of which disturb%s it", devils, devils == 1 ? "s" : "");
    else
        fprintf(out, " and hardly disturb%s it", s);
}

/* Says which programs of those on its caches disturb it. */
static void say_devils(FILE *out, struct json_object *neighbours, size_t devils)
{
    size_t n = ctl_length(neighbours), shown = 0;

    for (size_t i = 0; i < n && shown < NAMES_SHOWN; i++) {
        struct json_object *one = json_object_array_get_idx(neighbours, i);
        const char *program = ctl_known_text(one, "program");

        if (is(one, "class", "devil") && program)
            fprintf(out, "%s%.32s", shown++ ? ", " : " (", program);
    }
    fputs(shown < devils && shown ? ", ..)" : shown ? ")" : "", out);
}

bool explain_shares_core(struct json_object *neighbour)
{
    return ctl_known_text(neighbour, "shared"); /* an older berthd says nothing of it */
}

/* Says who else is on its caches. */
static void say_beside(FILE *out, struct json_object *place)
{
    struct json_object *neighbours = ctl_object(place, "neighbours");
    size_t n = ctl_length(neighbours), devils = 0, share = 0;

    for (size_t i = 0; i < n; i++) {
        devils += is(json_object_array_get_idx(neighbours, i), "class", "devil");
        share += explain_shares_core(json_object_array_get_idx(neighbours, i));
    }
    fputs("; ", out);
    explain_sharers(out, n, devils);
    say_devils(out, neighbours, devils);
    if (share)
        fprintf(out, ", %zu share%s a core with it", share, share == 1 ? "s" : "");
}

void explain_why(FILE *out, struct json_object *step)
{
    struct json_object *place = ctl_object(step, "place");
    const char *reason = ctl_known_text(ctl_object(step, "enforce"), "reason");

    if (kept_off(step) && reason) {
        fputs(reason, out);
        return;
    }
    if (is(ctl_object(step, "enforce"), "trial", "control") && reason)
        fprintf(out, "%s; ", reason);
    if (from_ledger(step)) { /* it keeps the sentence, and no class */
        ctl_say(out, place, "[{reason}|not known]");
        return;
    }
    say_class(out, step);
    if (kept_off(step))
        return;
    say_choice(out, step);
    if (isnan(ctl_number(step, "ended_at")))
        say_beside(out, place);
}

/* ---- loss ---- */

void explain_lost(FILE *out, struct json_object *step)
{
    struct loss loss = {0};

    loss_add(&loss, step);
    loss_say(out, &loss);
}

/* ---- gain ---- */

/* Says what the place is worth: the same work in so much less, or more, time. */
static void say_difference(FILE *out, double here, double home, bool would)
{
    double gain = (1 + home) / (1 + here) - 1;
    char percent[32];

    fputs(would ? "it would be " : "", out);
    if (fabs(gain) < SAME)
        fputs("as fast as where Slurm put it", out);
    else
        fprintf(out, "%s %s than where Slurm put it", screen_percent(fabs(gain), percent),
                gain > 0 ? "faster" : "slower");
}

/* Says by how much slower than alone it is, as far as that is known. */
static void say_slowdowns(FILE *out, double here, double home, double measured, double clock)
{
    const double value[] = {here, home, measured, clock};
    static const char *const what[] = {"predicted ", "where Slurm put it ", "measured ",
                                       "of that by the clock "};
    const char *before = " (slower than alone: ";
    char percent[32];

    for (size_t i = 0; i < 4; i++) {
        if (isnan(value[i]))
            continue;
        fprintf(out, "%s%s%s", before, what[i], screen_percent(value[i], percent));
        before = ", ";
    }
    fputs(*before == ',' ? ")" : "", out);
}

/* Returns what of the measured slowdown the clock makes; NAN where that is next to nothing. */
static double clock_of(struct json_object *slowdown)
{
    double clock = ctl_number(slowdown, "clock");

    return fabs(clock) < SAME ? NAN : clock;
}

void explain_gain(FILE *out, struct json_object *step)
{
    struct json_object *slowdown = ctl_object(step, "slowdown");
    double here = ctl_number(slowdown, "predicted"), home = ctl_number(slowdown, "home");
    double proposed = ctl_number(slowdown, "proposed");
    bool off = kept_off(step), would = explain_deed(step) == EXPLAIN_OBSERVED;

    if (would) /* it stands where Slurm put it */
        home = isnan(here) ? home : here;
    if (would && !isnan(proposed))
        here = proposed; /* over its time, as home is */
    else if (would || isnan(here))
        here = ctl_number(ctl_object(step, "place"), "predicted_slowdown");
    if (off)
        fputs("nothing: it stands where Slurm put it", out);
    else if (isnan(here) || isnan(home))
        fputs("not known: too little is known of the node's programs", out);
    else
        say_difference(out, here, home, would);
    say_slowdowns(out, off ? NAN : here, home, ctl_number(slowdown, "measured"),
                  clock_of(slowdown));
    ctl_say(out, ctl_object(step, "bill"), "[; {energy_j:1} J][, {power_w:1} W]");
}
