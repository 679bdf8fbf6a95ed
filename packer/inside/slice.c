/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slice - gives a step's threads their class and slice, and takes them back (enforce/slices.h):
 * what several policies do. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/enforce/slices.h"
#include "packer/inside/policy.h"
#include "packer/steps/journal.h"

#define NS_PER_MS 1e6

int inside_mark(const struct packer *packer, struct step *step, bool *flag, bool to,
                struct berth_error *err)
{
    bool was = *flag;

    *flag = to;
    if (journal_start(packer, step, err) == 0)
        return 0;
    *flag = was;
    return -1;
}

static int list(const struct packer *packer, const struct step *step, pid_t **pid, size_t *n,
                struct berth_error *err)
{
    if (enforce_step_pids(packer->world.enforce, &step->body, pid, n) == 0)
        return 0;
    return berth_error_set(err, "its processes cannot be listed: %s", strerror(errno));
}

/* Says whether berth may change classes in a step where it has not yet. 0, or -1 and err. */
static int check(const struct slices_seen *seen, struct berth_error *err)
{
    if (seen->threads > SLICES_THREADS_MAX)
        return berth_error_set(err, "it has %zu threads, more than %d", seen->threads,
                               SLICES_THREADS_MAX);
    if (seen->batch > 0)
        return berth_error_set(err, "its program has threads with SCHED_BATCH of its own");
    return 0;
}

/* ---- in several turns ---- */

struct inside_slicing {
    enum slices_do what;
    unsigned slice_ms;
    uint64_t base_ns;
    int passes;               /* that had to change somebody */
    struct slices_pass *pass; /* under way; NULL: the next one begins */
};

void inside_slicing_drop(struct step *step)
{
    if (step->inside.slicing)
        slices_pass_free(step->inside.slicing->pass);
    free(step->inside.slicing);
    step->inside.slicing = NULL;
}

static int slice_begin(struct step *step, enum slices_do what, unsigned slice_ms,
                       struct berth_error *err)
{
    inside_slicing_drop(step);
    step->inside.slicing = calloc(1, sizeof(*step->inside.slicing));
    if (!step->inside.slicing)
        return berth_no_memory(err);
    step->inside.slicing->what = what;
    step->inside.slicing->slice_ms = slice_ms;
    step->inside.slicing->base_ns = slices_base_ns();
    return 0;
}

static int begin_pass(const struct packer *packer, const struct step *step,
                      struct inside_slicing *slicing, struct berth_error *err)
{
    struct slices_known known = {slicing->base_ns, step->inside.given_ms};
    pid_t *pid = NULL;
    size_t n = 0;

    if (list(packer, step, &pid, &n, err) < 0)
        return -1;
    slicing->pass = slices_pass_new(step->request.id, n, pid, slicing->what,
                                    (uint64_t)slicing->slice_ms * 1000000, &known);
    free(pid);
    return slicing->pass ? 0 : berth_no_memory(err);
}

/* A pass that was begun in an earlier turn goes on with those who are still there. */
static int resume_pass(const struct packer *packer, const struct step *step,
                       struct berth_error *err)
{
    struct inside_slicing *slicing = step->inside.slicing;
    pid_t *pid = NULL;
    size_t n = 0;

    if (!slicing || !slicing->pass)
        return 0;
    if (list(packer, step, &pid, &n, err) < 0)
        return -1;
    slices_pass_keep(slicing->pass, n, pid);
    free(pid);
    return 0;
}

/* Notes that this slice is berth's, unless the program had it before. 0, or -1 and err: nothing is
 * noted. */
static int note_slice(const struct packer *packer, struct step *step, unsigned slice_ms,
                      struct berth_error *err)
{
    struct step_inside *inside = &step->inside;
    const struct cpus before = inside->given_ms;

