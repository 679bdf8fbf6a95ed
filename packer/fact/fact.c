/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact - see fact.h */
#include "packer/fact/fact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/text.h"
#include "enum_table.h"

#define FACT(ID, key, kind, of, value, help, ...) const char fact_help_##ID[] = help;
#include "packer/fact/facts.def"

const struct fact TABLE(fact, FACTS) = {
#define FACT(ID, name, unit, object, value, text, ...)                                             \
    ROW(FACT_##ID) = {                                                                             \
        .key = #name, .of = (object), .help = (text), .kind = FACT_##unit, __VA_ARGS__},
#include "packer/fact/facts.def"
};
TABLE_COMPLETE(fact);

static bool is_whole(enum fact_kind kind)
{
    return kind == FACT_COUNT || kind == FACT_KIB;
}

void fact_add(struct json_object *object, enum fact_id id, double value)
{
    const char *key = fact[id].key;

    if (fact[id].kind == FACT_FOUR)
        json_add(object, key, NULL);
    else if (fact[id].kind == FACT_SIGNED)
        json_add_number(object, key, value);
    else if (fact[id].kind == FACT_FLAG)
        json_add(object, key, isnan(value) ? NULL : json_object_new_boolean(value > 0));
    else if (!is_whole(fact[id].kind))
        json_add_measure(object, key, value);
    else
        json_add(object, key, value >= 0 ? json_object_new_uint64((uint64_t)value) : NULL);
}

/* Most are told elsewhere: the first letter mostly says so. */
static bool is_told(const struct fact *its, const char *of)
{
    if (!of)
        return its->status;
    return (its->of[0] == of[0] && strcmp(its->of, of) == 0) ||
           (its->also && text_lists(its->also, of));
}

enum fact_id fact_next(const char *of, enum fact_id id)
{
    while (id < FACTS && !is_told(&fact[id], of))
        id++;
    return id;
}

bool fact_is_of_others(const char *of)
{
    for (enum fact_id id = fact_next(of, 0); id < FACTS; id = fact_next(of, id + 1))
        if (fact[id].who != FACT_ROOT)
            return false;
    return true;
}

void fact_add_word(struct json_object *object, enum fact_id id, const char *text)
{
    const struct fact *of = &fact[id];
    bool known = text && (text[0] || of->always || of->kind == FACT_CPU_LIST);

    json_add_text(object, of->key, known ? text : NULL);
}

/* Returns what a JSON Schema calls its kind. */
static const char *fact_type(enum fact_id id)
{
    switch (fact[id].kind) {
    case FACT_FLAG:
        return "boolean";
    case FACT_TEXT:
    case FACT_CPU_LIST:
        return "string";
    default:
        return is_whole(fact[id].kind) ? "integer" : "number";
    }
}

const char *fact_schema(enum fact_id id, char text[FACT_SCHEMA_MAX])
{
    const struct fact *of = &fact[id];
    bool always = of->always || of->kind == FACT_CPU_LIST;
    int used;

    if (of->kind == FACT_CACHES)
        used = snprintf(text, FACT_SCHEMA_MAX,
                        "{\"type\": \"array\", \"items\": {\"type\": \"integer\"}");
    else if (of->kind == FACT_FOUR)
        used = snprintf(text, FACT_SCHEMA_MAX,
                        "{\"type\": [\"array\", \"null\"], \"items\": {\"type\": [\"number\", "
                        "\"null\"]}, \"minItems\": 4, \"maxItems\": 4");
    else if (of->words)
        used =
            snprintf(text, FACT_SCHEMA_MAX, "{\"enum\": [%s%s]", of->words, always ? "" : ", null");
    else if (always)
        used = snprintf(text, FACT_SCHEMA_MAX, "{\"type\": \"%s\"", fact_type(id));
    else
        used = snprintf(text, FACT_SCHEMA_MAX, "{\"type\": [\"%s\", \"null\"]", fact_type(id));
    snprintf(text + used, FACT_SCHEMA_MAX - (size_t)used, ", \"description\": \"%s\"}", of->help);
    return text;
}
