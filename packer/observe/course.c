/* SPDX-License-Identifier: GPL-2.0-or-later */
/* course - see course.h */
#include "packer/observe/course.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "packer/base/cpus.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"
#include "enum_table.h"

const char *const TABLE(course_kind_name, COURSE_KINDS) = {
    ROW(COURSE_CAME) = "came",
    ROW(COURSE_WENT) = "went",
    ROW(COURSE_MOVED) = "moved",
};
TABLE_COMPLETE(course_kind_name);

/* ---- points ---- */

/* Returns the mean of two, by their seconds; what is not known of both is not known. */
static float mean(double a, double a_s, double b, double b_s)
{
    return (float)(a_s + b_s > 0 ? (a * a_s + b * b_s) / (a_s + b_s) : a);
}

/* Adds b, the later one, to a. */
static void join(struct course_point *a, const struct course_point *b)
{
    double a_s = a->to_s - a->from_s, b_s = b->to_s - b->from_s;

    a->instructions_s = mean(a->instructions_s, a_s, b->instructions_s, b_s);
    a->cpu = mean(a->cpu, a_s, b->cpu, b_s);
    a->to_s = b->to_s;
}

/* Makes one point of two, and the least length twice as long. */
static void halve(struct course *course)
{
    double longest = 0;

    for (size_t i = 0; i < course->n / 2; i++) {
        course->point[i] = course->point[2 * i];
        join(&course->point[i], &course->point[2 * i + 1]);
        longest = fmax(longest, course->point[i].to_s - course->point[i].from_s);
    }
    course->n /= 2;
    course->every_s = course->every_s > 0 ? 2 * course->every_s : longest;
}

void course_add(struct course *course, const struct course_point *window)
{
    struct course_point *last = course->n ? &course->point[course->n - 1] : NULL;

    /* half a window too short is long enough: windows are not equal to the millisecond */
    if (last && last->to_s - last->from_s + (window->to_s - window->from_s) / 2 < course->every_s) {
        join(last, window);
        return;
    }
    if (course->n == COURSE_POINTS)
        halve(course);
    course->point[course->n++] = *window;
}

/* ---- events ---- */

void course_happened(struct course *course, const struct course_event *event)
{
    course->event[course->events++ % COURSE_EVENTS] = *event;
}

const struct course_event *course_event(const struct course *course, size_t i)
{
    uint64_t first = course->events > COURSE_EVENTS ? course->events - COURSE_EVENTS : 0;

    return first + i < course->events ? &course->event[(first + i) % COURSE_EVENTS] : NULL;
}

static bool has(const struct course_other *list, size_t n, struct wire_step_id id)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].id.job == id.job && list[i].id.step == id.step)
            return true;
    return false;
}

/* Adds an event for each of a list who is not in the other one. */
static void differ(struct course *course, double at_s, enum course_kind kind,
                   const struct course_other *of, size_t n, const struct course_other *in, size_t m)
{
    struct course_event event = {.at_s = (float)at_s, .kind = kind};

    for (size_t i = 0; i < n; i++) {
        if (has(in, m, of[i].id))
            continue;
        event.other = of[i];
        course_happened(course, &event);
    }
}

void course_look(struct course *course, double at_s, const struct course_other *now, size_t n)
{
    if (course->begun) {
        differ(course, at_s, COURSE_WENT, course->beside, course->nbeside, now, n);
        differ(course, at_s, COURSE_CAME, now, n, course->beside, course->nbeside);
    }
    course->begun = true;
    course->nbeside = n;
    for (size_t i = 0; i < n; i++)
        course->beside[i] = now[i];
}

/* ---- the stage ---- */

static void begin_course(const struct packer *packer, struct step *step)
{
    const char *program = program_command(&step->request);

    (void)packer;
    step->course = calloc(1, sizeof(*step->course)); /* NULL: nothing is kept */
    if (!step->course)
        return;
    step->course->self = (struct course_other){step->request.id, step->request.uid, ""};
    snprintf(step->course->self.program, COURSE_PROGRAM_MAX, "%.*s", COURSE_PROGRAM_MAX - 1,
             program);
}

/* Who stands on a last-level cache: as many as a step can be told of, and itself. */
struct crowd {
    size_t n;
    struct course_other one[COURSE_BESIDE + 1];
};

/* Finds the last-level caches on which the step stands. */
static void find_caches(const struct packer *packer, const struct step *step, struct cpus *caches)
{
    const struct topo *topo = packer->world.topo;

    cpus_zero(caches);
    cpus_foreach(cpu, step_stands(step))
    {
        long core = topo_core_of_cpu(topo, cpu);

        if (core >= 0)
            cpus_add(caches, topo->core[core].llc);
    }
}

