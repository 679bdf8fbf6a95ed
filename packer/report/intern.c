/* SPDX-License-Identifier: GPL-2.0-or-later */
/* intern - see intern.h: a tree of texts (tsearch(3)). */
#include "packer/report/intern.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct report_intern {
    void *root; /* of char *, which the tree owns */
};

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

struct report_intern *report_intern_new(void)
{
    return calloc(1, sizeof(struct report_intern));
}

void report_intern_free(struct report_intern *words)
{
    if (words)
        tdestroy(words->root, free);
    free(words);
}

const char *report_intern_keep(struct report_intern *words, const char *text)
{
    char *const *kept = tfind(text, &words->root, compare);
    char *copy;

    if (!*text)
        return "";
    if (kept)
        return *kept;
    copy = strdup(text);
    if (copy && tsearch(copy, &words->root, compare))
        return copy;
    free(copy);
    return NULL;
}
