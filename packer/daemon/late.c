/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/daemon/late.h"

#include "packer/daemon/identify.h"
#include "packer/daemon/tally.h"
#include "packer/enact/care.h"
#include "packer/size/size.h"

void late_begin(const struct packer *packer, struct step *step)
{
    step->late = true;
    tally_failed_open(packer, step, PACKER_LATE);
    size_all(packer, step, step->request.options.size ? SIZE_LATE : "not asked to size it");
}

struct step *late_known(const struct packer *packer, struct wire_register *request)
{
    const struct wire_step_id id = request->id;
    struct step *step = registry_add(packer->steps, request);

    if (!step) {
        log_error("step %u.%u: no record: out of memory", id.job, id.step);
        return NULL;
    }
    step->late = true;
    tally_failed_open(packer, step, PACKER_UNHEARD);
    identify_begin(packer, step);
    step_leave(packer, step, WIRE_LEFT_UNHEARD, NULL);
    return step;
}
