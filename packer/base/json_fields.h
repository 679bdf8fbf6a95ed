/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json_fields - reads a struct from a JSON object and writes it to one, by one table of its fields.
 *
 * What is read is checked against the table, and the error says which field is wrong, how, and what
 * would be right: "nodes[1].beta: 2: between 0 and 1 expected". What is not known is null: where a
 * field may be absent, null leaves it as it was; and a number outside of its range (so NAN) and a
 * text shorter than it may be are written as null. */
#ifndef BERTH_BASE_JSON_FIELDS_H
#define BERTH_BASE_JSON_FIELDS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"

enum json_need { JSON_OPTIONAL, JSON_REQUIRED };

/* What the struct has, and what JSON has for it. */
enum json_kind {
    JSON_TEXT,     /* char[size]: a string of min to size - 1 bytes, no NUL in it */
    JSON_UNSIGNED, /* uint32_t or uint64_t: a whole number */
    JSON_SIGNED,   /* int32_t or int64_t */
    JSON_NUMBER,   /* double: a finite number */
    JSON_BOOL,     /* bool */
    JSON_WORD,     /* an enum: one of words; null for a value that has none */
    JSON_CPUS,     /* struct cpus: a list such as "0-3,8" */
    JSON_STRUCT,   /* a struct: an object of fields */
    JSON_TUPLE,    /* a struct: an array of the values of its fields, in their order */
    JSON_LIST,     /* n values in `size` bytes: an array of n; fields: one for each of them */
    JSON_ROWS, /* a pointer to elements of `size` bytes, and how many (at `count`): an array of min
                  to max; fields: one for each of them. json_clear frees them */
    JSON_BORROWED,   /* const char *, borrowed of what was read: a string of at most max bytes, no
                        NUL in it; NULL is written as "" */
    JSON_ANY_ARRAY,  /* struct json_object *, borrowed of what was read: an array */
    JSON_ANY_OBJECT, /* the same of an object */
    JSON_KINDS
};

struct json_field {
    const char *name; /* NULL: the table ends here */
    enum json_kind kind;
    enum json_need need;
    size_t offset, size;             /* in the struct */
    double min, max;                 /* of a number; both 0: any */
    bool whole;                      /* a double without a fraction, written as an integer */
    const char *format;              /* how printf writes a double; NULL: 17 digits */
    const char *const *words;        /* of a JSON_WORD; NULL among them: a value that has none */
    size_t n;                        /* how many words; how many elements of a JSON_LIST */
    const struct json_field *fields; /* of a struct; of a JSON_LIST one, for each of its elements */
    size_t given;                    /* 1 + offset of a bool: is there one? 0: always */
    ptrdiff_t count;                 /* of JSON_ROWS: from the pointer to a size_t */
    const void *unset; /* of JSON_ROWS: an element before it is read; NULL: all of it 0 */
};

/* One field of a table: member of `type`, called `key` in JSON, OPTIONAL or REQUIRED. JSON_FIELD
 * and JSON_RANGE find the kind by the member's type. */
#define JSON_AT(type, key, member, needed)                                                         \
    .name = (key), .need = JSON_##needed, .offset = offsetof(type, member),                        \
    .size = sizeof(((type *)NULL)->member)
/* clang-format off */
#define JSON_KIND(value)                                                                           \
    _Generic((value), char *: JSON_TEXT, const char *: JSON_BORROWED, bool: JSON_BOOL, double: JSON_NUMBER,                     \
             struct cpus: JSON_CPUS, uint32_t: JSON_UNSIGNED, uint64_t: JSON_UNSIGNED,             \
             int32_t: JSON_SIGNED, int64_t: JSON_SIGNED)
#define JSON_FIELD(type, key, member, needed)                                                      \
    {JSON_AT(type, key, member, needed), .kind = JSON_KIND(((type *)NULL)->member)}
#define JSON_RANGE(type, key, member, needed, least, most)                                         \
    {JSON_AT(type, key, member, needed), .kind = JSON_KIND(((type *)NULL)->member),                \
     .min = (least), .max = (most)}
#define JSON_WHOLE(type, key, member, needed, least, most)                                         \
    {JSON_AT(type, key, member, needed), .kind = JSON_NUMBER, .whole = true, .min = (least),       \
     .max = (most)}
#define JSON_CHOICE(type, key, member, needed, names)                                              \
    {JSON_AT(type, key, member, needed), .kind = JSON_WORD, .words = (names),                      \
     .n = sizeof(names) / sizeof((names)[0])}
#define JSON_CHOICE_GIVEN(type, key, member, flag, names)                                          \
    {JSON_AT(type, key, member, OPTIONAL), .kind = JSON_WORD, .words = (names),                    \
     .n = sizeof(names) / sizeof((names)[0]), .given = offsetof(type, flag) + 1}
#define JSON_NESTED(type, key, member, needed, table)                                              \
    {JSON_AT(type, key, member, needed), .kind = JSON_STRUCT, .fields = (table)}
