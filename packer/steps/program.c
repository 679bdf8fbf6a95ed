/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program - see program.h */
#include "packer/steps/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/steps/stage.h"

const char *program_command(const struct wire_register *request)
{
    const char *slash = strrchr(request->exe, '/');

    return slash ? slash + 1 : request->exe;
}

bool program_asks(const struct wire_register *request)
{
    return strcmp(program_command(request), "berthctl") == 0;
}

const char *program_name(const struct wire_register *request)
{
    return request->options.tag[0] ? request->options.tag : program_command(request);
}

void program_key(const struct step *step, char key[PROFILE_KEY_MAX])
{
    const struct wire_register *request = &step->request;

    key[0] = '\0';
    if (request->options.tag[0])
        profile_key_tag(key, request->options.tag);
    else if (request->exe[0] && request->hash[0])
        profile_key_exe(key, request->exe, request->hash);
}

void program_begin(const struct packer *packer, struct step *step)
{
    char key[PROFILE_KEY_MAX];

    program_key(step, key);
    step->program = programs_number(&packer->steps->programs, step->request.uid, key);
    programs_use(&packer->steps->programs, step->program);
}

/* It is not any more. */
static void program_end(const struct packer *packer, const struct step *step)
{
    programs_leave(&packer->steps->programs, step->program);
}

int program_found(const struct packer *packer, struct step *step, const char *exe, const char *hash)
{
    struct wire_register *request = &step->request;
    const char *was = request->exe;
    void *kept = request->kept;

    request->exe = exe;
    if (wire_register_keep(request) < 0) {
        request->exe = was;
        return -1;
    }
    free(kept);
    snprintf(request->hash, sizeof(request->hash), "%s", hash);
    request->shape[0] = '\0';
    program_end(packer, step);
    program_begin(packer, step);
    return 0;
}

/* Does what others' runs were counted tell of a user's, where his own tell nothing? */
static bool sharing(const struct packer *packer)
{
    return packer->world.conf.profile_sharing == CONF_SHARING_MEDIAN;
}

/* What a step asks the store by. */
struct identity {
    char key[PROFILE_KEY_MAX], geometry[PROFILE_GEOMETRY_MAX];
    struct profile_query query;
};

/* Returns false when the program is not known. */
static bool identify(const struct packer *packer, const struct step *step,
                     struct identity *identity)
{
    program_key(step, identity->key);
    profile_geometry(identity->geometry, step->request.ntasks, step->request.cpus_per_task);
    identity->query =
        (struct profile_query){.key = identity->key,
                               .uid = step->request.uid,
                               .median = sharing(packer),
                               .shape = step->request.shape,
                               .geometry = identity->geometry,
                               .machine = packer->world.machine_type,
                               .llc_bytes = topo_cache(packer->world.topo)->size_bytes,
                               .max_age_days = packer->world.conf.profile_age_days};
    return identity->key[0] != '\0';
}

int program_profile(const struct packer *packer, const struct step *step, struct profile *profile,
                    int64_t *bound_at, struct berth_error *err)
{
    struct identity identity;

    *bound_at = 0;
    if (!identify(packer, step, &identity))
        return 0;
    return profiles_get_bound(packer->state->profiles, &identity.query, profile, bound_at, err);
}

int program_distances(const struct packer *packer, const struct step *step, struct profile *profile,
                      struct berth_error *err)
{
    struct identity identity;

    if (!identify(packer, step, &identity))
        return 0;
    return profiles_get_distances(packer->state->profiles, &identity.query, profile, err);
}

int program_sample(const struct packer *packer, const struct step *step, enum profile_rate rate,
                   struct profile_sample *sample, struct berth_error *err)
{
    struct identity identity;

    if (!identify(packer, step, &identity))
        return 0;
    return profiles_get_sample(packer->state->profiles, &identity.query, rate, sample, err);
}

void program_sample_init(const struct packer *packer, const struct step *step, const char *source,
                         struct profile_sample *sample)
{
    const struct wire_register *request = &step->request;

    profile_sample_init(sample);
    sample->uid = request->uid;
    program_key(step, sample->key);
    snprintf(sample->shape, sizeof(sample->shape), "%s", request->shape);
    profile_geometry(sample->geometry, request->ntasks, request->cpus_per_task);
    snprintf(sample->machine, sizeof(sample->machine), "%s", packer->world.machine_type);
    snprintf(sample->source, sizeof(sample->source), "%s", source);
    snprintf(sample->command, sizeof(sample->command), "%.*s", PROFILE_COMMAND_MAX - 1,
             request->exe);
    sample->llc_bytes = topo_cache(packer->world.topo)->size_bytes;
    sample->line_bytes = topo_cache(packer->world.topo)->line_bytes;
    sample->measured_at = time(NULL);
}

/* ---- the stage ---- */

static void leave_program(const struct packer *packer, struct step *step,
                          const struct wire_end *end)
{
    (void)end;
    program_end(packer, step);
}

static void free_programs(const struct packer *packer)
{
    programs_free(&packer->steps->programs);
}

const struct stage program_stage = {
    .name = "program",
    .close = free_programs,
    .begin = program_begin,
    .end = leave_program,
};
