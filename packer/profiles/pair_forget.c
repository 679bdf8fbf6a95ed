/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pair_forget - pairs leave the profile store, and with its last pair the name of a program
 * (profiles.h). */
#include <stdlib.h>

#include "packer/base/array.h"
#include "packer/profiles/db.h"

/* Runs a statement with these two numbers (?1, ?2). */
static int run_numbers(struct profiles *store, const char *sql, int64_t a, int64_t b,
                       struct berth_error *err)
{
    struct sql_statement *statement = profiles_prepare(store, sql, NULL, err);

    if (!statement)
        return -1;
    sql_bind_int(statement, 0, a);
    sql_bind_int(statement, 1, b);
    return profiles_run(statement, err);
}

struct numbers {
    size_t n, room;
    int64_t *id;
};

static int add_number(struct numbers *numbers, int64_t id, struct berth_error *err)
{
    if (array_grow(&numbers->id, &numbers->room, numbers->n + 1, sizeof(id)) < 0)
        return berth_no_memory(err);
    numbers->id[numbers->n++] = id;
    return 0;
}

/* Gathers the programs that pairs name. */
static int gather_named(struct profiles *store, struct numbers *numbers, struct berth_error *err)
{
    struct sql_statement *row =
        profiles_prepare(store, "SELECT program, beside FROM pair", NULL, err);
    struct pair_row_part part[PROFILE_BESIDE_MAX];
    int rc;

    while ((rc = row ? sql_step(row, err) : -1) == 1) {
        int n = pair_parse_beside(sql_text(row, 1), part);

        rc = add_number(numbers, sql_int(row, 0), err);
        for (int i = 0; rc == 0 && i < n; i++)
            rc = add_number(numbers, part[i].id, err);
        if (rc < 0)
            break;
    }
    sql_finish(row);
    return rc;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Forgets the programs that are not among these numbers, which are sorted. */
static int forget_unnamed(struct profiles *store, const struct numbers *named,
                          struct berth_error *err)
{
    struct sql_statement *row = profiles_prepare(store, "SELECT id FROM pair_program", NULL, err);
    struct numbers gone = {0};
    int rc;

    while ((rc = row ? sql_step(row, err) : -1) == 1) {
        int64_t id = sql_int(row, 0);

        if (named->n && bsearch(&id, named->id, named->n, sizeof(id), compare_numbers))
            continue;
        if ((rc = add_number(&gone, id, err)) < 0)
            break;
    }
    sql_finish(row);
    for (size_t i = 0; rc == 0 && i < gone.n; i++)
        if (run_numbers(store, "DELETE FROM pair_program WHERE id = ?1", gone.id[i], 0, err) < 0)
            rc = -1;
    free(gone.id);
    return rc;
}

/* Forgets the programs that no pair names any more. */
static int forget_nameless(struct profiles *store, struct berth_error *err)
{
    struct numbers named = {0};
    int rc = gather_named(store, &named, err);

    if (rc == 0 && named.n)
        qsort(named.id, named.n, sizeof(*named.id), compare_numbers);
    if (rc == 0)
        rc = forget_unnamed(store, &named, err);
    free(named.id);
    return rc;
}

int profiles_forget_pairs(struct profiles *store, const uint32_t *uid, const char *key,
                          struct berth_error *err)
{
    struct sql_statement *statement =
        profiles_prepare(store, "DELETE FROM pair WHERE " PROFILE_PAIRS_MEANT, key, err);
    int rows;

    if (!statement)
        return -1;
    profiles_bind_owner(statement, uid);
    rows = profiles_run(statement, err);

    return rows < 0 || forget_nameless(store, err) < 0 ? -1 : rows;
}

int profiles_age_pairs(struct profiles *store, int64_t oldest, struct berth_error *err)
{
    int rows =
        run_numbers(store,
                    "DELETE FROM pair WHERE measured_at < ?1 OR measured_at < (SELECT"
                    " measured_at FROM pair ORDER BY measured_at DESC LIMIT 1 OFFSET ?2 - 1)",
                    oldest, PROFILE_PAIRS_MAX, err);
    int more = rows < 0 ? -1
                        : run_numbers(store,
                                      "WITH ranked AS (SELECT program, machine, cores, beside,"
                                      " row_number() OVER (PARTITION BY p.uid ORDER BY measured_at"
                                      " DESC) AS n FROM pair JOIN pair_program AS p ON p.id ="
                                      " program WHERE p.uid <> 0) DELETE FROM pair WHERE (program,"
                                      " machine, cores, beside) IN (SELECT program, machine, cores,"
                                      " beside FROM ranked WHERE n > ?2)",
                                      0, PROFILE_ROWS_OF_ONE, err);

    return more < 0 || forget_nameless(store, err) < 0 ? -1 : rows + more;
}
