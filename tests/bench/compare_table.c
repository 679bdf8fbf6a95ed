/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compare_table [--json] FIGURES SAMPLES REASONS - the table of tests/bench/compare.
 *
 * FIGURES: lines "KEY|LABEL|UNIT|less or more|exact or by chance", in their order. SAMPLES: "SIDE
 * ROUND KEY VALUE", the side rev or head. REASONS: "SIDE KEY TEXT" for figures without samples. */
#include "tests/bench/compare_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"

#define FIGURES_MAX 64

static struct compare_figure figure[FIGURES_MAX];
static size_t figures;

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "r");

    if (file)
        return file;
    fprintf(stderr, "compare_table: %s: %s\n", path, strerror(errno));
    exit(1);
}

static void read_figures(const char *path)
{
    FILE *file = open_file(path);
    char better[16], exact[16];

    for (struct compare_figure *at = figure; figures < FIGURES_MAX; at = &figure[++figures]) {
        if (fscanf(file, " %47[^|]|%63[^|]|%7[^|]|%15[^|]|%15[^\n]", at->key, at->label, at->unit,
                   better, exact) != 5)
            break;
        at->more = strcmp(better, "more") == 0;
        at->exact = strcmp(exact, "exact") == 0;
    }
    fclose(file);
}

/* NULL: a figure that is not asked for. */
static struct compare_figure *find(const char *key)
{
    for (size_t i = 0; i < figures; i++)
        if (strcmp(figure[i].key, key) == 0)
            return &figure[i];
    return NULL;
}

static enum compare_side side_named(const char *name)
{
    return strcmp(name, "head") == 0 ? COMPARE_HEAD : COMPARE_REV;
}

static void read_samples(const char *path)
{
    FILE *file = open_file(path);
    char side[16], key[48];
    unsigned round;
    double value;

    while (fscanf(file, "%15s %u %47s %lf", side, &round, key, &value) == 4) {
        struct compare_figure *of = find(key);

        if (of && round < COMPARE_ROUNDS_MAX)
            compare_add(&of->of[side_named(side)][round], value);
    }
    fclose(file);
}

static void read_reasons(const char *path)
{
    FILE *file = open_file(path);
    char side[16], key[48], text[256];

    while (fscanf(file, "%15s %47s %255[^\n]%*[^\n]", side, key, text) == 3) {
        struct compare_figure *of = find(key);

        if (of)
            snprintf(of->reason[side_named(side)], sizeof(text), "%s", text);
    }
    fclose(file);
}

/* ---- the table ---- */

static void print_number(double value)
{
    if (isnan(value))
        printf(" %9s", "-");
    else if (fabs(value) >= 1000)
        printf(" %9.0f", value);
    else
        printf(" %9.*f", fabs(value) >= 100 ? 1 : fabs(value) >= 10 ? 2 : 3, value);
}

static void print_verdict(const struct compare_verdict *verdict)
{
    print_number(verdict->value[COMPARE_REV]);
    print_number(verdict->value[COMPARE_HEAD]);
    if (isnan(verdict->ratio))
        printf(" %6s", "-");
    else
        printf(" %6.2f", verdict->ratio);
}

static bool has_p99(const struct compare_figure *of)
{
    return compare_count(of, COMPARE_REV) >= COMPARE_P99_LEAST &&
           compare_count(of, COMPARE_HEAD) >= COMPARE_P99_LEAST;
}

static void print_row(struct compare_figure *of)
{
    static const struct compare_verdict none = {{NAN, NAN}, NAN, NAN, false};
    struct compare_verdict median = compare_quantile(of, 0.5),
                           p99 = has_p99(of) ? compare_quantile(of, 0.99) : none;

    printf("%-38s %-4s", of->label, strcmp(of->unit, "-") == 0 ? "" : of->unit);
    print_verdict(&median);
    print_verdict(&p99);
    if (median.worse || p99.worse)
        printf("  %s%s%s", median.worse ? "worse" : "", median.worse && p99.worse ? ", " : "",
               p99.worse ? "p99 worse" : "");
    for (int side = 0; side < COMPARE_SIDES; side++)
        if (of->reason[side][0])
            printf("  %s: %s", side == COMPARE_REV ? "REV" : "HEAD", of->reason[side]);
    putchar('\n');
}

static void print_table(void)
{
    printf("%-38s %-4s %9s %9s %6s %9s %9s %6s\n", "", "", "REV", "HEAD", "ratio", "REV p99",
           "HEAD p99", "ratio");
    for (size_t i = 0; i < figures; i++)
        print_row(&figure[i]);
}

/* ---- JSON ---- */

static void add_verdict(struct json_object *object, const char *name,
                        const struct compare_verdict *verdict)
{
    struct json_object *of = json_object_new_object();

    json_add_number(of, "rev", verdict->value[COMPARE_REV]);
    json_add_number(of, "head", verdict->value[COMPARE_HEAD]);
    json_add_number(of, "ratio", verdict->ratio);
    json_add_number(of, "p", verdict->p);
    json_add_bool(of, "worse", verdict->worse);
    json_add(object, name, of);
}

static struct json_object *row_json(struct compare_figure *of)
{
    struct json_object *object = json_object_new_object();
    struct compare_verdict median = compare_quantile(of, 0.5), p99;

    json_add_text(object, "figure", of->key);
    json_add_text(object, "label", of->label);
    json_add_text(object, "unit", strcmp(of->unit, "-") == 0 ? "" : of->unit);
    json_add_text(object, "better", of->more ? "more" : "less");
    add_verdict(object, "median", &median);
    if (has_p99(of)) {
        p99 = compare_quantile(of, 0.99);
        add_verdict(object, "p99", &p99);
    }
    if (of->reason[COMPARE_REV][0])
        json_add_text(object, "rev_lacks", of->reason[COMPARE_REV]);
    if (of->reason[COMPARE_HEAD][0])
        json_add_text(object, "head_lacks", of->reason[COMPARE_HEAD]);
    return object;
}

static void print_json(void)
{
    struct json_object *rows = json_object_new_array();

    for (size_t i = 0; i < figures; i++)
        json_object_array_add(rows, row_json(&figure[i]));
    puts(json_object_to_json_string_ext(rows, JSON_C_TO_STRING_PLAIN));
    json_object_put(rows);
}

int main(int argc, char **argv)
{
    bool json = argc > 1 && strcmp(argv[1], "--json") == 0;

    if (argc != 4 + json) {
        fputs("usage: compare_table [--json] FIGURES SAMPLES REASONS\n", stderr);
        return 2;
    }
    read_figures(argv[1 + json]);
    read_samples(argv[2 + json]);
    read_reasons(argv[3 + json]);
    if (json)
        print_json();
    else
        print_table();
    return 0;
}
