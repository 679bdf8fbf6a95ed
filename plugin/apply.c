/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply - see apply.h.
 *
 * berthd, as root, has moved the task already when it answers. The task sets its affinity once
 * more, because the CPUs of a cpuset that grew are only used by a task that asks for them, and
 * checks what it got: a task never runs on more CPUs than it had, nor on half of what was meant.
 * Memory policy and environment can be set nowhere else. */
#include "apply.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/page.h"
#include "enum_table.h"

struct apply_page {
    bool answered;
    size_t ntasks;
    struct wire_answer answer; /* its task pointer is not used */
    struct cpus place[];       /* [ntasks]; empty: leave this task alone */
};

static size_t page_bytes(size_t ntasks)
{
    return sizeof(struct apply_page) + ntasks * sizeof(struct cpus);
}

struct apply_page *apply_page_create(size_t ntasks)
{
    struct apply_page *page;

    page =
        mmap(NULL, page_bytes(ntasks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    page->ntasks = ntasks;
    return page;
}

void apply_page_free(struct apply_page *page)
{
    if (page)
        munmap(page, page_bytes(page->ntasks));
}

/* Keeps the variables that may be set. Returns the first other one's name, or NULL. */
static const char *keep_environment(struct wire_answer *kept, const struct wire_answer *answer)
{
    const char *refused = NULL;

    kept->nenv = 0;
    for (size_t i = 0; i < answer->nenv; i++) {
        if (wire_env_known(answer->env[i].name))
            kept->env[kept->nenv++] = answer->env[i];
        else if (!refused)
            refused = answer->env[i].name;
    }
    return refused;
}

const char *apply_page_fill(struct apply_page *page, const struct wire_answer *answer)
{
    const char *refused;

    page->answer = *answer;
    page->answer.task = NULL;
    page->answer.ntasks = 0;
    refused = keep_environment(&page->answer, answer);
    for (size_t i = 0; i < answer->ntasks; i++)
        if (answer->task[i].id < page->ntasks)
            page->place[answer->task[i].id] = answer->task[i].cpus;
    page->answered = true;
    return refused;
}

bool apply_page_answered(const struct apply_page *page)
{
    return page && page->answered;
}

const char *apply_page_note(const struct apply_page *page)
{
    return page->answer.note;
}

const char *apply_page_runtime(const struct apply_page *page)
{
    for (size_t i = 0; i < page->answer.nenv; i++)
        if (strcmp(page->answer.env[i].name, RT_PAGE_ENV) == 0)
            return page->answer.env[i].value;
    return NULL;
}

static int set_affinity(const struct cpus *cpus)
{
    return sched_setaffinity(0, sizeof(cpus->word), (const cpu_set_t *)cpus->word);
}

int apply_get_affinity(struct cpus *cpus)
{
    cpus_zero(cpus);
    return sched_getaffinity(0, sizeof(cpus->word), (cpu_set_t *)cpus->word);
}

/* Run on exactly these CPUs, or where we ran before. */
static int apply_affinity(const struct cpus *want, struct berth_error *err)
{
    struct cpus before, after;

    if (cpus_empty(want))
        return 0;
    if (apply_get_affinity(&before) < 0)
        return berth_error_set(err, "affinity cannot be read: %s", strerror(errno));
    if (cpus_count(want) > cpus_count(&before))
        return berth_error_set(err, "berthd answered %zu CPUs for a task that has %zu",
                               cpus_count(want), cpus_count(&before));
    if (set_affinity(want) < 0)
        return berth_error_set(err, "affinity cannot be set: %s", strerror(errno));
    if (apply_get_affinity(&after) < 0 || !cpus_equal(&after, want)) {
        set_affinity(&before);
        return berth_error_set(err, "berthd answered CPUs that the task may not use");
    }
    return 0;
}

static int apply_memory(enum wire_mem mem, const struct cpus *nodes, struct berth_error *err)
{
    static const int TABLE(mode, WIRE_MEMS) = {
        ROW(WIRE_MEM_AUTO) = MPOL_DEFAULT,
        ROW(WIRE_MEM_LOCAL) = MPOL_LOCAL,
        ROW(WIRE_MEM_INTERLEAVE) = MPOL_INTERLEAVE,
        ROW(WIRE_MEM_BIND) = MPOL_BIND,
    };
    TABLE_COMPLETE(mode);
    bool local = mem == WIRE_MEM_LOCAL;

    if (mem == WIRE_MEM_AUTO || (cpus_empty(nodes) && !local))
        return 0;
    /* The kernel takes no nodes with MPOL_LOCAL, and reads one bit less than it is told. */
    if (syscall(SYS_set_mempolicy, mode[mem], local ? NULL : nodes->word,
                local ? 0UL : (unsigned long)CPUS_MAX + 1) < 0)
        return berth_error_set(err, "memory policy %s cannot be set: %s", wire_mem_name[mem],
                               strerror(errno));
    return 0;
}

/* What the user set himself stays. */
static int apply_environment(spank_t spank, const struct wire_answer *answer,
                             struct berth_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < answer->nenv; i++) {
        spank_err_t set;

        if (strcmp(answer->env[i].name, RT_PAGE_ENV) == 0)
            continue;
        set = spank_setenv(spank, answer->env[i].name, answer->env[i].value, 0);
        if (set != ESPANK_SUCCESS && set != ESPANK_ENV_EXISTS)
            rc = berth_error_set(err, "%s cannot be set in the environment", answer->env[i].name);
    }
    return rc;
}

int apply_task(spank_t spank, const struct apply_page *page, uint32_t task, struct berth_error *err)
{
    if (task < page->ntasks && apply_affinity(&page->place[task], err) < 0)
        return -1; /* memory and environment were meant for those CPUs */
    if (apply_memory(page->answer.mem, &page->answer.mems, err) < 0)
        return -1;
    return apply_environment(spank, &page->answer, err);
}
