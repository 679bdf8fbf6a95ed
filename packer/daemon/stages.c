/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stages - see stages.h. The table is the order in which everything happens to a step; a new stage
 * is a row here, and a file (CONTRIBUTING.md). */
#include "packer/daemon/stages.h"

#include "packer/bill/bill.h"
#include "packer/board/board.h"
#include "packer/daemon/identify.h"
#include "packer/daemon/ledger_record.h"
#include "packer/enact/bindings.h"
#include "packer/enact/care.h"
#include "packer/enact/folders.h"
#include "packer/enact/memory_follow.h"
#include "packer/enact/ranks_care.h"
#include "packer/enact/arrange.h"
#include "packer/enact/replace.h"
#include "packer/enact/thermal.h"
#include "packer/inside/inside.h"
#include "packer/observe/classify.h"
#include "packer/observe/known_pairs.h"
#include "packer/observe/learn.h"
#include "packer/observe/probe.h"
#include "packer/observe/ranks.h"
#include "packer/observe/reuse.h"
#include "packer/observe/seek.h"
#include "packer/observe/slowdown.h"
#include "packer/observe/usage.h"
#include "packer/observe/window.h"
#include "packer/place/forecast.h"
#include "packer/place/near.h"
#include "packer/place/place.h"
#include "packer/size/judge.h"
#include "packer/size/loop.h"
#include "packer/size/share_wait.h"
#include "packer/size/size.h"
#include "packer/steps/journal.h"
#include "packer/steps/pool_marker.h"
#include "packer/steps/program.h"
#include "packer/steps/stepd.h"
#include "packer/steps/strangers.h"

/* Rows up to `bill` read and remember; those after it change something on the node. */
static const struct stage *const table[] = {
    &journal_stage,  /* it is written before anything is changed, and closed after all */
    &identity_stage, /* which words a step may have decides what all others do */
    &ledger_stage,   /* ends last: its record has what all others have found out */
    &store_stage,    /* what is known of programs; the next four ask it */
    &program_stage,  /* which program it is */
    &pairs_stage,    /* what was measured of that one beside others */
    &profile_stage,  /* and alone; before `probe`, which is for those without a profile */
    &probe_stage,    /* what earlier probes say of it */
    &reuse_stage,    /* samples steps that `window` counts: open while that has any */
    &window_stage,   /* counts; whose window has ended is what most of the turn is about */
    &bill_stage,     /* divides by what `window` has just counted, and ends before it */
    &slowdown_stage, /* takes in windows; before `class`, which may change what it compares with */
    &judge_stage,    /* likewise what fewer cores have cost */
    &seek_stage,     /* may tell of another program: `class` follows it in the same turn */
    &ranks_stage,    /* the ranks that a launcher has started: `ranks' care` makes them tasks */
    &class_stage,    /* devil or turtle, from all that is known by now */
    &near_stage,     /* its devices say where it may stand */
    &place_stage,    /* which policy is to place it */
    &care_stage,     /* whether berth places it at all: what follows asks for that */
    &ranks_care_stage, /* the same for its ranks */
    &bindings_stage,   /* who has bound himself elsewhere goes home: room for `arrange` */
    &size_stage,       /* how many of its cores it gets */
    &share_stage,      /* and of those that several jobs hold */
    &loop_stage,       /* and in its present phase */
    &stepd_stage,      /* heard of when it dies, from before others depend on the step */
    &folders_stage,    /* who comes beside it is heard of, from before it moves */
    &strangers_stage,  /* who is beside it already: nobody is put on his cores */
    &arrange_stage,    /* makes the places true, once for all rows above; ends before they forget */
    &marker_stage,     /* whether its job is in the pool is known when it has its place */
    &forecast_stage,   /* learns from the turn's windows what `replace` decides by */
    &replace_stage,    /* moves running steps for each other's sake */
    &thermal_stage,    /* and for the heat; after it, so that no move undoes this one */
    &predict_stage,    /* what they suffer where they stand now */
    &memory_stage,     /* follows where they stand now */
    &inside_stage,     /* what their threads are given there; ends before they go home */
    &board_stage,      /* tells processes what the turn has found */
    &usage_stage,      /* reads processes, for people: what others wait for comes first */
};

#define ROWS (sizeof(table) / sizeof(table[0]))

const struct stage *stages_row(size_t i)
{
    return i < ROWS ? table[i] : NULL;
}

/* ---- berthd ---- */

int stages_open(struct packer *packer, struct berth_error *err)
{
    for (size_t i = 0; i < ROWS; i++)
        if (table[i]->open && table[i]->open(packer, err) < 0)
            return -1;
    return 0;
}

void stages_close(struct packer *packer)
{
    for (size_t i = ROWS; i-- > 0;)
        if (table[i]->close)
            table[i]->close(packer);
}

void stages_configure(struct packer *packer)
{
    for (size_t i = 0; i < ROWS; i++)
        if (table[i]->configure)
            table[i]->configure(packer);
}

/* ---- a step ---- */

static void tell(const char *event, const struct stage *stage, struct wire_step_id id)
{
    log_debug("step %u.%u: %s: %s", id.job, id.step, event, stage->name);
}

void stages_begin(struct packer *packer, struct step *step)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (!table[i]->begin)
            continue;
        tell("begin", table[i], step->request.id);
        table[i]->begin(packer, step);
    }
}

/* Adopts by the rows from `first` to before `end`. */
static void adopt_rows(struct packer *packer, struct step *step, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct stage *stage = table[i];
        void (*adopt)(struct packer *, struct step *) = stage->adopt ? stage->adopt : stage->begin;

        if (!adopt)
            continue;
        tell("adopt", stage, step->request.id);
        adopt(packer, step);
    }
}

/* Returns how many rows tell who a step is and what it was billed. */
static size_t known_rows(void)
{
    size_t n = 0;

    while (table[n] != &bill_stage)
        n++;
    return n + 1;
}

void stages_adopt_known(struct packer *packer, struct step *step)
{
    adopt_rows(packer, step, 0, known_rows());
}

void stages_adopt(struct packer *packer, struct step *step)
{
    adopt_rows(packer, step, known_rows(), ROWS);
}

void stages_end(struct packer *packer, struct step *step, const struct wire_end *end)
{
    for (size_t i = ROWS; i-- > 0;) {
        if (!table[i]->end)
            continue;
        tell("end", table[i], step->request.id);
        table[i]->end(packer, step, end);
    }
}

void stages_gone(struct packer *packer, struct wire_step_id id)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (!table[i]->gone)
            continue;
        tell("gone", table[i], id);
        table[i]->gone(packer, id);
    }
}

void stages_undo(struct packer *packer, struct step *step)
{
    for (size_t i = ROWS; i-- > 0;) {
        if (!table[i]->undo)
            continue;
        tell("undo", table[i], step->request.id);
        table[i]->undo(packer, step);
    }
}

/* ---- a turn ---- */

static double next_due(const struct packer *packer)
{
    double in_s = -1;

    for (size_t i = 0; i < ROWS; i++)
        if (table[i]->due)
            in_s = clock_sooner(in_s, table[i]->due(packer));
    return in_s;
}

double stages_turn(struct packer *packer)
{
    struct turn turn = {.steps_changed = packer->steps_changed};
    double began_s = clock_s();

    packer->steps_changed = false;
    for (size_t i = 0; i < ROWS; i++) {
        if (table[i]->unhurried && clock_s() - began_s > packer->turn_s)
            return 0; /* requests first */
        if (table[i]->turn)
            table[i]->turn(packer, &turn);
    }
    return turn.again ? 0 : next_due(packer);
}
