/* SPDX-License-Identifier: GPL-2.0-or-later */
/* throttle - loops of a step's programs have a quarter fewer threads while the memory that they use
 * is saturated (throttle=lazy|baseline|aggressive; Adaptive Scheduling, Porterfield 2012): a bit of
 * the step's page, which libberth_rt.so reads, as it reads the blackboard.
 *
 * Whether there is contention is decided in each process, from what the blackboard says: berthd
 * only says how many samples in a row make it, less those that the blackboard's own states wait
 * for. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "models/tasks/saturation.h"
#include "packer/board/board.h"
#include "packer/inside/policy.h"
#include "enum_table.h"

static const struct {
    enum rt_throttle mode;
    uint32_t hold; /* samples in a row, all together */
} TABLE(modes, WIRE_THROTTLES) = {
    ROW(WIRE_THROTTLE_OFF) = {RT_UNTHROTTLED, 0},
    ROW(WIRE_THROTTLE_LAZY) = {RT_LAZY, SATURATION_HOLD_LAZY},
    ROW(WIRE_THROTTLE_BASELINE) = {RT_BASELINE, SATURATION_HOLD_BASELINE},
    ROW(WIRE_THROTTLE_AGGRESSIVE) = {RT_AGGRESSIVE, SATURATION_HOLD_AGGRESSIVE},
};
TABLE_COMPLETE(modes);

static bool asked(const struct step *step)
{
    return step->request.options.throttle != WIRE_THROTTLE_OFF;
}

static const char *lacks(const struct packer *packer)
{
    if (!packer->state->board)
        return "there is no blackboard (blackboard of berth.conf)";
    if (!board_has_states(packer->state->board))
        return "it is not known here from when on memory is saturated (berthctl doctor)";
    return NULL;
}

/* Has the blackboard stand beside the page, where processes look for it: a link, which an earlier
 * berthd may have made. 0, or -1 with errno. */
static int link_board(const struct packer *packer, const struct step_page *page)
{
    char target[PATH_MAX + sizeof(BOARD_FILE) + 1], is[sizeof(target)] = "", path[PATH_MAX];
    char folder[PATH_MAX];

    memcpy(folder, step_page_path(page), strlen(step_page_path(page)) + 1);
    snprintf(target, sizeof(target), "%s/" BOARD_FILE, packer->world.conf.state_dir);
    if (snprintf(path, sizeof(path), "%s/" BOARD_FILE, dirname(folder)) >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (readlink(path, is, sizeof(is) - 1) > 0 && strcmp(is, target) == 0)
        return 0;
    unlink(path);
    return symlink(target, path);
}

static uint32_t hold_of(const struct packer *packer, const struct step *step)
{
    uint64_t all = modes[step->request.options.throttle].hold, done = packer->world.conf.rcr_hold;

    return all > done ? (uint32_t)(all - done + 1) : 1;
}

static int throttle_begin(const struct packer *packer, struct step *step, struct berth_error *err)
{
    if (link_board(packer, step->inside.run->page) < 0)
        return berth_error_set(err, "%s cannot be made: %s", BOARD_FILE, strerror(errno));
    return 0;
}

static bool sample(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    (void)packer, (void)step, (void)run;
    return true;
}

static bool decide(struct inside_run *run)
{
    return !step_page_has(run->page, RT_THROTTLE);
}

static int enact(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct inside_run *run = step->inside.run;

    run->throttle.hold = hold_of(packer, step);
    if (step_page_throttle(run->page, modes[step->request.options.throttle].mode,
                           run->throttle.hold, err) < 0)
        return -1;
    return step_page_switch(run->page, RT_THROTTLE, true, err);
}

static int undo(const struct packer *packer, struct step *step, struct berth_error *err)
{
    return asked(step) ? inside_page_turn_off(packer, step, RT_THROTTLE, err) : 0;
}

static bool in_effect(const struct step *step)
{
    return step_page_has(step->inside.run->page, RT_THROTTLE);
}

const struct inside_policy inside_throttle = {.model = "throttle",
                                              .asked = asked,
                                              .lacks = lacks,
                                              .page = true,
                                              .begin = throttle_begin,
                                              .sample = sample,
                                              .decide = decide,
                                              .enact = enact,
                                              .undo = undo,
                                              .in_effect = in_effect};
