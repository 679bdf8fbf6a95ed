/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_pair - how programs fared beside others: averaged over runs, stored and aged
 * (profiles.h).
 *
 * A row names programs by numbers (table pair_program): "3*1,17*2" in its `beside` are one core of
 * program 3 and two of program 17, in the order of these numbers, so that the same set of
 * neighbours is the same text. Whoever is named in no row any more is forgotten with the ageing. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/profiles/db.h"
#include "enum_table.h"

#define NEWEST_WEIGHS 0.2
#define CONTRADICTION 3          /* times the error of the difference */
#define CONTRADICTION_WEIGHS 0.5 /* the newer of two that contradict each other, at least */

#define PART_MAX 32 /* bytes of "17*2," */
#define BESIDE_MAX (PROFILE_BESIDE_MAX * PART_MAX)

/* What makes a row. */
struct identity {
    int64_t program, machine;
    uint32_t cores;
    char beside[BESIDE_MAX];
};

/* ---- averages ---- */

void profile_pair_merge(struct profile_pair *known, const struct profile_pair *newer)
{
    struct profile_estimate mean = {known->slowdown, known->error};
    const struct profile_estimate add = {newer->slowdown, newer->error};
    double old = known->error * known->error, new = newer->error * newer->error;
    bool contradicts = fabs(add.mean - mean.mean) > CONTRADICTION * sqrt(old + new);

    profiles_merge(&mean, &add,
                   fmax(old / (old + new), contradicts ? CONTRADICTION_WEIGHS : NEWEST_WEIGHS));
    known->slowdown = mean.mean;
    known->error = mean.error;
    known->windows += newer->windows;
    known->seconds += newer->seconds;
    known->runs += newer->runs;
    known->measured_at = newer->measured_at;
}

/* ---- numbers for texts ---- */

/* Prepares a statement with a text (?1) and, where it has one, a user (?2). */
static struct sql_statement *prepare_text(struct profiles *store, const char *sql, const char *text,
                                          const uint32_t *uid, struct berth_error *err)
{
    struct sql_statement *statement = profiles_prepare(store, sql, text, err);

    if (statement && uid)
        sql_bind_int(statement, 1, *uid);
    return statement;
}

/* Finds the number of a text, of that user, which is given one where it has none. Returns -1 and
 * err. */
static int64_t number_of(struct profiles *store, const char *find, const char *insert,
                         const char *text, const uint32_t *uid, struct berth_error *err)
{
    int64_t id = -1;

    for (int turn = 0; turn < 2 && id < 0; turn++) {
        struct sql_statement *row = prepare_text(store, find, text, uid, err);
        int rc = row ? sql_step(row, err) : -1;

        if (rc == 1)
            id = sql_int(row, 0);
        sql_finish(row);
        if (rc < 0)
            return -1;
        if (id < 0 && turn == 0) {
            row = prepare_text(store, insert, text, uid, err);
            if (!row || profiles_run(row, err) < 0)
                return -1;
        }
    }
    return id;
}

static int64_t program_number(struct profiles *store, const char *key, uint32_t uid,
                              struct berth_error *err)
{
    return number_of(store, "SELECT id FROM pair_program WHERE key = ?1 AND uid = ?2",
                     "INSERT INTO pair_program (key, uid) VALUES (?1, ?2)", key, &uid, err);
}

static int64_t machine_number(struct profiles *store, const char *machine, struct berth_error *err)
{
    return number_of(store, "SELECT id FROM pair_machine WHERE machine = ?1",
                     "INSERT INTO pair_machine (machine) VALUES (?1)", machine, NULL, err);
}

static int compare_parts(const void *a, const void *b)
{
    const struct pair_row_part *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static void format_beside(const struct pair_row_part *part, size_t n, char text[BESIDE_MAX])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, BESIDE_MAX - used, "%s%" PRId64 "*%" PRIu32,
                                 i ? "," : "", part[i].id, part[i].cores);
}

