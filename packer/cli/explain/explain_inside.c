/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain_inside - see explain_inside.h */
#include "packer/cli/explain/explain_inside.h"

#include <math.h>

#include "packer/cli/common/ctl.h"

/* Says that nothing is done, and why. */
static bool say_refused(FILE *out, struct json_object *object)
{
    bool refused = ctl_object(object, "refused") != NULL;

    if (refused)
        ctl_say(out, object, "has no effect: {refused}[; it was in effect for {seconds~}]");
    return refused;
}

static void say_slices(FILE *out, struct json_object *object)
{
    ctl_say(out, object,
            "[slices of {asked_ms>0} ms[ (the kernel gives {slice_ms})| (this kernel has none: the "
            "class alone)] and SCHED_BATCH for {threads} thread{threads*}|class and slices as the "
            "program has them]"
            "[; {own_threads>0} thread{own_threads*} left alone, whose class or slice is the "
            "program's own]");
}

static void say_how_often(FILE *out, struct json_object *object)
{
    ctl_say(out, object, "; changed {changes} time{changes*}[, in effect for {seconds~}]");
}

/* Says all that is told of a policy by one sentence. */
static void say_policy(FILE *out, struct json_object *object, const char *sentence)
{
    if (say_refused(out, object))
        return;
    ctl_say(out, object, sentence);
    say_how_often(out, object);
}

void explain_faithful(FILE *out, struct json_object *faithful)
{
    if (say_refused(out, faithful))
        return;
    say_slices(out, faithful);
    ctl_say(out, faithful,
            "[; scaling {scaling:2}: miss ratio [{miss_ratio:2}|not known], waiting for locks "
            "[{lock/0.01} % of the threads' time|not known]]");
    say_how_often(out, faithful);
}

/* Says mean and deviation before the last trial and in it. */
static void say_trial(FILE *out, const char *what, struct json_object *four)
{
    double value[4];

    for (size_t i = 0; i < 4; i++) {
        struct json_object *one = i < ctl_length(four) ? json_object_array_get_idx(four, i) : NULL;

        value[i] = one ? json_object_get_double(one) : NAN;
    }
    if (!isnan(value[0]) && !isnan(value[2]))
        fprintf(out, "; %s %.0f (+- %.0f) before, %.0f (+- %.0f) with it", what, value[0], value[1],
                value[2], value[3]);
}

void explain_tranquil(FILE *out, struct json_object *tranquil)
{
    struct json_object *kept = ctl_object(tranquil, "kept");

    if (say_refused(out, tranquil))
        return;
    ctl_say(out, tranquil,
            "memory [{memory=interleave}dealt over its nodes[, not all: {memory_why}]"
            "|{memory=returning}on its way back to where the program had it[: {memory_why}]"
            "|where the program has it]; ");
    say_slices(out, tranquil);
    ctl_say(out, tranquil, "; pass {pass}[{state=trial}, whose trial is being measured]");
    if (kept)
        fputs(json_object_get_boolean(kept) ? "; what was tried last stays"
                                            : "; what was tried last was taken back",
              out);
    say_trial(out, "misses per million instructions", ctl_object(tranquil, "miss"));
    say_trial(out, "involuntary switches per second", ctl_object(tranquil, "icx"));
    say_how_often(out, tranquil);
}

/* Says which threads stand where: "package 0: 4 threads that wait 2 to 11 % of their time". */
static void say_group(FILE *out, const char *unit, struct json_object *group)
{
    struct json_object *lock = ctl_object(group, "lock");

    fprintf(out, "; %s ", unit);
    ctl_say(out, group, "{package}: {threads} thread{threads*}");
    if (ctl_length(lock) == 2 && json_object_array_get_idx(lock, 0))
        fprintf(out, " that wait %.0f to %.0f %%",
                100 * json_object_get_double(json_object_array_get_idx(lock, 0)),
                100 * json_object_get_double(json_object_array_get_idx(lock, 1)));
}

