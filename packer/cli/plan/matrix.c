/* SPDX-License-Identifier: GPL-2.0-or-later */
/* matrix - see matrix.h */
#include "packer/cli/plan/matrix.h"

#include <math.h>
#include <string.h>

#include "packer/cli/common/input.h"

static int check_names(const struct ctl_matrix *matrix, struct berth_error *err)
{
    for (size_t i = 0; i < json_object_array_length(matrix->names); i++) {
        struct json_object *name = json_object_array_get_idx(matrix->names, i);

        if (ctl_matrix_index(matrix, json_object_get_string(name)) != (long)i)
            return berth_error_set(err, "apps[%zu]: %s is there twice", i,
                                   json_object_to_json_string(name));
    }
    return 0;
}

static int check_element(const struct ctl_matrix *matrix, size_t i, size_t j,
                         struct berth_error *err)
{
    struct json_object *number =
        json_object_array_get_idx(json_object_array_get_idx(matrix->rows, i), j);
    double value = json_object_get_double(number);

    if (!json_object_is_type(number, json_type_double) &&
        !json_object_is_type(number, json_type_int))
        return berth_error_set(err, "degradation[%zu][%zu]: a number expected", i, j);
    if (!isfinite(value) || value <= -1)
        return berth_error_set(err, "degradation[%zu][%zu]: a finite fraction above -1 expected", i,
                               j);
    return 0;
}

static int check_rows(const struct ctl_matrix *matrix, struct berth_error *err)
{
    size_t n = json_object_array_length(matrix->names);

    if (json_object_array_length(matrix->rows) != n)
        return berth_error_set(err, "degradation: %zu rows expected, one for each of apps, not %zu",
                               n, json_object_array_length(matrix->rows));
    for (size_t i = 0; i < n; i++) {
        size_t length = json_object_array_length(json_object_array_get_idx(matrix->rows, i));

        if (length != n)
            return berth_error_set(err, "degradation[%zu]: %zu numbers expected, not %zu", i, n,
                                   length);
        for (size_t j = 0; j < n; j++)
            if (check_element(matrix, i, j, err) < 0)
                return -1;
    }
    return 0;
}

int ctl_matrix_read(struct ctl_matrix *matrix, const char *path, struct berth_error *err)
{
    *matrix = (struct ctl_matrix){.file = ctl_input_read(path, err)};
    if (matrix->file &&
        ctl_input_list(matrix->file, "apps", json_type_string, &matrix->names, err) == 0 &&
        ctl_input_list(matrix->file, "degradation", json_type_array, &matrix->rows, err) == 0 &&
        check_names(matrix, err) == 0 && check_rows(matrix, err) == 0)
        return 0;
    ctl_matrix_free(matrix);
    return -1;
}

void ctl_matrix_free(struct ctl_matrix *matrix)
{
    json_object_put(matrix->file);
    *matrix = (struct ctl_matrix){0};
}

long ctl_matrix_index(const struct ctl_matrix *matrix, const char *name)
{
    for (size_t i = 0; i < json_object_array_length(matrix->names); i++)
        if (strcmp(json_object_get_string(json_object_array_get_idx(matrix->names, i)), name) == 0)
            return (long)i;
    return -1;
}

double ctl_matrix_at(const struct ctl_matrix *matrix, size_t row, size_t column)
{
    return json_object_get_double(
        json_object_array_get_idx(json_object_array_get_idx(matrix->rows, row), column));
}
