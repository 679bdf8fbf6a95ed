/* SPDX-License-Identifier: GPL-2.0-or-later */
/* untold - see untold.h */
#include "packer/cli/find/untold.h"

#include <stdio.h>
#include <string.h>

#include "packer/base/text.h"
#include "enum_table.h"

static const struct {
    const char *sentence, *remedy;
} TABLE(rows, UNTOLDS) = {
#define UNTOLD(ID, sentence, remedy) ROW(UNTOLD_##ID) = {sentence, remedy},
#include "packer/cli/find/untold.def"
#undef UNTOLD
};
TABLE_COMPLETE(rows);

#define WHY_MAX 404 /* bytes: two errors; what is to be done has to have room behind them */
#define WORD_MAX 200

/* What stands for the words in braces. */
struct words {
    const char *name[5], *text[5];
};

static const char *text_of(const struct words *words, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(words->name) / sizeof(words->name[0]); i++)
        if (strlen(words->name[i]) == length && strncmp(words->name[i], name, length) == 0)
            return words->text[i];
    return "";
}

/* Appends a sentence with its words filled in. */
static void add(const char *sentence, const struct words *words, char *text, size_t size)
{
    while (*sentence) {
        size_t plain = strcspn(sentence, "{"), length;

        text_append(text, size, "%.*s", (int)plain, sentence);
        sentence += plain;
        if (!*sentence)
            return;
        length = strcspn(++sentence, "}");
        text_append(text, size, "%.*s", strncmp(sentence, "why}", 4) == 0 ? WHY_MAX : WORD_MAX,
                    text_of(words, sentence, length));
        sentence += length + 1;
    }
}

int untold_set(struct berth_error *err, enum untold reason, const struct typed *typed,
               const struct slurm_job *job, const char *why)
{
    const struct words words = {
        {"state", "nodes", "why", "verb", "name"},
        {job ? job->state : "", job ? job->node_list : "", why, typed->verb, typed->name}};

    err->text[0] = '\0';
    add(rows[reason].sentence, &words, err->text, sizeof(err->text));
    if (rows[reason].remedy[0])
        text_append(err->text, sizeof(err->text), "; ");
    add(rows[reason].remedy, &words, err->text, sizeof(err->text));
    return -1;
}
