/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sharing - see sharing.h */
#include "tests/unit/common/sharing.h"

#include "packer/base/clock.h"
#include "packer/size/share.h"
#include "packer/steps/stand.h"

int sharing_open(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    f->conf.startup_ms = f->packer.world.conf.startup_ms = 1000000;
    *state = f;
    return 0;
}

struct step *put(struct fixture *f, uint32_t job, uint32_t step, const char *home)
{
    return fixture_put(f, job, step, home, 10, (const char *const[]){home, NULL});
}

void grows(struct step *step)
{
    step->started_mono_s = clock_s() - 3600;
}

void share_now(struct fixture *f)
{
    stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
    share_cores(&f->packer, f->packer.state->pool);
}

void share(struct fixture *f)
{
    struct step *step;

    TAILQ_FOREACH(step, &f->packer.steps->live, link) grows(step);
    share_now(f);
}

void assert_use(const struct step *step, const char *cpus)
{
    assert_cpus(&step->body.task[0].use, cpus);
}
