/* SPDX-License-Identifier: GPL-2.0-or-later */
/* array - makes room in an array that grows at its end, and finds the middle of numbers. */
#ifndef BERTH_BASE_ARRAY_H
#define BERTH_BASE_ARRAY_H

#include <stddef.h>

/* Makes room for at least `need` elements of `size` bytes in the array *list, which has room for
 * *room of them (none: *list is NULL); it at least doubles. list is the address of a pointer of any
 * type. 0, or -1 with ENOMEM and nothing changed. */
int array_grow(void *list, size_t *room, size_t need, size_t size);

/* Sorts n numbers upwards, and returns their median; NAN when there are none. */
double array_median(double *value, size_t n);

#endif