void explain_shuffle(FILE *out, struct json_object *shuffle)
{
    struct json_object *groups = ctl_object(shuffle, "groups");

    if (say_refused(out, shuffle))
        return;
    ctl_say(out, shuffle,
            "round {round}: threads wait for locks [{lock/0.01} % of their time|for a time that "
            "is not known]; {moved} moved in it"
            "[; {bound>0} thread{bound*} left alone, which the program has bound]");
    for (size_t i = 0; i < ctl_length(groups); i++)
        say_group(out, ctl_text(shuffle, "unit"), json_object_array_get_idx(groups, i));
    say_how_often(out, shuffle);
}

void explain_adapt(FILE *out, struct json_object *adapt)
{
    say_policy(
        out, adapt,
        "[{configuration=all}all of its cores, which others use, too"
        "|{configuration=sets}a part of the cores that several have"
        "|shared by need: {why}|nothing is decided yet]"
        "[; predicted user time [{user_all:1} %|not known] with all cores for all, "
        "{user_sets:1} % with the best parts]"
        "[{programs=now}, by what the programs do now][; the last change was by the rule {rule}]"
        "[{faithful?}; slices as by faithful]"
        "[{memory=interleave}; its memory is dealt over the nodes of its cores[, not all: "
        "{memory_why}]|{memory=returning}; its memory is on its way back to where the "
        "program put it[: {memory_why}]]");
}

void explain_throttle(FILE *out, struct json_object *throttle)
{
    say_policy(out, throttle,
               "{mode}: {hold} sample{hold*} of the blackboard in a row[; threads were reduced "
               "{reduced>0} time{reduced*}, for {throttled_s:1} s|; threads were not reduced]"
               "[; threads rested {rests>0} time{rests*}, {idle_thread_s:1} s together]"
               "[; {freed>0} loop{freed*} went on without][; left alone: {surprise}]");
}

static void explain_synchronise(FILE *out, struct json_object *policy)
{
    say_policy(out, policy,
               "its cores are in [{domains>1} memory nodes or caches|one memory node and cache]"
               "[; {objects>0} barriers and condition variables were distributed]"
               "[; processes that have said something: {processes>0}]"
               "[; left alone: {surprise}]");
}

void explain_flex(FILE *out, struct json_object *flex)
{
    explain_synchronise(out, flex);
}

void explain_locks(FILE *out, struct json_object *locks)
{
    explain_synchronise(out, locks);
}

void explain_follow(FILE *out, struct json_object *follow)
{
    say_policy(
        out, follow,
        "parallel regions have {threads} of {most} threads at most"
        "[; {processes>0} of its processes have said so far: {regions} regions had that number"
        "[, the last one {region_threads}], {own_regions} had one of their own, "
        "{nested_regions} were within others|; no process has said anything]"
        "[; left alone: {surprise}]");
}

void explain_prefetch(FILE *out, struct json_object *prefetch)
{
    if (say_refused(out, prefetch))
        return;
    ctl_say(out, prefetch,
            "{state}, on {own_cores} cores that it has to itself, {switched_cores} of them switched"
            "[; {on_ips:0} instructions per CPU second with prefetchers, {off_ips:0} without]"
            "[; {on_ipj:0} instructions per joule with prefetchers, {off_ipj:0} without]"
            "[; decided by {by}, ratio {ratio:3}]");
    say_how_often(out, prefetch);
}

void explain_frequency(FILE *out, struct json_object *frequency)
{
    if (say_refused(out, frequency))
        return;
    ctl_say(out, frequency,
            "[at most {khz:0/1000} MHz|no limit holds any more]; {own_clocks} clocks that it has "
            "to itself, {changed_clocks} of them changed");
    say_how_often(out, frequency);
}

void explain_inside(FILE *out, struct json_object *step)
{
    static const char *const words[] = {"faithful", "tranquil", "shuffle", "adapt",    "follow",
                                        "throttle", "flex",     "locks",   "prefetch", "frequency"};
    bool any = false;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct json_object *policy = ctl_object(step, words[i]);

        if (!policy)
            continue;
        fprintf(out, "%s%s", any ? "; " : "", words[i]);
        ctl_say(out, policy,
                "[ has no effect: {refused}[; it was in effect for {seconds~}]"
                "|: in effect for {seconds~}|: nothing was changed yet]");
        any = true;
    }
}
