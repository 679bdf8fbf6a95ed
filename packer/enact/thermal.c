/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thermal - see thermal.h */
#include "packer/enact/thermal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "models/energy/thermal.h"
#include "packer/base/clock.h"
#include "packer/enact/exchange.h"
#include "packer/observe/window.h"
#include "packer/steps/journal.h"
#include "packer/steps/stage.h"

struct thermal {
    double looked_s; /* CLOCK_MONOTONIC; 0: not yet */
    double *moved_s; /* [cores] when somebody came to it, or left it; 0: nobody has */
};

/* ---- opening ---- */

static struct thermal *make(size_t cores)
{
    struct thermal *thermal = calloc(1, sizeof(*thermal));

    if (!thermal)
        return NULL;
    thermal->moved_s = calloc(cores, sizeof(*thermal->moved_s));
    if (thermal->moved_s)
        return thermal;
    free(thermal);
    return NULL;
}

static void thermal_open(const struct packer *packer)
{
    struct berth_error err;

    if (packer->world.conf.thermal == CONF_OFF)
        return;
    if (temperatures_open(&packer->state->temperatures, &packer->world.devices, packer->world.topo,
                          &err) == 0) {
        packer->state->thermal = make(packer->world.topo->cores);
        if (packer->state->thermal)
            return;
        berth_no_memory(&err);
    }
    lacks_note(packer, LACK_THERMAL, err.text);
    log_warn("thermal: %s; nobody leaves a hot core", err.text);
}

/* Opens packer->state->thermal, and the sensors, packer->state->temperatures, where berth.conf
 * wants it; lacks_why(packer, LACK_THERMAL) says why there is none. */
static void thermal_close(const struct packer *packer)
{
    temperatures_close(packer->state->temperatures);
    if (packer->state->thermal)
        free(packer->state->thermal->moved_s);
    free(packer->state->thermal);
}

/* ---- who stands where ---- */

/* The node as the model sees it. */
struct view {
    struct thermal_scene scene;
    size_t n; /* programs */
    struct step **step;
    struct thermal_core *core;
    struct thermal_program *program;
    bool *hot, *never; /* [n][cores] */
};

static void view_free(struct view *view)
{
    free(view->step);
    free(view->core);
    free(view->program);
    free(view->hot);
    free(view->never);
}

static bool view_make(const struct packer *packer, struct view *view)
{
    size_t n = packer->steps->nlive + 1, cores = packer->world.topo->cores;

    *view = (struct view){.step = calloc(n, sizeof(struct step *)),
                          .core = calloc(cores, sizeof(*view->core)),
                          .program = calloc(n, sizeof(*view->program)),
                          .hot = calloc(n * cores, sizeof(bool)),
                          .never = calloc(n * cores, sizeof(bool))};
    if (!view->step || !view->core || !view->program || !view->hot || !view->never)
        return false;
    view->scene = (struct thermal_scene){cores, view->core, view->program};
    return true;
}

static size_t cpu_of(const struct packer *packer, size_t core)
{
    return cpus_next(&packer->world.topo->core[core].cpus, 0);
}

static void add_program(const struct packer *packer, struct view *view, struct step *step,
                        const struct cpus *isolated)
{
    size_t cores = packer->world.topo->cores;
    bool *hot = view->hot + view->n * cores, *never = view->never + view->n * cores;

    for (size_t core = 0; core < cores; core++) {
        hot[core] = cpus_has(&step->thermal.hot, cpu_of(packer, core));
        never[core] = exchange_barred(packer, step, core, isolated) != NULL;
    }
    view->program[view->n] = (struct thermal_program){(int)step->class.id, hot, never};
    view->step[view->n++] = step;
}

/* Puts the step on its cores; several on one, and who does not move, take it. */
static void stand(const struct packer *packer, struct view *view, const struct step *step,
                  size_t who)
{
    struct cpus its;

    enforce_union(&step->body, ENFORCE_PLACE, &its);
    for (size_t i = 0; i < packer->world.topo->cores; i++) {
        struct thermal_core *core = &view->core[i];

        if (cpus_intersect(&packer->world.topo->core[i].cpus, &its))
            core->who = core->who == THERMAL_FREE ? who : THERMAL_TAKEN;
    }
}

/* Looks at the cores. One that is not in the pool, or off, is nobody's to take. */
static void look(const struct packer *packer, struct view *view, double now_s)
{
    const struct thermal *thermal = packer->state->thermal;

    for (size_t i = 0; i < packer->world.topo->cores; i++) {
        struct thermal_core *core = &view->core[i];
        struct temperature is;

        temperatures_read(packer->state->temperatures, i, &is);
        *core = (struct thermal_core){is.celsius, is.t1, is.t2, THERMAL_FREE,
                                      thermal->moved_s[i] > 0 &&
                                          now_s - thermal->moved_s[i] < THERMAL_EVERY_S};
        if (!pool_has(packer->pool, i) ||
            cpus_intersect(&packer->world.topo->core[i].cpus, &packer->world.enforce->offline))
            core->who = THERMAL_TAKEN;
    }
}

