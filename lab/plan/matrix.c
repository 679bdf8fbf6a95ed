/* SPDX-License-Identifier: GPL-2.0-or-later */
/* matrix - see matrix.h */
#include "lab/plan/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
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

static int read_values(struct ctl_matrix *matrix, struct berth_error *err)
{
    struct json_object *rows = json_find(matrix->file, "degradation");
    size_t n = json_object_array_length(matrix->names);

    matrix->value = calloc(n * n, sizeof(*matrix->value));
    if (!matrix->value)
        return berth_error_set(err, "degradation: out of memory");
    if (json_get_matrix(rows, "degradation", n, n, &json_number, matrix->value,
                        sizeof(*matrix->value), err) < 0)
        return -1;
    for (size_t i = 0; i < n * n; i++)
        if (matrix->value[i] <= -1)
            return berth_error_set(err,
                                   "degradation[%zu][%zu]: %.12g: a fraction above -1 expected",
                                   i / n, i % n, matrix->value[i]);
    return 0;
}

int ctl_matrix_read(struct ctl_matrix *matrix, const char *path, struct berth_error *err)
{
    *matrix = (struct ctl_matrix){.file = ctl_input_read(path, err)};
    if (matrix->file &&
        ctl_input_list(matrix->file, "apps", json_type_string, &matrix->names, err) == 0 &&
        check_names(matrix, err) == 0 && read_values(matrix, err) == 0) {
        ctl_input_tell_unread(path, matrix->file, true);
        return 0;
    }
    ctl_matrix_free(matrix);
    return -1;
}

void ctl_matrix_free(struct ctl_matrix *matrix)
{
    json_object_put(matrix->file);
    free(matrix->value);
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
    return matrix->value[row * json_object_array_length(matrix->names) + column];
}
