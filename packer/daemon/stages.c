/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stages - see stages.h. The table is the order in which everything happens to a step; a new stage
 * is a row here, and a file (CONTRIBUTING.md). */
#include "packer/daemon/stages.h"

#include <math.h>
#include <stdio.h>

#include "packer/base/clock.h"
#include "packer/base/log.h"
#include "packer/steps/rest.h"

/* Rows up to `bill` read and remember; those after it change something on the node. */
/* clang-format off */
#define STAGES(ROW) \
    ROW(journal)       /* it is written before anything is changed, and closed after all */ \
    ROW(identity)      /* which words a step may have decides what all others do */ \
    ROW(ledger)        /* ends last: its record has what all others have found out */ \
    ROW(store)         /* what is known of programs; the next four ask it */ \
    ROW(program)       /* which program it is */ \
    ROW(pairs)         /* what was measured of that one beside others */ \
    ROW(profile)       /* and alone; before `probe`, which is for those without a profile */ \
    ROW(probe)         /* what earlier probes say of it */ \
    ROW(reuse)         /* samples steps that `window` counts: open while that has any */ \
    ROW(window)        /* counts; whose window has ended is what most of the turn is about */ \
    ROW(bill)          /* divides by what `window` has just counted, and ends before it */ \
    ROW(slowdown)      /* takes in windows; before `class`, which may change what it compares with */ \
    ROW(judge)         /* takes in what fewer cores have cost; before `class`, too */ \
    ROW(seek)          /* may tell of another program: `class` follows it in the same turn */ \
    ROW(ranks)         /* the ranks that a launcher has started: `ranks' care` makes them tasks */ \
    ROW(class)         /* devil or turtle, from all that is known by now */ \
    ROW(near)          /* its devices say where it may stand */ \
    ROW(place)         /* which policy is to place it */ \
    ROW(trial)         /* whom `care` only observes by lot, to compare with */ \
    ROW(care)          /* whether berth places it at all: what follows asks for that */ \
    ROW(ranks_care)    /* the same for its ranks */ \
    ROW(bindings)      /* who has bound himself elsewhere goes home: room for `arrange` */ \
    ROW(binders)       /* who is seen to bind himself at home stays there from now on */ \
    ROW(size)          /* how many of its cores it gets */ \
    ROW(share)         /* and of those that several jobs hold */ \
    ROW(loop)          /* and in its present phase */ \
    ROW(stepd)         /* heard of when it dies, from before others depend on the step */ \
    ROW(folders)       /* who comes beside it is heard of, from before it moves */ \
    ROW(strangers)     /* who is beside it already: nobody is put on his cores */ \
    ROW(idle)          /* which cores may be nobody's: places, too */ \
    ROW(arrange)       /* makes the places true, once for all rows above; ends before they forget */ \
    ROW(marker)        /* whether its job is in the pool is known when it has its place */ \
    ROW(forecast)      /* learns from the turn's windows what `replace` decides by */ \
    ROW(replace)       /* moves running steps for each other's sake */ \
    ROW(thermal)       /* and for the heat; after it, so that no move undoes this one */ \
    ROW(predict)       /* what they suffer where they stand now */ \
    ROW(course)        /* keeps the turn's windows for people, and who is beside them now */ \
    ROW(memory)        /* follows where they stand now */ \
    ROW(inside)        /* what their threads are given there; ends before they go home */ \
    ROW(board)         /* tells processes what the turn has found */ \
    ROW(pressure)      /* and berth-steer, from the same windows */ \
    ROW(node_news)     /* who looks at all nodes is told how this one fares */ \
    ROW(usage)         /* reads processes, for people: what others wait for comes first */
/* clang-format on */

#define DECLARED(name) extern const struct stage name##_stage;
#define POINTER(name) &name##_stage,

STAGES(DECLARED)

static const struct stage *const table[] = {STAGES(POINTER)};

#define ROWS (sizeof(table) / sizeof(table[0]))

const struct stage *stages_row(size_t i)
{
    return i < ROWS ? table[i] : NULL;
}

/* ---- berthd ---- */

int stages_open(const struct packer *packer, struct berth_error *err)
{
    for (size_t i = 0; i < ROWS; i++)
        if (table[i]->open && table[i]->open(packer, err) < 0)
            return -1;
    return 0;
}

