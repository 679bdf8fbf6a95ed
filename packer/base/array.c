/* SPDX-License-Identifier: GPL-2.0-or-later */
/* array - see array.h */
#include "packer/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16

int array_grow(void *list, size_t *room, size_t need, size_t size)
{
    size_t more = *room ? 2 * *room : FIRST_ROOM;
    void *at;

    if (need <= *room)
        return 0;
    if (more < need)
        more = need;
    memcpy(&at, list, sizeof(at));
    at = reallocarray(at, more, size);
    if (!at)
        return -1;
    memcpy(list, &at, sizeof(at));
    *room = more;
    return 0;
}

static int upwards(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double array_median(double *value, size_t n)
{
    if (n == 0)
        return NAN;
    qsort(value, n, sizeof(*value), upwards);
    return (value[(n - 1) / 2] + value[n / 2]) / 2;
}
