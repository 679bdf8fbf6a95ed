/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage_folder - see usage_folder.h */
#include "packer/observe/usage_folder.h"

#include <stdlib.h>

#include "packer/slurm/step_cgroup.h"

struct usage_folder {
    struct step_cgroup cgroup; /* without files: the step has none */
    bool noted, based;
    struct step_cgroup_cpu then; /* when its processes were read, or asked about */
    double user_s, system_s;     /* what they had used until then */
};

static struct usage_folder *folder_new(const struct packer *packer, const struct step *step,
                                       const pid_t *pid, size_t n)
{
    struct usage_folder *folder = calloc(1, sizeof(*folder));

    if (folder)
        step_cgroup_open(&folder->cgroup, &packer->world.root, packer->world.enforce->cgroup_root,
                         step->body.id, pid, n);
    return folder;
}

void usage_folder_note(const struct packer *packer, struct step *step, const pid_t *pid, size_t n)
{
    struct step_use *use = &step->use;

    if (n == 0 || (use->folder && use->folder->based))
        return;
    if (!use->folder)
        use->folder = folder_new(packer, step, pid, n);
    if (use->folder)
        use->folder->noted = step_cgroup_read(&use->folder->cgroup, &use->folder->then) == 0;
}

void usage_folder_begin(struct step_use *use)
{
    struct usage_folder *folder = use->folder;

    if (!folder || !folder->noted || folder->based)
        return;
    folder->user_s = use->user_s;
    folder->system_s = use->system_s;
    folder->based = true;
}

bool usage_folder_take(struct step_use *use)
{
    const struct usage_folder *folder = use->folder;
    struct step_cgroup_cpu now;

    if (!folder || !folder->based || step_cgroup_read(&folder->cgroup, &now) < 0)
        return false;
    use->user_s = folder->user_s + (now.user_ns - folder->then.user_ns) * 1e-9;
    use->system_s = folder->system_s + (now.system_ns - folder->then.system_ns) * 1e-9;
    return true;
}

void usage_folder_drop(struct step_use *use)
{
    if (use->folder)
        step_cgroup_close(&use->folder->cgroup);
    free(use->folder);
    use->folder = NULL;
}
