/* SPDX-License-Identifier: GPL-2.0-or-later */
/* runs - see runs.h */
#include "tests/bench/runs.h"
#include "enum_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 32

enum column {
    APP,
    RANKS,
    TIME,
    INSTR,
    CYCLES,
    READ,
    WRITE,
    L3,
    NEEDED,
    MEMORY = NEEDED,
    PACKAGES,
    DRAM,
    COLUMNS
};

static double figure(char *const *field, size_t count, size_t column, double scale)
{
    char *end;
    double value;

    if (column >= count || !*field[column])
        return NAN;
    value = strtod(field[column], &end);
    return *end ? NAN : value * scale;
}

static size_t split(char *line, char *field[COLUMNS_MAX])
{
    size_t n = 0;

    for (char *next; line && n < COLUMNS_MAX; line = next) {
        next = strpbrk(line, ",\r");
        if (next)
            *next++ = 0;
        field[n++] = line;
    }
    return n;
}

static void read_run(struct runs *runs, char *line, const size_t *column)
{
    char *field[COLUMNS_MAX];
    size_t n = split(line, field);
    struct run *run = &runs->run[runs->n];
    double ranks = figure(field, n, column[RANKS], 1);

    if (!(ranks >= 1) || column[APP] >= n)
        return;
    *run = (struct run){.app = field[column[APP]],
                        .ranks = (size_t)ranks,
                        .time_s = figure(field, n, column[TIME], 1),
                        .instructions = figure(field, n, column[INSTR], 1),
                        .cycles = figure(field, n, column[CYCLES], 1),
                        .read_gbps = figure(field, n, column[READ], 1e-3),
                        .write_gbps = figure(field, n, column[WRITE], 1e-3),
                        .l3_gbps = figure(field, n, column[L3], 1e-3),
                        .memory_gbps = figure(field, n, column[MEMORY], 1e-3),
                        .package_j = figure(field, n, column[PACKAGES], 1),
                        .dram_j = figure(field, n, column[DRAM], 1)};
    if (isnan(run->memory_gbps))
        run->memory_gbps = run->read_gbps + run->write_gbps;
    runs->n++;
}

int runs_read(char *text, struct runs *runs, struct berth_error *err)
{
    static const char *const TABLE(name, COLUMNS) = {
        ROW(APP) = "app",
        ROW(RANKS) = "ranks",
        ROW(TIME) = "runtime_s",
        ROW(INSTR) = "instr",
        ROW(CYCLES) = "cycles",
        ROW(READ) = "mem_read_mbs",
        ROW(WRITE) = "mem_write_mbs",
        ROW(L3) = "l3_mbs",
        ROW(MEMORY) = "mem_mbs",
        ROW(PACKAGES) = "pkg_j",
        ROW(DRAM) = "dram_j",
    };
    TABLE_COMPLETE(name);
    char *field[COLUMNS_MAX], *line = strsep(&text, "\n");
    size_t column[COLUMNS], n = split(line, field);

    for (size_t i = 0; i < COLUMNS; i++) {
        for (column[i] = 0; column[i] < n && strcmp(field[column[i]], name[i]) != 0;)
            column[i]++;
        if (column[i] == n && i < NEEDED)
            return berth_error_set(err, "no column %s", name[i]);
        if (column[i] == n)
            column[i] = COLUMNS_MAX;
    }
    while ((line = strsep(&text, "\n")) && runs->n < RUNS_MAX)
        if (*line)
            read_run(runs, line, column);
    return 0;
}

const struct run *runs_find(const struct runs *runs, const char *app, size_t ranks,
                            enum runs_group group)
{
    for (size_t i = 0; i < runs->n; i++)
        if (runs->run[i].ranks == ranks && strcmp(runs->run[i].app, app) == 0 &&
            !isnan(group == RUNS_CACHE ? runs->run[i].l3_gbps : runs->run[i].memory_gbps))
            return &runs->run[i];
    return NULL;
}
