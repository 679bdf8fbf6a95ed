/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpufreq - see cpufreq.h */
#include "packer/system/cpufreq.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "/sys/devices/system/cpu/cpu%zu/cpufreq/%s"

static char *read_file(const struct rootfs *root, size_t cpu, const char *name)
{
    char path[96];

    snprintf(path, sizeof(path), FOLDER, cpu, name);
    return rootfs_read(root, path);
}

/* Reads the next number of the text. Returns false where there is none. */
static bool next_number(char **text, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(*text, &end, 10);
    if (end == *text || errno || !isdigit((unsigned char)end[-1]) || strchr(*text, '-'))
        return false;
    *text = end;
    return true;
}

static int read_number(const struct rootfs *root, size_t cpu, const char *name, uint64_t *number,
                       struct berth_error *err)
{
    char *text = read_file(root, cpu, name), *at = text;
    int rc = 0;

    if (!text)
        return berth_error_set(err, FOLDER ": %s", cpu, name, strerror(errno));
    if (!next_number(&at, number) || *number == 0)
        rc = berth_error_set(err, FOLDER ": no frequency", cpu, name);
    free(text);
    return rc;
}

/* CPUs stand there as "0 1 2 3". */
static int read_cpus(const struct rootfs *root, size_t cpu, struct cpus *cpus,
                     struct berth_error *err)
{
    char *text = read_file(root, cpu, "affected_cpus"), *at = text;
    uint64_t number;

    cpus_zero(cpus);
    while (text && next_number(&at, &number) && number < CPUS_MAX)
        cpus_add(cpus, (size_t)number);
    free(text);
    if (cpus_has(cpus, cpu))
        return 0;
    return berth_error_set(err, FOLDER ": CPU %zu is not among them", cpu, "affected_cpus", cpu);
}

int cpufreq_get(const struct rootfs *root, size_t cpu, uint64_t *khz, struct berth_error *err)
{
    return read_number(root, cpu, "scaling_max_freq", khz, err);
}

int cpufreq_read(const struct rootfs *root, size_t cpu, struct cpufreq *out,
                 struct berth_error *err)
{
    struct berth_error none;

    if (read_number(root, cpu, "cpuinfo_min_freq", &out->lowest, err) < 0 ||
        read_number(root, cpu, "cpuinfo_max_freq", &out->highest, err) < 0 ||
        cpufreq_get(root, cpu, &out->limit, err) < 0 || read_cpus(root, cpu, &out->cpus, err) < 0)
        return -1;
    if (read_number(root, cpu, "cpuinfo_avg_freq", &out->now, &none) < 0 &&
        read_number(root, cpu, "scaling_cur_freq", &out->now, &none) < 0)
        out->now = 0;
    return 0;
}

int cpufreq_put(const struct rootfs *root, size_t cpu, uint64_t khz, struct berth_error *err)
{
    char path[96], text[32];
    uint64_t holds;

    snprintf(path, sizeof(path), FOLDER, cpu, "scaling_max_freq");
    snprintf(text, sizeof(text), "%" PRIu64 "\n", khz);
    if (rootfs_write(root, path, text, err) < 0 || cpufreq_get(root, cpu, &holds, err) < 0)
        return -1;
    if (holds == khz)
        return 0;
    return berth_error_set(err, "%s: %" PRIu64 " kHz was written, and it holds %" PRIu64, path, khz,
                           holds);
}

uint64_t cpufreq_step(const struct rootfs *root, size_t cpu, uint64_t khz)
{
    char *text = read_file(root, cpu, "scaling_available_frequencies"), *at = text;
    uint64_t step, best = 0, lowest = UINT64_MAX;

    while (text && next_number(&at, &step)) {
        lowest = step < lowest ? step : lowest;
        best = step <= khz && step > best ? step : best;
    }
    free(text);
    if (lowest == UINT64_MAX)
        return khz;
    return best ? best : lowest;
}
