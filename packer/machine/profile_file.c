/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_profile_file - the file of a machine profile: read, and written all or not at all
 * (machine/profile.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/file.h"
#include "packer/base/json.h"
#include "packer/machine/profile.h"

#define FILE_BYTES_MAX (64u << 20)
#define STYLE (JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

struct machine_profile *machine_profile_read(const char *path, struct berth_error *err)
{
    struct machine_profile *profile = NULL;
    struct json_object *object = NULL;
    struct berth_error why;
    size_t length;
    char *text = file_read(path, FILE_BYTES_MAX, &length, &why);

    if (text)
        object = json_parse(text, length, &why);
    if (object && !json_object_is_type(object, json_type_object))
        berth_error_set(&why, "a JSON object expected");
    else if (object)
        profile = machine_profile_parse(object, &why);
    json_object_put(object);
    free(text);
    if (!profile)
        berth_error_set(err, "%.200s: %.300s", path, why.text);
    return profile;
}

/* An array of arrays or of nodes, one to a line. */
static void print_rows(struct json_object *rows, FILE *out)
{
    size_t n = json_object_array_length(rows);

    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s\n    %s", i ? "," : "[",
                json_object_to_json_string_ext(json_object_array_get_idx(rows, i), STYLE));
    fprintf(out, "\n  ]");
}

/* The file's text, which the caller frees; a field, or a row of one, to a line. NULL: no memory. */
static char *print_profile(const struct machine_profile *profile, size_t *length)
{
    struct json_object *object = machine_profile_json(profile);
    const char *before = "{";
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    if (!out) {
        json_object_put(object);
        return NULL;
    }
    json_object_object_foreach(object, key, value)
    {
        fprintf(out, "%s\n  \"%s\": ", before, key);
        if (json_object_is_type(value, json_type_array))
            print_rows(value, out);
        else
            fputs(json_object_to_json_string_ext(value, STYLE), out);
        before = ",";
    }
    fputs("\n}\n", out);
    json_object_put(object);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

int machine_profile_write(const struct machine_profile *profile, const char *path, bool force,
                          struct berth_error *err)
{
    unsigned flags = FILE_SYNC | FILE_ANY | (force ? 0 : FILE_FIRST);
    size_t length;
    char *text = print_profile(profile, &length);
    int rc = text ? file_replace(path, 0644, flags, text, length) : -1;

    free(text);
    if (rc == 0)
        return 0;
    if (errno == EEXIST)
        return berth_error_set(err, "%s: there is one already; --force replaces it", path);
    return berth_error_set(err, "%s: %s", path,
                           errno == EINVAL ? "not a regular file" : strerror(errno));
}