#define JSON_ROWS_AT(type, key, member, n, needed, least, most)                                    \
    .name = (key), .need = JSON_##needed, .offset = offsetof(type, member),                        \
    .size = sizeof(*((type *)NULL)->member), .kind = JSON_ROWS, .min = (least), .max = (most),     \
    .count = (ptrdiff_t)offsetof(type, n) - (ptrdiff_t)offsetof(type, member)
/* Rows that are structs of a table, or values, with what an element has beside its kind; `from` is
 * an element before it is read, or NULL. */
#define JSON_STRUCTS(type, key, member, n, needed, least, most, table, from)                       \
    {JSON_ROWS_AT(type, key, member, n, needed, least, most), .unset = (from),                     \
     .fields = &(const struct json_field){                                                         \
         .kind = JSON_STRUCT, .need = JSON_REQUIRED, .fields = (table)}}
#define JSON_VALUES(type, key, member, n, needed, least, most, from, ...)                          \
    {JSON_ROWS_AT(type, key, member, n, needed, least, most), .unset = (from),                     \
     .fields = &(const struct json_field){.kind = JSON_KIND(*((type *)NULL)->member),              \
                                          .size = sizeof(*((type *)NULL)->member), __VA_ARGS__}}
#define JSON_ANY(type, key, member, needed, what)                                                  \
    {JSON_AT(type, key, member, needed), .kind = JSON_ANY_##what}
#define JSON_END {.name = NULL}
/* clang-format on */

/* An element that is any number. */
extern const struct json_field json_number;

/* Says whether a number may stand in the field: finite, and within the range that it has. */
bool json_in_range(const struct json_field *field, double value);

/* Reads the fields of a table from an object into a struct. Fields that may be absent stay as they
 * were where they are absent or null. Returns 0, or -1 and err; the struct is then undefined. */
int json_read(struct json_object *object, const struct json_field *fields, void *into,
              struct berth_error *err);

/* Frees what json_read has allocated for JSON_ROWS of a struct, which was 0 there before, also
 * where json_read failed; there are none then. */
void json_clear(const struct json_field *fields, void *of);

/* Adds the fields of a table to an object that has none of these names, from a struct. Nothing is
 * added to NULL; what has no memory is left out, and errno is ENOMEM (json_add_text). */
void json_write(struct json_object *object, const struct json_field *fields, const void *from);

/* Reads object[field->name] into *at, whatever the field's offset. Returns 0, or -1 and err. */
int json_get(struct json_object *object, const struct json_field *field, void *at,
             struct berth_error *err);

/* Reads an array of n values of item's kind; NULL: there is none, which is an error. Value i goes
 * to first + i * stride bytes, and stays as it was where it is null and item may be absent. `name`
 * is what errors call the array: "NAME[1]: -3: 0 or more expected". Returns 0, or -1 and err. */
int json_get_list(struct json_object *list, const char *name, size_t n,
                  const struct json_field *item, void *first, size_t stride,
                  struct berth_error *err);

/* Reads an array of `rows` arrays of n values each, which go one row after the other. Returns 0, or
 * -1 and err. */
int json_get_matrix(struct json_object *list, const char *name, size_t rows, size_t n,
                    const struct json_field *item, void *first, size_t stride,
                    struct berth_error *err);

/* Do the reverse: return an array that the caller releases. */
struct json_object *json_new_list(size_t n, const struct json_field *item, const void *first,
                                  size_t stride);
struct json_object *json_new_matrix(size_t rows, size_t n, const struct json_field *item,
                                    const void *first, size_t stride);

/* ---- one field, without a table ---- */

/* Each reads object[key] into *out: 0, or -1 and err "KEY: ..." when it is missing though required
 * or of the wrong type or range. A missing optional field (or null) leaves *out as it was. */
int json_get_text(struct json_object *object, const char *key, enum json_need need, char *out,
                  size_t size, struct berth_error *err);
int json_get_u32(struct json_object *object, const char *key, enum json_need need, uint32_t *out,
                 struct berth_error *err);
int json_get_u64(struct json_object *object, const char *key, enum json_need need, uint64_t *out,
                 struct berth_error *err);
int json_get_i64(struct json_object *object, const char *key, enum json_need need, int64_t *out,
                 struct berth_error *err);
int json_get_double(struct json_object *object, const char *key, enum json_need need, double *out,
                    struct berth_error *err); /* finite */
int json_get_bool(struct json_object *object, const char *key, enum json_need need, bool *out,
                  struct berth_error *err);
int json_get_array(struct json_object *object, const char *key, enum json_need need,
                   struct json_object **out, struct berth_error *err); /* borrowed */
int json_get_object(struct json_object *object, const char *key, enum json_need need,
                    struct json_object **out, struct berth_error *err); /* borrowed */
/* Reads one of the n names; *out is its index. The error lists the names. */
int json_get_word(struct json_object *object, const char *key, enum json_need need,
                  const char *const *names, size_t n, int *out, struct berth_error *err);

#endif
