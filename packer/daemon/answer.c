/* SPDX-License-Identifier: GPL-2.0-or-later */
/* answer - see answer.h */
#include "packer/daemon/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/daemon/warning.h"
#include "packer/inside/inside.h"
#include "packer/place/bound.h"
#include "packer/place/isolation.h"
#include "packer/place/reason.h"

void answer_refuse(struct wire_answer *answer, const char *why)
{
    memset(answer, 0, sizeof(*answer));
    snprintf(answer->error, sizeof(answer->error), "%.255s", why);
}

void answer_nothing(struct wire_answer *answer)
{
    memset(answer, 0, sizeof(*answer));
    answer->ok = true;
}

/* A variable of the step's environment; too long a value is left out rather than cut. */
static void add_env(struct wire_answer *answer, enum wire_env name, const char *value)
{
    if (answer->nenv == WIRE_ENV_MAX || strlen(value) >= sizeof(answer->env[0].value))
        return;
    strcpy(answer->env[answer->nenv].name, wire_env_name[name]);
    strcpy(answer->env[answer->nenv++].value, value);
}

static void add_places(const struct step *step, struct wire_answer *answer)
{
    answer->task = calloc(step->body.ntasks, sizeof(*answer->task));
    if (!answer->task)
        return;
    answer->ntasks = step->body.ntasks;
    for (size_t i = 0; i < step->body.ntasks; i++) {
        answer->task[i].id = step->request.task[i].id;
        answer->task[i].cpus = step->body.task[i].cpus;
    }
}

/* Memory nodes: those of the cores for local and bind, all that the step may use for interleave. */
static void add_memory(const struct packer *packer, const struct step *step,
                       struct wire_answer *answer)
{
    answer->mem = step->request.options.mem;
    answer->mems = step->place.mems;
    if (answer->mem != WIRE_MEM_INTERLEAVE)
        return;
    cpus_zero(&answer->mems);
    for (size_t i = 0; i < packer->world.topo->nodes; i++)
        cpus_add(&answer->mems, packer->world.topo->node[i].os_index);
    cpus_and(&answer->mems, &step->body.mems_home);
}

static void append(struct wire_answer *answer, const char *text)
{
    size_t used = strlen(answer->note);

    snprintf(answer->note + used, sizeof(answer->note) - used, "%s", text);
}

/* Why it stands there, on how many of its cores and in whose company; or why berth keeps off it. */
static void add_note(const struct packer *packer, const struct step *step,
                     struct wire_answer *answer)
{
    const struct step_size *size = &step->size;
    char text[256];

    if (step->enacted.reason[0])
        snprintf(text, sizeof(text), "%.255s", step->enacted.reason);
    else
        place_note(step, !packer->world.private_data || step->request.uid == 0, text, sizeof(text));
    append(answer, text);
    if (size->given < size->cores) {
        snprintf(text, sizeof(text), "; sized to %zu of %zu cores%s%s", size->given, size->cores,
                 size->modelled ? ", limited by " : "",
                 size->modelled ? numem_constraint_name[size->constraint] : "");
        append(answer, text);
    }
    if (size->stored) {
        snprintf(text, sizeof(text), "; %zu threads a task, as berthctl threads has found",
                 size->threads);
        append(answer, text);
    } else if (size->threads > 0 && step->request.options.flex) {
        snprintf(text, sizeof(text), "; %zu threads a task, for any number of its cores",
                 size->threads);
        append(answer, text);
    }
    isolation_note(packer, step, text, sizeof(text));
    append(answer, text);
    bound_note(packer, step, text, sizeof(text));
    append(answer, text);
}

/* LLVM's OpenMP run-time has a barrier of its own that follows the machine's topology, which is not
 * made of POSIX threads' (FlexThread, Wang 2015, 6.5): it is told to use it. */
static void add_barriers(const struct step *step, struct wire_answer *answer)
{
    static const enum wire_env kind[] = {WIRE_ENV_PLAIN_BARRIER, WIRE_ENV_FORKJOIN_BARRIER,
                                         WIRE_ENV_REDUCTION_BARRIER};

    for (size_t i = 0; step->request.options.flex && i < sizeof(kind) / sizeof(kind[0]); i++)
        add_env(answer, kind[i], "hierarchical,hierarchical");
}

void answer_fill(const struct packer *packer, const struct step *step, struct wire_answer *answer)
{
    char cpus[CPUS_TEXT_MAX];

    if (step->enacted.unplaced) {
        answer_refuse(answer, step->enacted.reason);
        return;
    }
    memset(answer, 0, sizeof(*answer));
    answer->ok = true;
    answer->managed = step_movable(step);
    add_note(packer, step, answer);
    warning_write(packer, step, answer->warning, sizeof(answer->warning));
    if (!answer->managed)
        return;
    add_places(step, answer);
    add_memory(packer, step, answer);
    if (cpus_format(&step->place.cpus, cpus, sizeof(cpus)) == 0)
        add_env(answer, WIRE_ENV_CPUS, cpus);
    add_env(answer, WIRE_ENV_CLASS, step_class_name[step->class.id]);
    if (step->size.threads) {
        snprintf(cpus, sizeof(cpus), "%zu", step->size.threads);
        add_env(answer, WIRE_ENV_THREADS, cpus);
    }
    add_barriers(step, answer);
    if (inside_page(step))
        add_env(answer, WIRE_ENV_PAGE, inside_page(step));
}