/* What makes the pair's row, with numbers for all its texts. */
static int identify(struct profiles *store, const struct profile_pair *pair,
                    struct identity *identity, struct berth_error *err)
{
    struct pair_row_part part[PROFILE_BESIDE_MAX];

    identity->program = program_number(store, pair->key, pair->uid, err);
    identity->machine = machine_number(store, pair->machine, err);
    identity->cores = pair->cores;
    if (identity->program < 0 || identity->machine < 0)
        return -1;
    for (size_t i = 0; i < pair->n; i++) {
        part[i] = (struct pair_row_part){
            program_number(store, pair->beside[i].key, pair->beside[i].uid, err),
            pair->beside[i].cores};
        if (part[i].id < 0)
            return -1;
    }
    qsort(part, pair->n, sizeof(part[0]), compare_parts);
    format_beside(part, pair->n, identity->beside);
    return 0;
}

/* ---- rows ---- */

#define FIGURES "slowdown, error, windows, seconds, runs, measured_at"

static void bind_identity(struct sql_statement *statement, const struct identity *identity)
{
    sql_bind_int(statement, 0, identity->program);
    sql_bind_int(statement, 1, identity->machine);
    sql_bind_int(statement, 2, identity->cores);
    sql_bind_text(statement, 3, identity->beside);
}

static void read_figures(const struct sql_statement *row, size_t first, struct profile_pair *pair)
{
    pair->slowdown = sql_double(row, first);
    pair->error = sql_double(row, first + 1);
    pair->windows = sql_double(row, first + 2);
    pair->seconds = sql_double(row, first + 3);
    pair->runs = (uint64_t)sql_int(row, first + 4);
    pair->measured_at = sql_int(row, first + 5);
}

/* Reads the figures of the row with this identity: 1, 0 there is none, -1 and err. */
static int find_row(struct profiles *store, const struct identity *identity,
                    struct profile_pair *found, struct berth_error *err)
{
    struct sql_statement *row =
        profiles_prepare(store,
                         "SELECT " FIGURES " FROM pair WHERE program = ?1 AND machine = ?2"
                         " AND cores = ?3 AND beside = ?4",
                         NULL, err);
    int rc = -1;

    if (row) {
        bind_identity(row, identity);
        rc = sql_step(row, err);
    }
    if (rc == 1)
        read_figures(row, 0, found);
    sql_finish(row);
    return rc;
}

/* Stores the figures in place of what has the same identity. */
static int write_row(struct profiles *store, const struct identity *identity,
                     const struct profile_pair *pair, struct berth_error *err)
{
    struct sql_statement *statement = profiles_prepare(
        store,
        "INSERT OR REPLACE INTO pair (program, machine, cores, beside, " FIGURES ")"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        NULL, err);

    if (!statement)
        return -1;
    bind_identity(statement, identity);
    sql_bind_double(statement, 4, pair->slowdown);
    sql_bind_double(statement, 5, pair->error);
    sql_bind_double(statement, 6, pair->windows);
    sql_bind_double(statement, 7, pair->seconds);
    sql_bind_int(statement, 8, pair->runs ? (int64_t)pair->runs : 1);
    sql_bind_int(statement, 9, pair->measured_at);
    return profiles_run(statement, err) < 0 ? -1 : 0;
}

/* ---- writing ---- */

static int check(const struct profiles *store, const struct profile_pair *pair,
                 struct berth_error *err)
{
    bool fine = pair->key[0] && pair->cores > 0 && pair->n > 0 && pair->n <= PROFILE_BESIDE_MAX &&
                pair->windows > 0 && pair->error > 0 && isfinite(pair->error) &&
                pair->slowdown > -1 && isfinite(pair->slowdown);

    for (size_t i = 0; fine && i < pair->n; i++)
        fine = pair->beside[i].key[0] && pair->beside[i].cores > 0;
    return fine ? 0 : berth_error_set(err, "%s: a pair that makes no sense", store->path);
}

