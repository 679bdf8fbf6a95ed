/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact - see fact.h */
#include "packer/fact/fact.h"

#include <math.h>
#include <string.h>

#include "packer/base/json.h"
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
    if (!is_whole(fact[id].kind))
        json_add_measure(object, fact[id].key, value);
    else
        json_add(object, fact[id].key, value >= 0 ? json_object_new_uint64((uint64_t)value) : NULL);
}

bool fact_is_told(enum fact_id id, unsigned where, const char *of)
{
    return (fact[id].told & where) && (where != FACT_EXPLAIN || strcmp(fact[id].of, of) == 0);
}

const char *fact_schema(enum fact_id id)
{
    static const char *const type[2][2] = {
        {"{\"type\": [\"number\", \"null\"]}", "{\"type\": \"number\"}"},
        {"{\"type\": [\"integer\", \"null\"]}", "{\"type\": \"integer\"}"}};

    return type[is_whole(fact[id].kind)][fact[id].always];
}
