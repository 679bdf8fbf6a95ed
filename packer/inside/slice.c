/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slice - gives a step's threads their class and slice, and takes them back (enforce/slices.h):
 * what several policies do. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/enforce/slices.h"
#include "packer/inside/policy.h"
#include "packer/steps/journal.h"

#define NS_PER_MS 1e6

static int list(struct packer *packer, const struct step *step, pid_t **pid, size_t *n,
                struct berth_error *err)
{
    if (enforce_step_pids(&packer->enforce, &step->body, pid, n) == 0)
        return 0;
    return berth_error_set(err, "its processes cannot be listed: %s", strerror(errno));
}

/* Says whether berth may change classes in a step where it has not yet. 0, or -1 and err. */
static int check(const struct packer *packer, size_t n, const pid_t *pid, struct berth_error *err)
{
    struct slices_seen seen;

    slices_look(&packer->root, n, pid, &seen);
    if (seen.threads > SLICES_THREADS_MAX)
        return berth_error_set(err, "it has %zu threads, more than %d", seen.threads,
                               SLICES_THREADS_MAX);
    if (seen.batch > 0)
        return berth_error_set(err, "its program has threads with SCHED_BATCH of its own");
    return 0;
}

/* The journal knows before the first thread is changed. */
static int journal(struct packer *packer, struct step *step, size_t n, const pid_t *pid,
                   struct berth_error *err)
{
    if (step->inside.sliced)
        return 0;
    if (check(packer, n, pid, err) < 0)
        return -1;
    step->inside.sliced = true;
    if (journal_start(packer, step, err) == 0)
        return 0;
    step->inside.sliced = false;
    return -1;
}

int inside_slice(struct packer *packer, struct step *step, unsigned slice_ms,
                 struct berth_error *err)
{
    struct step_inside *inside = &step->inside;
    struct slices_seen seen = {0};
    pid_t *pid = NULL;
    size_t n = 0;
    int rc;

    if (list(packer, step, &pid, &n, err) < 0)
        return -1;
    rc = journal(packer, step, n, pid, err);
    if (rc == 0)
        rc = slices_give(&packer->root, n, pid, (uint64_t)slice_ms * 1000000, &seen, err);
    free(pid);
    if (rc < 0)
        return -1;
    inside->asked_ms = slice_ms;
    inside->slice_ms = seen.slice_ns ? (double)seen.slice_ns / NS_PER_MS : NAN;
    inside->threads = seen.batch;
    inside->own = seen.own;
    inside->changes++;
    return 0;
}

int inside_unslice(struct packer *packer, struct step *step, struct berth_error *err)
{
    struct step_inside *inside = &step->inside;
    struct slices_seen seen;
    pid_t *pid = NULL;
    size_t n = 0;
    int rc;

    if (!inside->sliced)
        return 0;
    if (list(packer, step, &pid, &n, err) < 0)
        return -1;
    rc = slices_take(&packer->root, n, pid, &seen, err);
    free(pid);
    if (rc < 0)
        return -1;
    inside->sliced = false;
    inside->asked_ms = 0;
    inside->slice_ms = NAN;
    inside->threads = 0;
    return journal_start(packer, step, err);
}

void inside_slice_explain(const struct step *step, struct json_object *object)
{
    const struct step_inside *inside = &step->inside;
    bool given = inside->asked_ms > 0;

    json_add_text(object, "class", given ? "batch" : "default");
    json_add_measure(object, "slice_ms", given ? inside->slice_ms : NAN);
    json_add_measure(object, "asked_ms", given ? inside->asked_ms : NAN);
    json_add_u64(object, "threads", inside->threads);
    json_add_u64(object, "own_threads", inside->own);
    json_add_u64(object, "changes", inside->changes);
}
