/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dram - see dram.h */
#include "probe/profile/dram.h"

#include <math.h>

#include "packer/base/json.h"
#include "packer/machine/profile.h"

#define RARE 0.001 /* distances below that are left out of what is printed */

/* ---- the memory ---- */

/* A whole number of the machine profile, which knows it. */
static bool is_whole(double value)
{
    return value >= 1 && value <= DRAMSIM_BANKS_MAX && value == floor(value);
}

static int read_machine(const struct conf *conf, struct dramsim_geometry *memory,
                        struct berth_error *err)
{
    struct machine_profile *machine = machine_profile_read(conf->machine_profile, err);
    struct machine_dram dram;

    if (!machine)
        return berth_error_before(err, "--dram: the memory is not known (--memory tells it): ");
    dram = machine->dram;
    machine_profile_free(machine);
    if (!is_whole(dram.channels) || !is_whole(dram.ranks) || !is_whole(dram.banks) ||
        isnan(dram.auto_close))
        return berth_error_set(err,
                               "--dram: %.300s does not know channels, ranks, banks and "
                               "auto_close of the memory: --memory tells them",
                               conf->machine_profile);
    *memory = (struct dramsim_geometry){.channels = (uint32_t)dram.channels,
                                        .ranks = (uint32_t)dram.ranks,
                                        .banks = (uint32_t)dram.banks,
                                        .auto_close = (uint32_t)dram.auto_close};
    return 0;
}

int profile_dram_memory(const struct profile_args *args, const struct conf *conf,
                        uint32_t line_bytes, struct dramsim_geometry *memory,
                        struct berth_error *err)
{
    *memory = args->memory;
    if (args->dram && memory->channels == 0 && read_machine(conf, memory, err) < 0)
        return -1;
    memory->line_bytes = line_bytes;
    return 0;
}

/* ---- the ratios ---- */

static double part(uint64_t count, uint64_t of)
{
    return of > 0 ? (double)count / (double)of : NAN;
}

bool profile_dram_fill(const struct tracer_result *result, const struct profile *profile,
                       const struct dramsim_geometry *memory, struct profile_dram *dram)
{
    const struct dramsim_counts *counted = &result->counted.dram;
    double requests = (double)counted->requests;

    if (counted->requests == 0)
        return false;
    *dram = (struct profile_dram){
        .hit = part(counted->hits, counted->requests),
        .miss = part(counted->misses, counted->requests),
        .conflict = part(counted->conflicts, counted->requests),
        .read_ratio = 1 - part(counted->writes, counted->requests),
        .issue_rate_single = NAN,
        .wtr = part(counted->write_to_read, counted->requests),
        .rtr = part(counted->rank_turns, counted->requests),
        .ranks = memory->ranks,
    };
    if (profile->instructions_per_s > 0)
        dram->issue_rate_single = requests / (double)result->counted.instructions *
                                  profile->instructions_per_s / memory->channels;
    return true;
}

/* ---- telling ---- */

static struct json_object *brd_json(const struct dramsim_counts *counted)
{
    struct json_object *brd = json_object_new_object();
    uint64_t kept = 0;

    /* The model wants probabilities that sum to 1: those that are rare, or far, are left out. */
    for (size_t d = 1; d <= DRAMSIM_BRDS; d++)
        kept += part(counted->brd[d], counted->reused) >= RARE ? counted->brd[d] : 0;
    for (size_t d = 1; d <= DRAMSIM_BRDS; d++) {
        char name[24];

        if (!(part(counted->brd[d], counted->reused) >= RARE))
            continue;
        snprintf(name, sizeof(name), "%zu", d);
        json_add_measure(brd, name, part(counted->brd[d], kept));
    }
    return brd;
}

struct json_object *profile_dram_json(const struct profile_dram *dram,
                                      const struct dramsim_counts *counted)
{
    struct json_object *object = json_object_new_object();

    json_add_measure(object, "issue_rate_single", dram->issue_rate_single);
    json_add_measure(object, "hit", dram->hit);
    json_add_measure(object, "miss", dram->miss);
    json_add_measure(object, "conflict", dram->conflict);
    json_add_measure(object, "read_ratio", dram->read_ratio);
    json_add_measure(object, "wtr", dram->wtr);
    json_add_measure(object, "rtr", dram->rtr);
    json_add_measure(object, "ranks", dram->ranks);
    if (counted->pairs > 0) {
        json_add_measure(object, "same_row", part(counted->same_row, counted->pairs));
        json_add_measure(object, "same_bank", part(counted->same_bank, counted->pairs));
        json_add_measure(object, "other_channel", part(counted->other_channel, counted->pairs));
    }
    if (counted->reused > counted->brd[0])
        json_add(object, "brd", brd_json(counted));
    return object;
}

void profile_dram_print(const struct profile_dram *dram, const struct dramsim_counts *counted,
                        FILE *out)
{
    fprintf(out,
            "  memory        %.1f million requests, %.0f %% reads; row open %.0f %%, closed "
            "%.0f %%,\n                another one %.0f %%\n",
            (double)counted->requests / 1e6, 100 * dram->read_ratio, 100 * dram->hit,
            100 * dram->miss, 100 * dram->conflict);
    fprintf(out, "  reuse of bank ");
    for (size_t d = 1; d <= DRAMSIM_BRDS; d++)
        if (part(counted->brd[d], counted->reused) >= 10 * RARE)
            fprintf(out, "%zu (%.0f %%) ", d, 100 * part(counted->brd[d], counted->reused));
    fprintf(out, "requests later\n");
    if (counted->pairs > 0)
        fprintf(out, "  two threads   same row %.2f %%, same bank %.2f %%, other channel %.2f %%\n",
                100 * part(counted->same_row, counted->pairs),
                100 * part(counted->same_bank, counted->pairs),
                100 * part(counted->other_channel, counted->pairs));
}
