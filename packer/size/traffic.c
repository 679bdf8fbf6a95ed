/* SPDX-License-Identifier: GPL-2.0-or-later */
/* traffic - see traffic.h
 *
 * Where data flow between nodes is not known, all is taken to be local: threads that touch their
 * data first have it there. */
#include "packer/size/traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/steps/program.h"

const char *const size_matrix_name[SIZE_MATRICES] = {NULL, "store", "pages", "counted"};

void traffic_free(struct size_traffic *traffic)
{
    free(traffic->read_solo);
    free(traffic->write_solo);
    profile_demand_free(traffic->stored);
    *traffic = (struct size_traffic){0};
}

/* Takes over the stored matrix, if there is one. */
static int take_stored(struct size_traffic *traffic, struct berth_error *err)
{
    const struct profile_demand *stored = traffic->stored;
    size_t n = traffic->nodes;

    if (!stored || !stored->nodes)
        return 0;
    if (stored->nodes != n)
        return berth_error_set(err,
                               "its stored rates are of a machine with %zu nodes, this has %zu",
                               stored->nodes, n);
    memcpy(traffic->read_solo, stored->read_solo, n * n * sizeof(*stored->read_solo));
    memcpy(traffic->write_solo, stored->write_solo, n * n * sizeof(*stored->write_solo));
    traffic->source = SIZE_MATRIX_STORE;
    return 0;
}

static int look_up(const struct packer *packer, const struct step *step,
                   struct size_traffic *traffic, struct berth_error *err)
{
    char key[PROFILE_KEY_MAX];

    program_key(step, key);
    if (!key[0])
        return berth_error_set(err, "neither a program nor a tag to look up a profile");
    if (profiles_get_demand(packer->profiles, step->request.uid, key, &traffic->stored, err) < 0)
        return -1;
    return take_stored(traffic, err);
}

/* Gives an empty one room for the machine's nodes. */
static int begin(const struct packer *packer, struct size_traffic *traffic, struct berth_error *err)
{
    size_t n = packer->machine->nodes;

    *traffic = (struct size_traffic){.nodes = n, .core_gbps = NAN};
    traffic->read_solo = calloc(n * n, sizeof(*traffic->read_solo));
    traffic->write_solo = calloc(n * n, sizeof(*traffic->write_solo));
    return traffic->read_solo && traffic->write_solo ? 0 : berth_no_memory(err);
}

/* Takes over what was measured of the step's present phase. */
static void take_measured(struct size_traffic *traffic, const struct size_traffic *measured)
{
    size_t cells = traffic->nodes * traffic->nodes;

    memcpy(traffic->read_solo, measured->read_solo, cells * sizeof(*traffic->read_solo));
    memcpy(traffic->write_solo, measured->write_solo, cells * sizeof(*traffic->write_solo));
    traffic->core_gbps = measured->core_gbps;
    traffic->source = measured->source;
    traffic->disturbed = measured->disturbed;
    traffic->seconds = measured->seconds;
}

int traffic_copy(const struct size_traffic *from, struct size_traffic *to, struct berth_error *err)
{
    size_t cells = from->nodes * from->nodes;

    *to = (struct size_traffic){.nodes = from->nodes};
    to->read_solo = calloc(cells + 1, sizeof(*to->read_solo));
    to->write_solo = calloc(cells + 1, sizeof(*to->write_solo));
    if (!to->read_solo || !to->write_solo) {
        traffic_free(to);
        return berth_no_memory(err);
    }
    take_measured(to, from);
    return 0;
}

/* Returns the bytes that were moved between two readings; NAN where nobody counts them. */
static double bytes_moved(const struct counters_sample *before, const struct counters_sample *after)
{
    static const struct {
        enum counter counter;
        double bytes;
    } by[] = {{COUNTER_BYTES, 1}, {COUNTER_LLC_MISSES, 64}};

    for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
        double moved = after->value[by[i].counter] - before->value[by[i].counter];

        if (counters_know(before, by[i].counter) && counters_know(after, by[i].counter) &&
            moved >= 0)
            return moved * by[i].bytes;
    }
    return NAN;
}

int traffic_measure(const struct packer *packer, const struct step *step,
                    const struct counters_sample *before, const struct counters_sample *after,
                    const unsigned *cores, struct size_traffic *traffic, struct berth_error *err)
{
    double bytes = bytes_moved(before, after);
    unsigned total = 0;

    (void)step;
    if (begin(packer, traffic, err) < 0)
        return -1;
    for (size_t i = 0; i < packer->topo->nodes; i++)
        total += cores[i];
    traffic->seconds = after->at_s - before->at_s;
    if (isnan(bytes) || !(traffic->seconds > 0) || total == 0)
        return berth_error_set(err, "nothing counts its memory traffic");
    traffic->core_gbps = bytes / traffic->seconds / total / 1e9;
    return 0;
}

int traffic_of(const struct packer *packer, const struct step *step, struct size_traffic *traffic,
               struct berth_error *err)
{
    const struct size_traffic *measured = step->size.loop.traffic;

    if (begin(packer, traffic, err) < 0)
        return -1;
    traffic->core_gbps = step->profile.core_gbps;
    if (look_up(packer, step, traffic, err) < 0)
        return -1;
    if (measured && measured->nodes == traffic->nodes && traffic->source == SIZE_MATRIX_NOTHING)
        take_measured(traffic, measured);
    if ((traffic->stored && traffic->stored->cores) || traffic->seconds > 0)
        return 0;
    if (!step->profile.known)
        return berth_error_set(err, "no profile of it");
    if (isnan(traffic->core_gbps))
        return berth_error_set(err, "its profile does not know its instructions per second");
    return 0;
}