/* Returns the crowd of each last-level cache, for the caller to free; NULL: out of memory. */
static struct crowd *gather(const struct packer *packer)
{
    struct crowd *crowd = calloc(packer->world.topo->llcs, sizeof(*crowd));
    const struct step *step;
    struct cpus caches;

    if (!crowd)
        return NULL;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!step->course || registry_only_waits(packer->steps, step))
            continue;
        find_caches(packer, step, &caches);
        cpus_foreach(llc, &caches)
        {
            if (crowd[llc].n <= COURSE_BESIDE)
                crowd[llc].one[crowd[llc].n++] = step->course->self;
        }
    }
    return crowd;
}

/* Fills in who shares a last-level cache with the step. Returns how many they are. */
static size_t find_beside(const struct packer *packer, const struct crowd *crowd,
                          const struct step *step, struct course_other other[COURSE_BESIDE])
{
    struct cpus caches;
    size_t n = 0;

    find_caches(packer, step, &caches);
    cpus_foreach(llc, &caches)
    {
        size_t before = n;

        for (size_t i = 0; i < crowd[llc].n && n < COURSE_BESIDE; i++)
            if (!has(&step->course->self, 1, crowd[llc].one[i].id) &&
                !has(other, before, crowd[llc].one[i].id))
                other[n++] = crowd[llc].one[i];
    }
    return n;
}

static void add_window(struct step *step)
{
    const struct last_window *window = &step->counts->window;
    double to_s = step->counts->last.at_s - step->started_mono_s;
    const struct course_point point = {
        .from_s = (float)(to_s - window->seconds),
        .to_s = (float)to_s,
        .instructions_s =
            window->y[SOLO_SPEED] > 0 ? (float)(window->y[SOLO_SPEED] / window->seconds) : NAN,
        .cpu = (float)window->cpu,
    };

    if (window->seconds > 0)
        course_add(step->course, &point);
}

static void cut_cpus(const struct cpus *cpus, char text[COURSE_CPUS_MAX])
{
    char whole[CPUS_TEXT_MAX];
    int length = cpus_format(cpus, whole, sizeof(whole));

    snprintf(text, COURSE_CPUS_MAX, "%.*s%s", COURSE_CPUS_MAX - 3, whole,
             length >= COURSE_CPUS_MAX - 2 ? ".." : "");
}

/* Was it moved since the last window? */
static void look_at_place(struct step *step, double at_s)
{
    struct course *course = step->course;
    struct course_event event = {.at_s = (float)at_s, .kind = COURSE_MOVED};

    if (course->begun && step->enacted.moves > course->moves) {
        cut_cpus(step_stands(step), event.cpus);
        course_happened(course, &event);
    }
    course->moves = step->enacted.moves;
}

/* Returns one number of where all steps stand: while it stays, nobody came, left or was moved. */
static uint64_t hash_standing(const struct packer *packer)
{
    const struct step *step;
    uint64_t hash = 1;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        hash = XXH3_64bits_withSeed(&step->serial, sizeof(step->serial), hash);
        hash = XXH3_64bits_withSeed(step_stands(step), sizeof(struct cpus), hash);
    }
    return hash;
}

/* Looks who is beside the step, unless all stand as they did; the crowd is gathered once a turn. */
static void look_beside(const struct packer *packer, struct step *step, double at_s,
                        uint64_t standing, struct crowd **crowd)
{
    struct course_other other[COURSE_BESIDE];

    if (step->course->begun && step->course->standing == standing)
        return;
    if (!*crowd && !(*crowd = gather(packer)))
        return;
    course_look(step->course, at_s, other, find_beside(packer, *crowd, step, other));
    step->course->standing = standing;
}

static void follow(const struct packer *packer, struct turn *turn)
{
    struct crowd *crowd = NULL;
    struct step *step;
    uint64_t standing;

    if (turn->windows.n == 0)
        return;
    standing = hash_standing(packer);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        double at_s;

        if (!step->course || !windows_have(&turn->windows, step))
            continue;
        at_s = step->counts->last.at_s - step->started_mono_s;
        add_window(step);
        look_at_place(step, at_s);
        look_beside(packer, step, at_s, standing, &crowd);
    }
    free(crowd);
}

const struct stage course_stage = {
    .name = "course",
    .begin = begin_course,
    .turn = follow,
};