static void fill(const struct packer *packer, struct view *view, double now_s)
{
    struct cpus isolated;
    struct step *step;

    look(packer, view, now_s);
    exchange_isolated(packer, &isolated);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (step_is_shell(step))
            continue;
        stand(packer, view, step, step_may_move(step) ? view->n : THERMAL_TAKEN);
        if (step_may_move(step))
            add_program(packer, view, step, &isolated);
    }
}

/* ---- moving ---- */

static void note(const struct packer *packer, struct step *step, const struct thermal_core *core,
                 size_t from, size_t to)
{
    struct step_thermal *thermal = &step->thermal;

    thermal->limit = thermal_limit_name[thermal_limit_of(core)];
    thermal->core = cpu_of(packer, from);
    thermal->celsius = core->celsius;
    thermal->moved_to = to == THERMAL_NONE ? CPUS_MAX : cpu_of(packer, to);
    thermal->at = time(NULL);
}

/* The journal has it when the step is moved next; before that it stands there still. */
static void remember(const struct packer *packer, struct view *view, size_t who, size_t from)
{
    struct step *step = view->step[who];

    view->hot[who * packer->world.topo->cores + from] = true;
    if (cpus_has(&step->thermal.hot, cpu_of(packer, from)))
        return;
    cpus_add(&step->thermal.hot, cpu_of(packer, from));
    journal_note(packer, step);
}

static void told(const struct packer *packer, const struct step *step,
                 const struct thermal_core *core, size_t from, size_t to)
{
    log_info("step %u.%u: its core of CPU %zu has %.0f degrees (%s): moved to that of CPU %zu",
             step->request.id.job, step->request.id.step, cpu_of(packer, from), core->celsius,
             thermal_limit_name[thermal_limit_of(core)], cpu_of(packer, to));
}

/* Both begin their averages anew, and their cores rest. */
static void have_moved(const struct packer *packer, struct step *step, struct step *other,
                       size_t from, size_t to, double now_s)
{
    packer->state->thermal->moved_s[from] = packer->state->thermal->moved_s[to] = now_s;
    step->thermal.moves++;
    window_moved(step);
    if (!other)
        return;
    other->thermal.moves++;
    window_moved(other);
}

/* One core that is in use. Returns whether somebody was moved: the view is old then. */
static bool look_after(const struct packer *packer, struct view *view, size_t from, double now_s)
{
    const struct thermal_core *core = &view->core[from];
    struct step *step, *other = NULL;
    struct berth_error err;
    size_t to;

    if (core->who >= view->n || thermal_limit_of(core) == THERMAL_BELOW)
        return false;
    step = view->step[core->who];
    if (thermal_limit_of(core) == THERMAL_T2)
        remember(packer, view, core->who, from);
    to = thermal_target(&view->scene, from);
    note(packer, step, core, from, to);
    if (to == THERMAL_NONE)
        return false;
    if (view->core[to].who < view->n)
        other = view->step[view->core[to].who];
    if (exchange_cores(packer, 1, &from, &to, &err) < 0) {
        log_error("%s", err.text);
        return false;
    }
    told(packer, step, core, from, to);
    have_moved(packer, step, other, from, to, now_s);
    return true;
}

/* Looks at core after core; after a move from the next one on, as things are then. */
void thermal_look(const struct packer *packer, double now_s)
{
    size_t next = 0;
    bool moved = true;

    packer->state->thermal->looked_s = now_s;
    while (moved) {
        struct view view;

        moved = false;
        if (view_make(packer, &view)) {
            fill(packer, &view, now_s);
            while (!moved && next < packer->world.topo->cores)
                moved = look_after(packer, &view, next++, now_s);
        }
        view_free(&view);
    }
}

double thermal_due(const struct packer *packer)
{
    const struct thermal *thermal = packer->state->thermal;

    if (!thermal || packer->steps->nlive == 0 || !packer->world.enforce->way->touches)
        return -1;
    return thermal->looked_s == 0 ? 0 : fmax(thermal->looked_s + THERMAL_EVERY_S - clock_s(), 0);
}

/* Looks at the cores, if it is time for it. */
static void thermal_turn(const struct packer *packer, struct turn *turn)
{
    (void)turn;
    if (thermal_due(packer) == 0)
        thermal_look(packer, clock_s());
}

/* ---- what people are told ---- */

bool thermal_tells(const struct step *step)
{
    return step->thermal.limit || !cpus_empty(&step->thermal.hot);
}

/* ---- the stage ---- */

static int open_thermal(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    thermal_open(packer);
    return 0;
}

const struct stage thermal_stage = {
    .name = "thermal",
    .open = open_thermal,
    .close = thermal_close,
    .turn = thermal_turn,
    .due = thermal_due,
};
