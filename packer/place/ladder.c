/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ladder - see ladder.h */
#include "packer/place/ladder.h"

#include <math.h>

#include "models/slowdown/missrate.h"
#include "packer/steps/step_counts.h"

/* A step is at work when it uses that part of a core for each of its tasks; the model takes one
 * that uses less for one that slows nobody down. */
#define AT_WORK 0.1

/* The part of the cache in which hits fall to 1/e of those with no cache at all: of 45 SPEC
 * programs on 11 ways the median. */
#define FALLS_OFF 0.22

static double rate_of(const struct step *step, enum rate_id id, double scale)
{
    double mean, error;

    return step_counts_rate(step, id, &mean, &error) ? mean * scale : NAN;
}

static double or_else(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

bool ladder_at_work(const struct step *step)
{
    double cpu = rate_of(step, RATE_CPU, 1);

    return step->state != STEP_NEW && !step_is_shell(step) &&
           !(cpu < AT_WORK * (double)step->body.ntasks);
}

/* Returns what is known of the step itself: alone, where that was seen. */
static struct app own(const struct step *step)
{
    const struct step_profile *profile = &step->profile;
    struct app app = app_unknown();

    app.ipc = or_else(profile->ipc, step->figures[FIGURE_IPC]);
    app.clock_ghz = isnan(profile->ipc) ? step->figures[FIGURE_CLOCK] : profile->clock_ghz;
    app.llc_apki = or_else(profile->accesses / 1000, step->figures[FIGURE_ACCESSES] / 1000);
    if (profile->known)
        app.llc_mpki = or_else(profile->solo_pmi, profile->miss_pmi) / 1000;
    else if (!isnan(step->probe.rank))
        app.llc_mpki = step->probe.rank / 1000;
    if (profile->ways)
        app.sdp = (struct app_sdp){profile->ways, profile->hits,
                                   or_else(profile->misses, profile->miss_pmi)};
    return app;
}

struct app ladder_app(const struct step *step, const struct app *average)
{
    struct app app = own(step);

    if (average) {
        app.ipc = or_else(app.ipc, average->ipc);
        if (isnan(app.llc_apki) && app.llc_mpki > 0)
            app.llc_apki = app.llc_mpki * average->llc_apki / average->llc_mpki;
        if (isnan(app.llc_mpki)) {
            app.llc_mpki = average->llc_mpki;
            app.llc_apki = average->llc_apki;
        }
    }
    if (!isfinite(app.llc_apki))
        app.llc_apki = NAN;
    if (app.llc_apki < app.llc_mpki)
        app.llc_apki = app.llc_mpki;
    return app;
}

static void add(double *sum, double *n, double value)
{
    if (isnan(value))
        return;
    *sum = or_else(*sum, 0) + value;
    *n += 1;
}

struct app ladder_average(size_t n, const struct app *app)
{
    double counts[3] = {0};
    struct app sum = app_unknown();

    for (size_t i = 0; i < n; i++) {
        add(&sum.ipc, &counts[0], app[i].ipc);
        add(&sum.llc_mpki, &counts[1], missrate_of(&app[i]) / 1000);
        add(&sum.llc_apki, &counts[2], app[i].llc_apki);
    }
    sum.ipc /= counts[0];
    sum.llc_mpki /= counts[1];
    sum.llc_apki /= counts[2];
    if (sum.llc_apki < sum.llc_mpki)
        sum.llc_apki = sum.llc_mpki;
    return sum;
}

void ladder_distances(struct app *app, size_t ways, double *hits)
{
    double misses = or_else(missrate_of(app), 0), most, last = 0;

    if (app->sdp.ways)
        return;
    most = fmax(0, or_else(app->llc_apki * 1000, misses) - misses);
    for (size_t i = 0; i < ways; i++) {
        double with = -expm1(-(double)(i + 1) / (double)ways / FALLS_OFF) / -expm1(-1 / FALLS_OFF);

        hits[i] = most * (with - last);
        last = with;
    }
    app->sdp = (struct app_sdp){ways, hits, misses};
}