struct batch {
    const struct profile_pair *pair;
    size_t n;
};

static int put_body(struct profiles *store, void *arg, struct berth_error *err)
{
    const struct batch *batch = arg;

    for (size_t i = 0; i < batch->n; i++) {
        struct profile_pair known;
        struct identity identity;
        int found = identify(store, &batch->pair[i], &identity, err) < 0
                        ? -1
                        : find_row(store, &identity, &known, err);

        if (found == 1)
            profile_pair_merge(&known, &batch->pair[i]);
        if (found < 0 || write_row(store, &identity, found ? &known : &batch->pair[i], err) < 0)
            return -1;
    }
    return 0;
}

int profiles_put_pairs(struct profiles *store, const struct profile_pair *pair, size_t n,
                       struct berth_error *err)
{
    struct batch batch = {pair, n};

    for (size_t i = 0; i < n; i++)
        if (check(store, &pair[i], err) < 0)
            return -1;
    return n == 0 ? 0 : profiles_write(store, put_body, &batch, err);
}

int profiles_import_pair(struct profiles *store, const struct profile_pair *pair, bool replace,
                         struct berth_error *err)
{
    struct profile_pair known;
    struct identity identity;
    int found;

    if (check(store, pair, err) < 0 || identify(store, pair, &identity, err) < 0)
        return -1;
    found = replace ? 0 : find_row(store, &identity, &known, err);
    if (found < 0 || (found == 1 && known.measured_at >= pair->measured_at))
        return found < 0 ? -1 : 0;
    return write_row(store, &identity, pair, err) < 0 ? -1 : 1;
}

/* ---- reading ---- */

int pair_parse_beside(const char *text, struct pair_row_part part[PROFILE_BESIDE_MAX])
{
    int n = 0, used;

    for (; n < PROFILE_BESIDE_MAX; text++) {
        if (sscanf(text, "%" SCNd64 "*%" SCNu32 "%n", &part[n].id, &part[n].cores, &used) != 2)
            return -1;
        n++;
        text += used;
        if (*text != ',')
            return *text ? -1 : n;
    }
    return -1;
}

static int compare_beside(const void *a, const void *b)
{
    const struct profile_beside *x = a, *y = b;
    int order = strcmp(x->key, y->key);

    return order ? order : (x->uid > y->uid) - (x->uid < y->uid);
}

/* Fills in the neighbours' keys, in their order, each to be freed. Returns 0, or -1 and err. */
static int read_beside(const struct profiles *store, struct sql_statement *name, const char *text,
                       struct profile_pair *pair, struct berth_error *err)
{
    struct pair_row_part part[PROFILE_BESIDE_MAX];
    int n = pair_parse_beside(text, part);

    pair->n = 0;
    for (int i = 0; i < n; i++) {
        sql_bind_int(name, 0, part[i].id);
        if (sql_step(name, err) == 1) {
            pair->beside[i] = (struct profile_beside){strdup(sql_text(name, 0)), part[i].cores,
                                                      (uint32_t)sql_int(name, 1)};
            pair->n += pair->beside[i].key != NULL;
        }
        sql_reset(name);
        if (pair->n != (size_t)i + 1)
            break;
    }
    qsort(pair->beside, pair->n, sizeof(pair->beside[0]), compare_beside);
    return n > 0 && pair->n == (size_t)n
               ? 0
               : berth_error_set(err, "%s: a pair in it is damaged", store->path);
}

static void free_beside(struct profile_pair *pair)
{
    for (size_t i = 0; i < pair->n; i++)
        free((char *)(uintptr_t)pair->beside[i].key);
}

