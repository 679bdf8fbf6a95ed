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

int traffic_of(const struct packer *packer, const struct step *step, struct size_traffic *traffic,
               struct berth_error *err)
{
    size_t n = packer->machine->nodes;

    *traffic = (struct size_traffic){.nodes = n, .core_gbps = step->profile.core_gbps};
    traffic->read_solo = calloc(n * n, sizeof(*traffic->read_solo));
    traffic->write_solo = calloc(n * n, sizeof(*traffic->write_solo));
    if (!traffic->read_solo || !traffic->write_solo)
        return berth_no_memory(err);
    if (look_up(packer, step, traffic, err) < 0)
        return -1;
    if (traffic->stored && traffic->stored->cores)
        return 0;
    if (!step->profile.known)
        return berth_error_set(err, "no profile of it");
    if (isnan(traffic->core_gbps))
        return berth_error_set(err, "its profile does not know its instructions per second");
    return 0;
}