void stages_close(const struct packer *packer)
{
    for (size_t i = ROWS; i-- > 0;)
        if (table[i]->close)
            table[i]->close(packer);
}

void stages_configure(const struct packer *packer)
{
    for (size_t i = 0; i < ROWS; i++)
        if (table[i]->configure)
            table[i]->configure(packer);
}

/* ---- a step ---- */

/* The rows that an event has come by. */
struct trail {
    size_t n;
    char names[1024];
};

static void note(struct trail *trail, const struct stage *stage)
{
    int n = snprintf(trail->names + trail->n, sizeof(trail->names) - trail->n, "%s%s",
                     trail->n ? ", " : "", stage->name);

    trail->n += n < (int)(sizeof(trail->names) - trail->n) ? (size_t)n : 0;
}

static void tell(const char *event, struct wire_step_id id, const struct trail *trail)
{
    log_debug("step %u.%u: %s: %s", id.job, id.step, event, trail->names);
}

void stages_begin(const struct packer *packer, struct step *step)
{
    struct trail trail = {.n = 0};

    for (size_t i = 0; i < ROWS; i++) {
        if (!table[i]->begin)
            continue;
        note(&trail, table[i]);
        table[i]->begin(packer, step);
    }
    tell("begin", step->request.id, &trail);
}

/* Adopts by the rows from `first` to before `end`. */
static void adopt_rows(const struct packer *packer, struct step *step, size_t first, size_t end)
{
    struct trail trail = {.n = 0};

    for (size_t i = first; i < end; i++) {
        const struct stage *stage = table[i];
        void (*adopt)(const struct packer *, struct step *) =
            stage->adopt ? stage->adopt : stage->begin;

        if (!adopt)
            continue;
        note(&trail, stage);
        adopt(packer, step);
    }
    tell("adopt", step->request.id, &trail);
}

/* Returns how many rows tell who a step is and what it was billed. */
static size_t known_rows(void)
{
    size_t n = 0;

    while (table[n] != &bill_stage)
        n++;
    return n + 1;
}

void stages_adopt_known(const struct packer *packer, struct step *step)
{
    adopt_rows(packer, step, 0, known_rows());
}

void stages_adopt(const struct packer *packer, struct step *step)
{
    adopt_rows(packer, step, known_rows(), ROWS);
}

void stages_end(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    struct trail trail = {.n = 0};

    for (size_t i = ROWS; i-- > 0;) {
        if (!table[i]->end)
            continue;
        note(&trail, table[i]);
        table[i]->end(packer, step, end);
    }
    tell("end", step->request.id, &trail);
}

void stages_gone(const struct packer *packer, struct wire_step_id id)
{
    struct trail trail = {.n = 0};

    for (size_t i = 0; i < ROWS; i++) {
        if (!table[i]->gone)
            continue;
        note(&trail, table[i]);
        table[i]->gone(packer, id);
    }
    tell("gone", id, &trail);
}

void stages_undo(const struct packer *packer, struct step *step)
{
    struct trail trail = {.n = 0};

    for (size_t i = ROWS; i-- > 0;) {
        if (!table[i]->undo)
            continue;
        note(&trail, table[i]);
        table[i]->undo(packer, step);
    }
    tell("undo", step->request.id, &trail);
}

/* ---- a turn ---- */

static double next_due(const struct packer *packer)
{
    double in_s = registry_change_due(packer->steps, packer->world.quiet_s), resting_s = -1;

    if (in_s >= 0)
        in_s = fmax(0, in_s - clock_s());
    for (size_t i = 0; i < ROWS; i++) {
        double *sooner_s = table[i]->rests ? &resting_s : &in_s;

        if (table[i]->due)
            *sooner_s = clock_sooner(*sooner_s, table[i]->due(packer));
    }
    return clock_sooner(in_s, rest_until(packer, resting_s));
}

double stages_turn(const struct packer *packer)
{
    double began_s = clock_s(), due_s = registry_change_due(packer->steps, packer->world.quiet_s);
    struct turn turn = {.steps_changed = due_s >= 0 && began_s >= due_s};

    if (turn.steps_changed)
        packer->steps->changed = false;
    for (size_t i = 0; i < ROWS; i++) {
        if (table[i]->unhurried && clock_s() - began_s > packer->world.turn_s)
            return 0; /* requests first */
        if (table[i]->turn)
            table[i]->turn(packer, &turn);
    }
    return turn.again ? 0 : next_due(packer);
}