    if (slice_ms > SLICES_MS_MAX)
        slice_ms = SLICES_MS_MAX;
    if (!cpus_has(&inside->own_ms, slice_ms))
        cpus_add(&inside->given_ms, slice_ms);
    if (inside->sliced && cpus_equal(&inside->given_ms, &before))
        return 0;
    if ((inside->sliced ? journal_start(packer, step, err)
                        : inside_mark(packer, step, &inside->sliced, true, err)) == 0)
        return 0;
    inside->given_ms = before;
    return -1;
}

/* Notes that nobody has a slice of berth's any more. 0, or -1 and err: nothing is noted. */
static int note_none(const struct packer *packer, struct step *step, struct berth_error *err)
{
    const struct cpus before = step->inside.given_ms;

    cpus_zero(&step->inside.given_ms);
    if (inside_mark(packer, step, &step->inside.sliced, false, err) == 0)
        return 0;
    step->inside.given_ms = before;
    return -1;
}

static int given(const struct packer *packer, struct step *step, const struct slices_seen *seen,
                 struct berth_error *err)
{
    struct step_inside *inside = &step->inside;
    enum slices_do what = inside->slicing->what;
    unsigned slice_ms = inside->slicing->slice_ms;

    inside_slicing_drop(step);
    inside->asked_ms = what == SLICES_GIVE ? slice_ms : 0;
    inside->slice_ms =
        what == SLICES_GIVE && seen->slice_ns ? (double)seen->slice_ns / NS_PER_MS : NAN;
    inside->threads = what == SLICES_GIVE ? seen->batch : 0;
    if (what == SLICES_TAKE)
        return note_none(packer, step, err);
    inside->own = seen->own;
    inside->changes++;
    return 0;
}

/* A pass is over. The journal knows before the first thread is changed. */
static int end_pass(const struct packer *packer, struct step *step, const struct slices_seen *seen,
                    struct berth_error *err)
{
    struct inside_slicing *slicing = step->inside.slicing;

    slices_pass_free(slicing->pass);
    slicing->pass = NULL;
    if (slicing->what == SLICES_LOOK) {
        slicing->what = SLICES_GIVE;
        step->inside.own_ms = seen->own_ms;
        return check(seen, err) < 0 ? -1 : note_slice(packer, step, slicing->slice_ms, err);
    }
    if (seen->changed == 0)
        return given(packer, step, seen, err);
    if (++slicing->passes == ENFORCE_ROUNDS)
        return berth_error_set(err, "its threads come and go too fast to be given a class");
    return 0;
}

int inside_slicing_turn(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct slices_seen seen;
    int rc = resume_pass(packer, step, err);

    while (rc == 0 && step->inside.slicing) {
        struct inside_slicing *slicing = step->inside.slicing;

        if (!slicing->pass)
            rc = begin_pass(packer, step, slicing, err);
        if (rc == 0)
            rc = slices_pass_turn(packer->world.enforce, slicing->pass, &seen, err);
        if (rc == 0)
            rc = end_pass(packer, step, &seen, err);
    }
    if (rc < 0)
        inside_slicing_drop(step);
    return rc;
}

bool inside_is_sliced(const struct step *step)
{
    return step->inside.asked_ms > 0;
}

int inside_slice(const struct packer *packer, struct step *step, unsigned slice_ms,
                 struct berth_error *err)
{
    enum slices_do what = step->inside.sliced ? SLICES_GIVE : SLICES_LOOK;

    if (slice_begin(step, what, slice_ms, err) < 0)
        return -1;
    if (what == SLICES_GIVE && note_slice(packer, step, slice_ms, err) < 0) {
        inside_slicing_drop(step);
        return -1;
    }
    return inside_slicing_turn(packer, step, err) < 0 ? -1 : 0;
}

int inside_unslice(const struct packer *packer, struct step *step, struct berth_error *err)
{
    const struct inside_slicing *slicing = step->inside.slicing;

    if (!step->inside.sliced) {
        inside_slicing_drop(step);
        return 0;
    }
    if ((!slicing || slicing->what != SLICES_TAKE) && slice_begin(step, SLICES_TAKE, 0, err) < 0)
        return -1;
    return inside_slicing_turn(packer, step, err) < 0 ? -1 : 0;
}
