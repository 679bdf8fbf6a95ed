/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/energy/edp.h"

double edp_classic(double energy_j, double seconds)
{
    return energy_j * seconds;
}

double edp_per_instruction(double energy_j, double seconds, double instructions)
{
    return energy_j * seconds / instructions;
}
