/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/tasks/throttle.h"

unsigned throttle_correct(enum saturation_state state, unsigned all, unsigned correct)
{
    switch (state) {
    case SATURATION_SATURATED:
        return all - all / THROTTLE_PART;
    case SATURATION_NORMAL:
        return correct;
    default:
        return all;
    }
}
