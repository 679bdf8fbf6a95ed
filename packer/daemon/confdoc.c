/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confdoc - run by make, not installed. It prints tables of the program, so that no page can say
 * something else than the code: the keys of conf/keys.c for berth.conf(5); the series of
 * metrics/families.c for berth-metrics(7) and for the test of the dashboard; the facts and the
 * columns of report for the schemas (doc/schemas/outline.awk) and berth-facts(7). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/conf/conf.h"
#include "packer/fact/fact.h"
#include "packer/metrics/node.h"
#include "packer/report/fields.h"
#include "enum_table.h"

/* mdoc wants each sentence on a line of its own. */
static void print_sentences(const char *text)
{
    for (char before = 0; *text; before = *text++)
        putchar(*text == ' ' && before == '.' ? '\n' : *text);
    putchar('\n');
}

static void print_metrics(bool mdoc)
{
    static const char *const TABLE(type, METRICS_TYPES) = {
        ROW(METRICS_GAUGE) = "gauge", ROW(METRICS_COUNTER) = "counter", ROW(METRICS_INFO) = "info"};
    TABLE_COMPLETE(type);
    char name[METRICS_NAME_MAX];

    for (size_t i = 0; i < METRICS_FAMILIES; i++) {
        const struct metrics_family *family = &metrics_family[i];

        metrics_sample_name(family, name);
        printf(mdoc ? ".It Ic %s Pq %s\n" : "%s\n", name, type[family->type]);
        if (mdoc)
            print_sentences(family->help);
    }
}

/* What facts.def has for report, for the metrics and for the ledger; NULL: nothing. */
static const struct column {
    const char *name, *key;
} SPARSE(column, FACTS) = {
#define FACT_COLUMN(ID, name, width, key, form, parts) [FACT_##ID] = {name, key},
#define FACT_WORD_COLUMN(ID, name, width, key, parts) FACT_COLUMN(ID, name, width, key, TEXT, parts)
#include "packer/fact/facts.def"
};
static const enum metrics_id SPARSE(series, FACTS) = {
#define FACT_SERIES(ID, name, type, unit) [FACT_##ID] = METRICS_STEP_##ID,
#include "packer/fact/facts.def"
};
static const char *const SPARSE(kept, FACTS) = {
#define FACT_KEPT(ID, member, type) [FACT_##ID] = #member,
#include "packer/fact/facts.def"
};

/* Returns the fact that the column of report is; FACTS: it is none. */
static enum fact_id fact_of(const struct report_field *field)
{
    enum fact_id id = 0;

    while (id < FACTS && !(column[id].name && strcmp(column[id].name, field->name) == 0))
        id++;
    return id;
}

/* Prints the schema of a column of report, which may always be empty. Figures that stand for a
 * number of steps may be no whole ones any more. */
static void print_column(const struct report_field *field)
{
    enum fact_id id = fact_of(field);
    bool whole = id == FACTS || fact[id].kind == FACT_COUNT;
    const char *type = report_format_type(field);

    printf("report\t%s\t{\"type\": [\"%s\", \"null\"]", field->key,
           whole || strcmp(type, "integer") != 0 ? type : "number");
    if (id < FACTS)
        printf(", \"description\": \"%s\"", fact[id].help);
    puts("}");
}

static int print_columns(void)
{
    struct report_column *all;
    struct berth_error err;
    size_t n;

    if (report_columns_all(&all, &n, &err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        print_column(all[i].field);
    free(all);
    return 0;
}

/* Prints "PLACE KEY SCHEMA", with tabs, of each place where a fact is told. */
static int print_facts(void)
{
    char text[FACT_SCHEMA_MAX];

    for (enum fact_id id = 0; id < FACTS; id++) {
        fact_schema(id, text);
        if (fact[id].of[0])
            printf("explain.%s\t%s\t%s\n", fact[id].of, fact[id].key, text);
        for (const char *also = fact[id].also; also; also = strchr(also, ',')) {
            also += *also == ',';
            printf("explain.%.*s\t%s\t%s\n", (int)strcspn(also, ","), also, fact[id].key, text);
        }
        if (fact[id].status)
            printf("status\t%s\t%s\n", fact[id].key, text);
    }
    return print_columns();
}

/* Prints "WHERE NAME", the parts of one sentence: *n counts them. */
static void print_place(const char *where, const char *name, int *n)
{
    if (name)
        printf("%s%s\n.Ql %s", (*n)++ ? " ,\n" : "Elsewhere it is:\n", where, name);
}

/* Prints where else it is told than in explain. */
static void print_places(enum fact_id id)
{
    char metric[METRICS_NAME_MAX];
    int n = 0;

    if (series[id])
        metrics_sample_name(&metrics_family[series[id]], metric);
    print_place("in explain's", fact[id].also, &n);
    print_place("in status", fact[id].status && fact[id].of[0] ? fact[id].key : NULL, &n);
    print_place("in the ledger", kept[id], &n);
    print_place("in report", column[id].name, &n);
    print_place("in its JSON and CSV", column[id].key, &n);
    print_place("as a metric", series[id] ? metric : NULL, &n);
    fputs(n ? " .\n" : "", stdout);
}

static void print_facts_mdoc(void)
{
    for (enum fact_id id = 0; id < FACTS; id++) {
        printf(".It Ic %s%s%s\n", fact[id].of, fact[id].of[0] ? "." : "", fact[id].key);
        print_sentences(fact[id].help);
        print_places(id);
    }
}

int main(int argc, char **argv)
{
    struct conf conf;

    conf_init(&conf);
    if (argc == 2 && strcmp(argv[1], "conf") == 0)
        conf_print(&conf, stdout);
    else if (argc == 2 && strcmp(argv[1], "mdoc") == 0)
        conf_print_mdoc(stdout);
    else if (argc == 2 && strcmp(argv[1], "metrics") == 0)
        print_metrics(false);
    else if (argc == 2 && strcmp(argv[1], "metrics-mdoc") == 0)
        print_metrics(true);
    else if (argc == 2 && strcmp(argv[1], "facts") == 0)
        return print_facts() == 0 && fflush(stdout) == 0 ? 0 : 1;
    else if (argc == 2 && strcmp(argv[1], "facts-mdoc") == 0)
        print_facts_mdoc();
    else
        return fputs("usage: confdoc conf|mdoc|metrics|metrics-mdoc|facts|facts-mdoc\n", stderr), 2;
    return fflush(stdout) == 0 ? 0 : 1;
}
