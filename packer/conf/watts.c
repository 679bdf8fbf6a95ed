/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/conf/watts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_W 10000.0

/* Reads "40W" at text, up to a comma (after which there is more) or the end. Returns what follows,
 * or NULL where there is no such number. */
static const char *take_number(const char *text, double *watts)
{
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return NULL;
    *watts = strtod(text, &end);
    if (end[0] != 'W' || (end[1] != ',' && end[1] != '\0') || !(*watts <= MOST_W))
        return NULL;
    if (end[1] == ',' && end[2] == '\0')
        return NULL;
    return end[1] ? end + 2 : end + 1;
}

int energy_watts_parse(struct energy_watts *watts, const char *text, struct berth_error *err)
{
    static const char *const name[] = {"idle", "core", "dram", "sleep"};
    double number[4] = {NAN, NAN, NAN, NAN};

    for (const char *next = text; *next;) {
        size_t length = strcspn(next, "="), i = 0;

        while (i < 4 && (strlen(name[i]) != length || strncmp(name[i], next, length) != 0))
            i++;
        if (i == 4 || next[length] != '=' || !isnan(number[i]) ||
            !(next = take_number(next + length + 1, &number[i])))
            return berth_error_set(
                err, "'%s' is not of the form idle=40W,core=6W[,dram=3W][,sleep=10W]", text);
    }
    if (isnan(number[0]) || isnan(number[1]))
        return berth_error_set(err, "'%s' lacks idle or core, as in idle=40W,core=6W", text);
    if (number[3] > number[0])
        return berth_error_set(err, "'%s': sleep is more than idle", text);
    *watts = (struct energy_watts){.idle = number[0],
                                   .core = number[1],
                                   .dram = isnan(number[2]) ? 0 : number[2],
                                   .sleep = isnan(number[3]) ? number[0] : number[3],
                                   .dram_known = !isnan(number[2]),
                                   .sleep_known = !isnan(number[3])};
    return 0;
}
