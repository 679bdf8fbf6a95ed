/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_forget - what leaves the profile store: what is not wanted any more, and what is old
 * (profiles.h). */
#include <string.h>
#include <time.h>

#include "packer/profiles/db.h"
#include "packer/profiles/profiles.h"

/* ---- by key ---- */

struct forget {
    const char *key;
    bool samples_only;
    int rows;
};

static int forget_body(struct profiles *store, void *arg, struct berth_error *err)
{
    static const char *const sql[] = {"DELETE FROM sample WHERE ?1 IS NULL OR key = ?1",
                                      "DELETE FROM profile WHERE ?1 IS NULL OR key = ?1",
                                      "DELETE FROM demand WHERE ?1 IS NULL OR key = ?1"};
    struct forget *forget = arg;

    int pairs = profiles_forget_pairs(store, forget->key, err);

    if (pairs < 0)
        return -1;
    forget->rows = pairs;
    for (size_t i = 0; i < (forget->samples_only ? 1 : sizeof(sql) / sizeof(sql[0])); i++) {
        struct sql_statement *statement = profiles_prepare(store, sql[i], forget->key, err);
        int rc = statement ? profiles_run(statement, err) : -1;

        if (rc < 0)
            return -1;
        forget->rows += rc;
    }
    return 0;
}

int profiles_forget(struct profiles *store, const char *key, bool samples_only,
                    struct berth_error *err)
{
    struct forget forget = {.key = key, .samples_only = samples_only};

    return profiles_write(store, forget_body, &forget, err) < 0 ? -1 : forget.rows;
}

/* ---- by age ---- */

struct ageing {
    uint64_t days;
    int rows;
};

static int age_body(struct profiles *store, void *arg, struct berth_error *err)
{
    struct ageing *ageing = arg;
    int64_t oldest = ageing->days ? time(NULL) - (int64_t)ageing->days * 86400 : INT64_MIN;
    int pairs = 0;
    struct sql_statement *statement =
        profiles_prepare(store,
                         "DELETE FROM sample WHERE measured_at < ?1 OR measured_at < (SELECT"
                         " measured_at FROM sample ORDER BY measured_at DESC LIMIT 1"
                         " OFFSET ?2 - 1)",
                         NULL, err);

    if (!statement)
        return -1;
    sql_bind_int(statement, 0, oldest);
    sql_bind_int(statement, 1, PROFILE_SAMPLES_MAX);
    ageing->rows = profiles_run(statement, err);
    if (ageing->rows >= 0)
        pairs = profiles_age_pairs(store, oldest, err);
    ageing->rows += pairs;
    return ageing->rows < 0 || pairs < 0 ? -1 : 0;
}

int profiles_age(struct profiles *store, uint64_t days, struct berth_error *err)
{
    struct ageing ageing = {.days = days};

    return profiles_write(store, age_body, &ageing, err) < 0 ? -1 : ageing.rows;
}
