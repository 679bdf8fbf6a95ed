/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_figure - how core-hours and energy look in what is told of berth's benefit: benefit.h. */
#include <math.h>
#include <stdio.h>

#include "packer/report/benefit.h"

void benefit_hours(double core_s, bool sign, char text[REPORT_NUMBER_MAX])
{
    double hours = core_s / 3600;
    int digits = fabs(hours) < 9.995 ? 3 : fabs(hours) < 999.5 ? 1 : 0;

    snprintf(text, REPORT_NUMBER_MAX, sign ? "%+.*f" : "%.*f", digits, hours);
}

void benefit_energy(double joules, char text[REPORT_NUMBER_MAX + 1])
{
    text[0] = joules < 0 ? '-' : '+';
    report_format_energy(fabs(joules), REPORT_UNIT_AUTO, text + 1);
}
