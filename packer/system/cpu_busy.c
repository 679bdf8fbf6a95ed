/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/system/cpu_busy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line "cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ .."; guests are in user. */
static void take_line(struct cpu_busy *busy, const char *line, double tick_s)
{
    unsigned long long user, nice, system, irq, softirq;
    unsigned cpu;

    if (line[3] == ' ') /* all CPUs together */
        return;
    if (sscanf(line, "cpu%u %llu %llu %llu %*u %*u %llu %llu", &cpu, &user, &nice, &system, &irq,
               &softirq) != 6 ||
        cpu >= CPUS_MAX)
        return;
    busy->s[cpu] = (double)(user + nice + system + irq + softirq) * tick_s;
    cpus_add(&busy->known, cpu);
}

int cpu_busy_read(const struct rootfs *root, struct cpu_busy *busy, struct berth_error *err)
{
    char *text = rootfs_read(root, "/proc/stat"), *line, *save;
    double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);

    if (!text)
        return berth_error_set(err, "/proc/stat: %m");
    memset(busy, 0, sizeof(*busy));
    for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, "cpu", 3) != 0)
            break; /* they come first */
        take_line(busy, line, tick_s);
    }
    free(text);
    return cpus_empty(&busy->known) ? berth_error_set(err, "/proc/stat: no CPU in it") : 0;
}

double cpu_busy_sum(const struct cpu_busy *busy, const struct cpus *cpus)
{
    double sum = 0;

    cpus_foreach(cpu, cpus) sum += busy->s[cpu];
    return sum;
}
