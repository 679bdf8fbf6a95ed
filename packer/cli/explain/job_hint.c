/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_hint - the one thing that helps a job most: the first row whose condition holds. A hint tells
 * only what the user can do and what will have an effect; for what nobody can mend there is none.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "packer/cli/explain/job_sum.h"

#define IDLE_CPU 0.5  /* of its cores' time: if it wanted less, cores were asked for in vain */
#define DISTURBED 0.1 /* of the time that it could have run */

static double lost(const struct job_sum *sum, enum loss_row row)
{
    return loss_part(&sum->loss, row); /* NAN is more than nothing */
}

/* ---- how it ended ---- */

static bool timed_out(const struct job_sum *sum, const char *state)
{
    (void)sum;
    return strcmp(state, "TIMEOUT") == 0;
}

static void say_time(const struct job_sum *sum, char *text, size_t size)
{
    (void)sum;
    snprintf(text, size, "it came to its time limit: ask for more (--time)");
}

static bool had_no_memory(const struct job_sum *sum, const char *state)
{
    (void)sum;
    return strcmp(state, "OUT_OF_MEMORY") == 0;
}

static void say_memory(const struct job_sum *sum, char *text, size_t size)
{
    (void)sum;
    snprintf(text, size, "it needed more memory than it was given: ask for more (--mem)");
}

/* ---- who took its time ---- */

static bool was_taken(const struct job_sum *sum, const char *state)
{
    (void)state;
    return lost(sum, LOSS_WAITING) >= DISTURBED;
}

static void say_taken(const struct job_sum *sum, char *text, size_t size)
{
    const char *rival = sum->loss.rival ? sum->loss.rival : "";
    const char *remedy = "";

    if (strcmp(rival, "outside") == 0)
        remedy = ": tell the administrators, fewer or more CPUs do not help";
    else if (strcmp(rival, "jobs") == 0)
        remedy = ": --exclusive has them not shared with other jobs";
    else if (strcmp(rival, "own-job") == 0)
        remedy = ": srun --exact gives each step CPUs of its own";
    snprintf(text, size, "%s ran on its CPUs while it waited for them%s", loss_rival(&sum->loss),
             remedy);
}

static bool has_many_threads(const struct job_sum *sum, const char *state)
{
    (void)state;
    return lost(sum, LOSS_THREADS) >= DISTURBED;
}

static void say_threads(const struct job_sum *sum, char *text, size_t size)
{
    (void)sum;
    snprintf(text, size,
             "its threads waited for each other: start no more of them than it has CPUs "
             "(OMP_NUM_THREADS), let them use all its CPUs, or ask for more (-c)");
}

static bool has_siblings(const struct job_sum *sum, const char *state)
{
    (void)state;
    return lost(sum, LOSS_SIBLINGS) >= DISTURBED;
}

static void say_siblings(const struct job_sum *sum, char *text, size_t size)
{
    (void)sum;
    snprintf(text, size,
             "others ran on the other hardware threads of its cores: --hint=nomultithread asks "
             "for whole cores");
}

static bool is_idle(const struct job_sum *sum, const char *state)
{
    (void)state;
    return sum->wanted < IDLE_CPU && sum->cores > 1 && !sum->running;
}

static void say_idle(const struct job_sum *sum, char *text, size_t size)
{
    snprintf(text, size,
             "it used %.1f of its %.0f cores: ask for fewer (-n, -c), or have berth give back "
             "what it does not need (--contention-aware=size)",
             sum->cpu * sum->cores, sum->cores);
}

/* ---- what berth could do ---- */

static bool was_left(const struct job_sum *sum, const char *state)
{
    (void)state;
    return sum->left && !sum->placed && !sum->observed && sum->left_for != WIRE_NOT_LEFT;
}

static void say_left(const struct job_sum *sum, char *text, size_t size)
{
    snprintf(text, size, "%s", wire_left_remedy[sum->left_for]);
}

/* Whoever may not ask for it, or has asked, is told nothing of it. */
static bool is_disturbed(const struct job_sum *sum, const char *state)
{
    (void)state;
    return lost(sum, LOSS_CACHES) >= DISTURBED && sum->may_isolate;
}

static void say_disturbed(const struct job_sum *sum, char *text, size_t size)
{
    snprintf(text, size,
             "its neighbours cost it %.0f %% of its time: --contention-aware=isolate asks for a "
             "cache of its own",
             100 * lost(sum, LOSS_CACHES));
}

static bool is_unknown(const struct job_sum *sum, const char *state)
{
    (void)state;
    return sum->program != NULL;
}

static void say_unknown(const struct job_sum *sum, char *text, size_t size)
{
    snprintf(text, size,
             "nobody knows how it uses the cache: berthctl profile -- %.200s ... tells berth",
             sum->program);
}

static const struct {
    bool (*holds)(const struct job_sum *sum, const char *state);
    void (*say)(const struct job_sum *sum, char *text, size_t size);
} hints[] = {
    {timed_out, say_time},        {had_no_memory, say_memory},
    {was_taken, say_taken},       {has_many_threads, say_threads},
    {has_siblings, say_siblings}, {is_idle, say_idle},
    {was_left, say_left},         {is_disturbed, say_disturbed},
    {is_unknown, say_unknown},
};

void job_hint(const struct job_sum *sum, const char *state, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
        if (hints[i].holds(sum, state)) {
            hints[i].say(sum, text, size);
            return;
        }
}
