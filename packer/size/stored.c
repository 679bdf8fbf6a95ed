/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stored - see stored.h */
#include "packer/size/stored.h"

#include "packer/base/log.h"
#include "packer/profiles/profiles.h"
#include "packer/steps/program.h"

size_t stored_threads(const struct packer *packer, const struct step *step, size_t cores)
{
    const struct wire_register *request = &step->request;
    char key[PROFILE_KEY_MAX];
    struct profile_query query = {.key = key,
                                  .uid = request->uid,
                                  .shape = request->shape,
                                  .machine = packer->world.machine_type};
    struct profile_threads found;
    struct berth_error err;
    int rc;

    if (!request->options.threads_auto || request->user_omp_threads || !packer->state->profiles)
        return 0;
    program_key(step, key);
    rc = key[0]
             ? profiles_get_threads(packer->state->profiles, &query, (uint32_t)cores, &found, &err)
             : 0;
    if (rc < 0)
        log_warn("threads=auto: %s", err.text);
    return rc == 1 ? found.threads : 0;
}
