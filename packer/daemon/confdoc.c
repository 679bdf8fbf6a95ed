/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confdoc - run by make, not installed: the table of conf.c as etc/berth.conf and as the list of
 * keys in berth.conf(5), so that neither can say something else than the parser; and likewise the
 * table of metrics/families.c, for berth-metrics(7), and for the test of the dashboard; and the
 * facts, for the schemas (doc/schemas/fill.awk). */
#include <stdio.h>
#include <string.h>

#include "packer/conf/conf.h"
#include "packer/fact/fact.h"
#include "packer/metrics/node.h"
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

/* Prints "PLACE KEY SCHEMA", with tabs, of each place where a fact is told. */
static void print_facts(void)
{
    for (enum fact_id id = 0; id < FACTS; id++) {
        if (fact[id].told & FACT_EXPLAIN)
            printf("explain.%s\t%s\t%s\n", fact[id].of, fact[id].key, fact_schema(id));
        if (fact[id].told & FACT_STATUS)
            printf("status\t%s\t%s\n", fact[id].key, fact_schema(id));
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
        print_facts();
    else
        return fputs("usage: confdoc conf|mdoc|metrics|metrics-mdoc|facts\n", stderr), 2;
    return fflush(stdout) == 0 ? 0 : 1;
}
