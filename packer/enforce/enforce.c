/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enforce - see enforce.h: the table of ways, and the choice of one. */
#include "packer/enforce/enforce.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "packer/hand/ask.h"

static const struct enforce_way *const ways[] = {&enforce_cgroup2, &enforce_cgroup1,
                                                 &enforce_dryrun};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* The first usable way that changes anything. NULL and err with each one's reason. */
static const struct enforce_way *choose(const struct rootfs *root, const char *cgroup_root,
                                        struct berth_error *err)
{
    struct berth_error why[WAYS] = {{""}};

    for (size_t i = 0; i < WAYS; i++)
        if (ways[i] != &enforce_dryrun && ways[i]->probe(root, cgroup_root, &why[i]) == 1)
            return ways[i];
    berth_error_set(err, "no way to enforce a placement: %s: %.200s; %s: %.200s", ways[0]->name,
                    why[0].text, ways[1]->name, why[1].text);
    return NULL;
}

/* The way of that name, if it is usable. NULL and err. */
static const struct enforce_way *named(const char *name, const struct rootfs *root,
                                       const char *cgroup_root, struct berth_error *err)
{
    struct berth_error why = {""};

    for (size_t i = 0; i < WAYS; i++) {
        if (strcmp(ways[i]->name, name) != 0)
            continue;
        if (ways[i]->probe(root, cgroup_root, &why) == 1)
            return ways[i];
        berth_error_set(err, "%s: %.400s", name, why.text);
        return NULL;
    }
    berth_error_set(err, "%s: no such way to enforce; there are auto, cgroup1, cgroup2, dryrun",
                    name);
    return NULL;
}

/* Linux before 6.2: cpuset_attach() calls mpol_rebind_mm() for each process that is moved, whether
 * its memory nodes change or not. Debian's 6.1.192 still does. */
bool enforce_kernel_rebinds(const struct rootfs *root)
{
    struct utsname kernel;
    unsigned major, minor;

    return rootfs_is_machine(root) && uname(&kernel) == 0 &&
           sscanf(kernel.release, "%u.%u", &major, &minor) == 2 &&
           (major < 6 || (major == 6 && minor < 2));
}

static struct hand_link *open_hand(const struct enforce *enforce)
{
    return hand_link_open(&(struct hand_site){.root = enforce->root,
                                              .cgroup_root = enforce->cgroup_root,
                                              .tree = enforce->tree,
                                              .unified = enforce_slurm(enforce).unified,
                                              .rebinds = enforce->rebinds});
}

int enforce_open(struct enforce *enforce, const struct rootfs *root, const char *cgroup_root,
                 const char *name, struct berth_error *err)
{
    const struct enforce_way *way;

    if (strlen(cgroup_root) >= sizeof(enforce->cgroup_root))
        return berth_error_set(err, "%.64s...: the path is too long", cgroup_root);
    way = !name || strcmp(name, "auto") == 0 ? choose(root, cgroup_root, err)
                                             : named(name, root, cgroup_root, err);
    if (!way)
        return -1;
    *enforce = (struct enforce){
        .way = way, .root = root, .tree = "berth", .rebinds = enforce_kernel_rebinds(root)};
    strcpy(enforce->cgroup_root, cgroup_root);
    enforce->hand = open_hand(enforce);
    if (!enforce->hand)
        return berth_no_memory(err);
    if (enforce_slurm(enforce).unified)
        enforce->folders = slurm_folders_new();
    return 0;
}
