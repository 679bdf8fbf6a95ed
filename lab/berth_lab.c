/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth-lab - the part of berthctl that plays with models and machines (verb.h): a node does not
 * need it, and neither does whoever only asks berthd. */
#include "lab/model/models.h"
#include "lab/plan/plan.h"
#include "packer/cli/common/verb.h"

static const struct ctl_verb verbs[] = {
    {.name = "plan", .run = ctl_plan},
    {.name = "model", .run = ctl_model, .word = ctl_model_name},
    {.name = NULL},
};

int main(int argc, char **argv)
{
    return ctl_part("berth-lab", verbs, argc, argv);
}
