/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verb - see verb.h */
#include "packer/cli/common/verb.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/cli/options/complaint.h"

const struct ctl_verb *ctl_verb_find(const struct ctl_verb *verbs, const char *name)
{
    for (; verbs->name; verbs++)
        if (strcmp(name, verbs->name) == 0)
            return verbs;
    return NULL;
}

/* ---- parts ---- */

/* Writes the path of the part beside this program. Returns whether it can be executed. */
static bool is_beside(const char *part, char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    char *name;

    path[length > 0 ? length : 0] = '\0';
    name = strrchr(path, '/');
    if (!name || (size_t)(name + 1 - path) + strlen(part) >= PATH_MAX)
        return false;
    strcpy(name + 1, part);
    return access(path, X_OK) == 0;
}

int ctl_part_find(const char *part, char path[PATH_MAX], struct berth_error *err)
{
    if (is_beside(part, path))
        return 0;
    snprintf(path, PATH_MAX, "%s/%s", PKGLIBEXECDIR, part);
    if (access(path, X_OK) == 0)
        return 0;
    return berth_error_set(err, "is not installed here: the package %s has it", part);
}

/* argv[-1] is there: the program's own name is before its verb. */
static int execute_part(const struct ctl_verb *verb, char **argv)
{
    char path[PATH_MAX];
    struct berth_error err;

    if (ctl_part_find(verb->part, path, &err) < 0)
        return ctl_fail(verb->name, "%s", err.text);
    execv(path, argv - 1);
    return ctl_fail(verb->name, "%s: %s", path, strerror(errno));
}

int ctl_verb_run(const struct ctl_verb *verb, int argc, char **argv)
{
    return verb->part ? execute_part(verb, argv) : verb->run(argc, argv);
}
