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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "packer/cli/doctor/doctor.h"
#include "packer/slurm/slurm_conf.h"
#include "packer/system/process.h"

#define INCLUDE_DEPTH 4

/* Reads a value of a file of Slurm's; "" where it is not there or cannot be read. Returns whether
 * it is there. */
static bool find_value(const char *conf, const char *key, char *value, size_t size)
{
    value[0] = '\0';
    return slurm_conf_value(conf, key, value, size, NULL) == 0 && value[0];
}

/* The line of plugstack.conf that loads the plugin. */
struct plugin_line {
    char path[PATH_MAX]; /* of the plugin, as the line has it */
    time_t changed;      /* when the youngest of the files that lead to the line was */
};

static bool find_line(const struct doctor *doctor, const char *path, int depth,
                      struct plugin_line *line);

/* Looks for the line in the files of "include PATTERN"; PATTERN is relative to the including file's
 * folder. */
static bool find_included(const struct doctor *doctor, const char *path, const char *pattern,
                          int depth, struct plugin_line *line)
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
        found = find_line(doctor, files.gl_pathv[i], depth + 1, line);
    globfree(&files);
    return found;
}

/* Notes when a file was changed, if it is younger than those before. */
static void note_change(const char *path, struct plugin_line *line)
{
    struct stat file;

    if (stat(path, &file) == 0 && file.st_ctime > line->changed)
        line->changed = file.st_ctime;
}

/* Looks for the line in this plugstack.conf, and in those that it includes. */
static bool find_line(const struct doctor *doctor, const char *path, int depth,
                      struct plugin_line *line)
{
    char *text = depth < INCLUDE_DEPTH ? rootfs_read(&doctor->root, path) : NULL, *save;
    bool found = false;

    if (!text)
        return false;
    for (char *at = strtok_r(text, "\n", &save); at && !found; at = strtok_r(NULL, "\n", &save)) {
        char pattern[PATH_MAX];

        at[strcspn(at, "#")] = '\0';
        if (strstr(at, "spank_berth") && sscanf(at, " %*s %4095s", line->path) == 1)
            found = true;
        else if (sscanf(at, " include %4095s", pattern) == 1)
            found = find_included(doctor, path, pattern, depth, line);
    }
    free(text);
    if (found)
        note_change(path, line);
    return found;
}

/* Makes a path without a slash one of PluginDir, where Slurm looks for it. */
static void complete_path(const char *conf, char path[PATH_MAX])
{
    char folders[PATH_MAX], full[2 * PATH_MAX], *save;

    if (strchr(path, '/') || !find_value(conf, "PluginDir", folders, sizeof(folders)))
        return;
    for (char *at = strtok_r(folders, ":", &save); at; at = strtok_r(NULL, ":", &save)) {
        snprintf(full, sizeof(full), "%s/%s", at, path);
        if (access(full, F_OK) == 0 && strlen(full) < PATH_MAX) {
            memcpy(path, full, strlen(full) + 1);
            return;
        }
    }
}

/* Compares the plugin's series with Slurm's, as slurmd, srun and slurmstepd do, who say little
 * where they are not the same. */
static void compare_series(struct doctor *doctor, const char *plugstack, const char *path)
{
    static const char without[] = "no step is placed, srun and sbatch know no --contention-aware: "
                                  "see spank_berth(8), SLURM'S SERIES";
    struct berth_error err;
    slurm_series series = plugin_file_series(path, &err), slurm = doctor->series;

    if (!series)
        doctor_add(doctor, "plugin", DOCTOR_WARN, without, "%.300s", err.text);
    else if (slurm && series != slurm)
        doctor_add(doctor, "plugin", DOCTOR_WARN, without,
                   "%.200s is for Slurm %u.%02u, and this is %u.%02u", path, series / 100,
                   series % 100, slurm / 100, slurm % 100);
    else
        doctor_add(doctor, "plugin", DOCTOR_OK, "", "%.140s loads %.120s, for Slurm %u.%02u",
                   plugstack, path, series / 100, series % 100);
    doctor_essential(doctor);
}

