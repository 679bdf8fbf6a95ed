/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_slurm - which Slurm is here, does it load the plugin, who confines the steps. Its files
 * are read, its daemons are not asked: a doctor must work where they are down. */
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "packer/cli/doctor.h"

#define INCLUDE_DEPTH 4

/* Finds the value of KEY=VALUE in a Slurm configuration text. Returns whether it is there. */
static bool find_value(const char *text, const char *key, char *value, size_t size)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n");
        if (strncasecmp(line, key, strlen(key)) == 0) {
            const char *after = line + strlen(key);

            after += strspn(after, " \t");
            if (*after == '=') {
                after += 1 + strspn(after + 1, " \t");
                snprintf(value, size, "%.*s", (int)strcspn(after, " \t\r\n#"), after);
                return true;
            }
        }
    }
    return false;
}

/* Returns the path of slurm.conf: $SLURM_CONF, or one of the usual places. NULL when there is none.
 */
static const char *conf_path(const struct doctor *doctor)
{
    static const char *const usual[] = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf",
                                        "/usr/local/etc/slurm.conf"};
    const char *path = getenv("SLURM_CONF");

    if (path && path[0])
        return rootfs_exists(&doctor->root, path) ? path : NULL;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (rootfs_exists(&doctor->root, usual[i]))
            return usual[i];
    return NULL;
}

static bool lists_plugin(const struct doctor *doctor, const char *path, int depth);

/* Says whether a file of "include PATTERN" names the plugin; PATTERN is relative to the including
 * file's folder. */
static bool include_lists_plugin(const struct doctor *doctor, const char *path, const char *pattern,
                                 int depth)
{
    char folder[PATH_MAX], full[2 * PATH_MAX];
    bool found = false;
    glob_t files;

    snprintf(folder, sizeof(folder), "%s", path);
    snprintf(full, sizeof(full), "%s%s%s", pattern[0] == '/' ? "" : dirname(folder),
             pattern[0] == '/' ? "" : "/", pattern);
    if (glob(full, 0, NULL, &files) != 0)
        return false;
    for (size_t i = 0; i < files.gl_pathc && !found; i++)
        found = lists_plugin(doctor, files.gl_pathv[i], depth + 1);
    globfree(&files);
    return found;
}

/* Does this plugstack.conf, or one that it includes, name the plugin? */
static bool lists_plugin(const struct doctor *doctor, const char *path, int depth)
{
    char *text = depth < INCLUDE_DEPTH ? rootfs_read(&doctor->root, path) : NULL, *save;
    bool found = false;

    if (!text)
        return false;
    for (char *line = strtok_r(text, "\n", &save); line && !found;
         line = strtok_r(NULL, "\n", &save)) {
        char pattern[PATH_MAX];

        line[strcspn(line, "#")] = '\0';
        found = strstr(line, "spank_berth") != NULL ||
                (sscanf(line, " include %4095s", pattern) == 1 &&
                 include_lists_plugin(doctor, path, pattern, depth));
    }
    free(text);
    return found;
}

static void check_plugin(struct doctor *doctor, const char *conf, const char *text)
{
    char folder[PATH_MAX], plugstack[PATH_MAX + 32];

    snprintf(folder, sizeof(folder), "%s", conf);
    if (!find_value(text, "PlugStackConfig", plugstack, sizeof(plugstack)))
        snprintf(plugstack, sizeof(plugstack), "%s/plugstack.conf", dirname(folder));
    if (lists_plugin(doctor, plugstack, 0))
        doctor_add(doctor, "plugin", DOCTOR_OK, "", "%.200s loads spank_berth", plugstack);
    else
        doctor_add(doctor, "plugin", DOCTOR_WARN,
                   "srun and sbatch know no --contention-aware: see spank_berth(8)",
                   "%.200s does not load spank_berth", plugstack);
}

/* Tells ConstrainCores=yes from anything else; Slurm's own default is no. */
static void check_confinement(struct doctor *doctor, const char *conf)
{
    char folder[PATH_MAX], path[PATH_MAX + 32], value[64] = "no";
    char *text;

    snprintf(folder, sizeof(folder), "%s", conf);
    snprintf(path, sizeof(path), "%s/cgroup.conf", dirname(folder));
    text = rootfs_read(&doctor->root, path);
    if (text)
        find_value(text, "ConstrainCores", value, sizeof(value));
    free(text);
    doctor_add(doctor, "confinement", DOCTOR_OK, "", "ConstrainCores=%.16s: %s", value,
               strcasecmp(value, "yes") == 0 ? "Slurm's cpusets confine each step"
                                             : "berth's cpusets confine the steps that it places");
}

void doctor_slurm(struct doctor *doctor)
{
    static const char *const scontrol[] = {"scontrol", "--version", NULL};
    static const char *const slurmd[] = {"slurmd", "-V", NULL};
    const char *conf = conf_path(doctor);
    char version[128];
    char *text;

    if (doctor_run(scontrol, version, sizeof(version)) == 0 ||
        doctor_run(slurmd, version, sizeof(version)) == 0)
        doctor_add(doctor, "slurm", DOCTOR_OK, "", "%s", version);
    else
        doctor_add(doctor, "slurm", DOCTOR_ABSENT, "plan, model and profile still work",
                   "neither scontrol nor slurmd can be run");
    doctor_essential(doctor);
    text = conf ? rootfs_read(&doctor->root, conf) : NULL;
    if (!text) {
        doctor_add(doctor, "plugin", DOCTOR_WARN, "cannot tell whether the plugin is loaded",
                   "no readable slurm.conf (SLURM_CONF names another)");
        return;
    }
    check_plugin(doctor, conf, text);
    check_confinement(doctor, conf);
    free(text);
}
