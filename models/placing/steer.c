/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steer - see steer.h */
#include "models/placing/steer.h"

#include <math.h>

#define WEIGHT_MAX (UINT32_MAX - 16) /* Slurm's NO_VAL and its like are above */

int steer_level(double pressure, int before, int levels)
{
    double exact = pressure * levels;

    if (isnan(pressure))
        return STEER_UNKNOWN;
    if (before >= 0 && before < levels && exact >= before - STEER_BEYOND &&
        exact < before + 1 + STEER_BEYOND)
        return before;
    return exact >= levels ? levels - 1 : exact > 0 ? (int)exact : 0;
}

uint32_t steer_weight(uint32_t own, int level)
{
    return level > 0 ? own + (uint32_t)level : own;
}

int steer_level_of(uint32_t own, uint32_t weight, int levels)
{
    return weight >= own && weight - own <= (uint32_t)levels ? (int)(weight - own) : STEER_UNKNOWN;
}

bool steer_has_room(const uint32_t *own, size_t n, int levels, uint32_t *a, uint32_t *b)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t next = i + 1 < n ? own[i + 1] : WEIGHT_MAX;

        if (own[i] == next || (own[i] < next && next - own[i] > (uint32_t)levels))
            continue;
        *a = own[i];
        *b = next;
        return false;
    }
    return true;
}