/* The rows of all, or with users of one kind; of the key, or those in which it has any part. */
#define EACH                                                                                       \
    "SELECT p.key, m.machine, pair.cores, pair.beside, " FIGURES ", p.uid FROM pair_program AS p"  \
    " JOIN pair ON pair.program = p.id JOIN pair_machine AS m ON m.id = pair.machine"              \
    " WHERE (?2 IS NULL OR m.machine = ?2) AND measured_at >= ?3"
#define ORDER                                                                                      \
    " ORDER BY measured_at DESC, p.key, p.uid, m.machine, pair.cores, slowdown, error LIMIT ?4"    \
    " OFFSET ?6"
#define AS_STORED " ORDER BY p.id, pair.machine, pair.cores, pair.beside LIMIT ?4 OFFSET ?6"
#define HAS_PART                                                                                   \
    " AND (p.key = ?1 OR EXISTS (SELECT 1 FROM pair_program AS q WHERE q.key = ?1 AND q.uid = 0"   \
    " AND instr(',' || pair.beside, ',' || q.id || '*') > 0))"

static const char *const TABLE(each_sql, PROFILE_PAIRS_WAYS)[2] = {
    ROW(PROFILE_PAIRS_ALL) = {EACH ORDER, EACH " AND p.key = ?1" ORDER},
    ROW(PROFILE_PAIRS_USERS) = {EACH " AND p.uid <> 0" ORDER,
                                EACH " AND p.uid <> 0 AND p.key = ?1" ORDER},
    ROW(PROFILE_PAIRS_OF) = {EACH " AND p.uid = ?5" ORDER,
                             EACH " AND p.uid = ?5 AND p.key = ?1" ORDER},
    ROW(PROFILE_PAIRS_PAGE) = {EACH " AND p.uid = ?5" AS_STORED,
                               EACH " AND p.uid = ?5 AND p.key = ?1" AS_STORED},
    ROW(PROFILE_PAIRS_ROOT) = {EACH " AND p.uid = 0" ORDER, EACH " AND p.uid = 0" HAS_PART ORDER},
};
TABLE_COMPLETE(each_sql);

/* Prepares and binds what asks for the pairs. */
static struct sql_statement *ask(struct profiles *store, const struct profile_pairs_query *query,
                                 struct berth_error *err)
{
    struct sql_statement *row =
        profiles_prepare(store, each_sql[query->which][query->key != NULL], query->key, err);

    if (!row)
        return NULL;
    if (query->machine)
        sql_bind_text(row, 1, query->machine);
    else
        sql_bind_null(row, 1);
    sql_bind_int(row, 2, query->oldest);
    sql_bind_int(row, 3, query->most ? (int64_t)query->most : -1);
    if (query->which == PROFILE_PAIRS_OF || query->which == PROFILE_PAIRS_PAGE)
        sql_bind_int(row, 4, query->uid);
    sql_bind_int(row, 5, (int64_t)query->skip);
    return row;
}

int profiles_each_pair(struct profiles *store, const struct profile_pairs_query *query,
                       int (*visit)(const struct profile_pair *, void *), void *arg,
                       struct berth_error *err)
{
    struct sql_statement *row, *name;
    struct profile_pair pair;
    int rc = profiles_readable(store, err), stop = 0;

    if (rc != 1)
        return rc;
    row = ask(store, query, err);
    name =
        row ? profiles_prepare(store, "SELECT key, uid FROM pair_program WHERE id = ?1", NULL, err)
            : NULL;
    while (!stop && (rc = name ? sql_step(row, err) : -1) == 1) {
        pair.key = sql_text(row, 0);
        pair.machine = sql_text(row, 1);
        pair.cores = (uint32_t)sql_int(row, 2);
        read_figures(row, 4, &pair);
        pair.uid = (uint32_t)sql_int(row, 10);
        rc = read_beside(store, name, sql_text(row, 3), &pair, err);
        stop = rc == 0 ? visit(&pair, arg) : -1;
        free_beside(&pair);
    }
    sql_finish(name);
    sql_finish(row);
    return rc;
}
