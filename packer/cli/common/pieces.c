/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pieces - see pieces.h. A line: "berthctl-piece FROM NUMBER COUNT TEXT". */
#include "packer/cli/common/pieces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"

#define PIECE "berthctl-piece"
#define PIECES_MOST 65536 /* of an answer: 26 MB */

/* ---- written ---- */

/* Writes who says it: tasks of a step on different nodes may have the same number of process. */
static void own_name(char from[PIECES_FROM_MAX])
{
    const char *task = getenv("SLURM_PROCID");

    snprintf(from, PIECES_FROM_MAX, "%u.%" PRIdMAX, task ? (unsigned)strtoul(task, NULL, 10) : 0,
             (intmax_t)getpid());
}

int pieces_print(struct json_object *value)
{
    const char *text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
    size_t length = text ? strlen(text) : 0, count = (length + PIECE_BYTES - 1) / PIECE_BYTES;
    char from[PIECES_FROM_MAX];
    bool written;

    own_name(from);
    for (size_t i = 0; i < count; i++)
        printf(PIECE " %s %zu %zu %.*s\n", from, i, count, PIECE_BYTES, text + i * PIECE_BYTES);
    json_object_put(value);
    written = count > 0 && fflush(stdout) == 0 && !ferror(stdout);
    return written ? 0 : ctl_fail("stdout", "%m");
}

/* ---- heard ---- */

static struct pieces *find_from(struct pieces *all, size_t max, const char *from)
{
    for (size_t i = 0; i < max; i++)
        if (!all[i].from[0] || strcmp(all[i].from, from) == 0)
            return &all[i];
    return NULL;
}

static bool append(struct pieces *pieces, const char *text)
{
    size_t more = strlen(text);
    char *longer = realloc(pieces->text, pieces->length + more + 1);

    if (!longer)
        return false;
    memcpy(longer + pieces->length, text, more + 1);
    pieces->text = longer;
    pieces->length += more;
    return true;
}

bool pieces_take(struct pieces *all, size_t max, const char *line)
{
    char from[PIECES_FROM_MAX];
    struct pieces *pieces;
    size_t number, count;
    int at = 0;

    if (sscanf(line, PIECE " %31s %zu %zu%n", from, &number, &count, &at) != 3 || line[at] != ' ' ||
        count > PIECES_MOST || !(pieces = find_from(all, max, from)))
        return false;
    memcpy(pieces->from, from, sizeof(from));
    pieces->count = count;
    if (number == pieces->next && append(pieces, line + at + 1))
        pieces->next++;
    return true;
}

struct json_object *pieces_value(struct pieces *pieces)
{
    bool whole = pieces->count > 0 && pieces->next == pieces->count;
    struct json_object *value = whole ? json_parse(pieces->text, pieces->length, NULL) : NULL;

    free(pieces->text);
    *pieces = (struct pieces){0};
    return value;
}
