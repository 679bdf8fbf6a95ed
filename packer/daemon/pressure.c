/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pressure - see daemon/pressure.h */
#include "packer/daemon/pressure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "packer/base/log.h"
#include "packer/board/told.h"
#include "packer/ledger/ledger.h"
#include "packer/steps/stage.h"

struct pressure {
    struct told told; /* which windows were summed up */
    double last;      /* as berth-steer was told */
    int64_t last_s;
};

bool pressure_is_news(double pressure, int64_t now_s, double last, int64_t last_s)
{
    if (isnan(pressure))
        return false;
    if (last_s == 0 || now_s < last_s) /* the clock was put back */
        return true;
    return now_s - last_s >= PRESSURE_LAST_S ||
           (now_s - last_s >= PRESSURE_NEXT_S && fabs(pressure - last) > PRESSURE_NOISE);
}

static int open_pressure(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    if (packer->world.conf.steer != CONF_ON)
        return 0;
    if (!packer->state->ledger)
        log_error("steer = on: there is no ledger to tell berth-steer anything by");
    else
        packer->state->pressure = calloc(1, sizeof(*packer->state->pressure));
    return 0;
}

static void close_pressure(const struct packer *packer)
{
    free(packer->state->pressure);
}

/* Returns the part of all memory nodes' bandwidth that the steps use; NAN: not known of all. */
static double pressure_of(const struct packer *packer, double bytes_s)
{
    const struct bandwidth *most = &packer->world.bandwidth;

    return bytes_s / 1e9 / (most->gbps * (double)most->nodes);
}

static void tell(const struct packer *packer, struct turn *turn)
{
    struct pressure *pressure = packer->state->pressure;
    struct ledger_pressure now = {.at = time(NULL)};
    double bytes_s;

    (void)turn;
    if (!pressure || !told_traffic(&pressure->told, packer, &bytes_s))
        return;
    now.pressure = pressure_of(packer, bytes_s);
    if (!packer->steps->node[0] ||
        !pressure_is_news(now.pressure, now.at, pressure->last, pressure->last_s))
        return;
    snprintf(now.node, sizeof(now.node), "%s", packer->steps->node);
    ledger_tell(packer->state->ledger, &now);
    pressure->last = now.pressure;
    pressure->last_s = now.at;
}

const struct stage pressure_stage = {
    .name = "pressure",
    .open = open_pressure,
    .close = close_pressure,
    .turn = tell,
};