/* Returns when a process began, in seconds since 1970. */
static time_t began_at(uint64_t ticks)
{
    struct timespec since_boot;

    clock_gettime(CLOCK_BOOTTIME, &since_boot);
    return time(NULL) - since_boot.tv_sec + (time_t)(ticks / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Takes down when a slurmd began, if it is the oldest so far; 0: there was none. */
static void note_oldest(const struct rootfs *root, pid_t pid, void *arg)
{
    time_t *oldest = arg;
    struct process_stat stat;

    if (process_stat_get(root, pid, &stat) == 0 && (!*oldest || began_at(stat.started) < *oldest))
        *oldest = began_at(stat.started);
}

/* Says whether slurmd calls the plugin's epilog, by when a job's cores have to be clear. berthd
 * hears of a slurmstepd's end without it. */
static void check_epilog(struct doctor *doctor, const char *conf, const struct plugin_line *line)
{
    static const char without[] = "berthd hears of a step's end from the plugin, and of a killed "
                                  "slurmstepd from the kernel: spank_berth(8)";
    time_t began = 0;
    char flags[256];

    doctor_daemons(&doctor->root, "slurmd", note_oldest, &began);
    find_value(conf, "PrologFlags", flags, sizeof(flags));
    if (strcasestr(flags, "RunInJob"))
        doctor_add(doctor, "epilog", DOCTOR_WARN, without,
                   "PrologFlags=%.100s: slurmd calls no epilog of a plugin", flags);
    else if (began && line->changed > began + 1)
        doctor_add(doctor, "epilog", DOCTOR_WARN, without,
                   "plugstack.conf is younger than slurmd, which may not know the epilog: %s",
                   doctor->series && doctor->series < 2311 ? "restart slurmd"
                                                           : "scontrol reconfigure");
    else if (began)
        doctor_add(doctor, "epilog", DOCTOR_OK, "",
                   "slurmd began after plugstack.conf had changed");
}

static void check_plugin(struct doctor *doctor, const char *conf)
{
    char folder[PATH_MAX], plugstack[PATH_MAX + 32];
    struct plugin_line line = {.changed = 0};

    snprintf(folder, sizeof(folder), "%s", conf);
    if (!find_value(conf, "PlugStackConfig", plugstack, sizeof(plugstack)))
        snprintf(plugstack, sizeof(plugstack), "%s/plugstack.conf", dirname(folder));
    if (!find_line(doctor, plugstack, 0, &line)) {
        doctor_add(doctor, "plugin", DOCTOR_WARN,
                   "srun and sbatch know no --contention-aware: see spank_berth(8)",
                   "%.200s does not load spank_berth", plugstack);
        doctor_essential(doctor);
        return;
    }
    complete_path(conf, line.path);
    compare_series(doctor, plugstack, line.path);
    check_epilog(doctor, conf, &line);
}

/* Tells ConstrainCores=yes from anything else; Slurm's own default is no. */
static void check_confinement(struct doctor *doctor, const char *conf)
{
    char folder[PATH_MAX], path[PATH_MAX + 32], value[64];

    snprintf(folder, sizeof(folder), "%s", conf);
    snprintf(path, sizeof(path), "%s/cgroup.conf", dirname(folder));
    if (!find_value(path, "ConstrainCores", value, sizeof(value)))
        strcpy(value, "no");
    doctor_add(doctor, "confinement", DOCTOR_OK, "", "ConstrainCores=%.16s: %s", value,
               strcasecmp(value, "yes") == 0 ? "Slurm's cpusets confine each step"
                                             : "berth's cpusets confine the steps that it places");
}

void doctor_slurm(struct doctor *doctor)
{
    static const char *const scontrol[] = {"scontrol", "--version", NULL};
    static const char *const slurmd[] = {"slurmd", "-V", NULL};
    const char *conf = slurm_conf_path(&doctor->conf);
    char version[128], any[2] = "";
    struct berth_error err;

    if (doctor_run(slurmd, version, sizeof(version)) == 0 ||
        doctor_run(scontrol, version, sizeof(version)) == 0) {
        doctor->series = slurm_series_parse(version);
        doctor_add(doctor, "slurm", DOCTOR_OK, "", "%s", version);
    } else
        doctor_add(doctor, "slurm", DOCTOR_ABSENT, "plan, model and profile still work",
                   "neither scontrol nor slurmd can be run");
    doctor_essential(doctor);
    if (slurm_conf_value(conf, "ClusterName", any, sizeof(any), &err) < 0) {
        doctor_add(doctor, "plugin", DOCTOR_WARN, "cannot tell whether the plugin is loaded",
                   "no readable slurm.conf (SLURM_CONF names another): %.200s", err.text);
        return;
    }
    check_plugin(doctor, conf);
    check_confinement(doctor, conf);
}
