/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_scale - the greatest value of a scale on which one outlier does not hide the others. */
#include <math.h>
#include <stdlib.h>

#include "packer/report/html_impl.h"

#define FAR 4.0   /* an outlier is so many times what comes before it */
#define ROOM 1.25 /* above the others */

static int rising(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

double page_scale(double *value, size_t n, double part)
{
    size_t known = 0, at;

    for (size_t i = 0; i < n; i++)
        if (value[i] > 0)
            value[known++] = value[i];
    if (known == 0)
        return 0;
    qsort(value, known, sizeof(*value), rising);
    at = (size_t)((double)(known - 1) * part);
    return value[known - 1] > FAR * value[at] ? ROOM * value[at] : value[known - 1];
}
