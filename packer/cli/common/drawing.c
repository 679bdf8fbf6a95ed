/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drawing - see drawing.h: the machine as text. */
#include "packer/cli/common/drawing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/base/text.h"

#define BOX_LEAST 38 /* columns: what a box and the gap behind it take, where there is room */
#define BOX_FLOOR 30 /* and where there is none: what is beyond the screen is not shown */
#define BOX_MOST 58  /* wider, nothing is gained */
#define BOXES_A_ROW 16
#define GAP 2
#define BAR_LEAST 6 /* columns of a bar */
#define BAR_MOST 14
#define SHOWN 8 /* who is on one cache, by name */
#define WIDE_WITHOUT_TERMINAL 100

/* ---- the machine ---- */

int drawing_new(struct drawing *drawing, size_t caches)
{
    drawing->cache = calloc(caches + 1, sizeof(*drawing->cache));
    drawing->n = drawing->cache ? caches : 0;
    return drawing->cache ? 0 : -1;
}

void drawing_free(struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->n; i++)
        free(drawing->cache[i].who);
    free(drawing->cache);
}

int drawing_add(struct drawing_cache *cache, const struct cpus *cache_cpus, const struct cpus *cpus,
                const struct drawing_who *who)
{
    size_t threads = cache->cores ? cpus_count(cache_cpus) / cache->cores : 1;
    struct cpus here = *cpus;

    cpus_and(&here, cache_cpus);
    if (cpus_empty(&here))
        return 0;
    if (array_grow(&cache->who, &cache->room, cache->n + 1, sizeof(*who)) < 0)
        return -1;
    threads += threads == 0;
    cache->who[cache->n] = *who;
    cache->who[cache->n++].cores = (cpus_count(&here) + threads - 1) / threads;
    return 0;
}

/* ---- as text ---- */

/* The pieces that boxes are made of. */
struct pieces {
    const char *across, *down, *corner[4]; /* top left, top right, bottom left, bottom right */
};

static const struct pieces ascii = {"-", "|", {"+", "+", "+", "+"}};
static const struct pieces lines = {
    "\xe2\x94\x80",
    "\xe2\x94\x82",
    {"\xe2\x94\x8c", "\xe2\x94\x90", "\xe2\x94\x94", "\xe2\x94\x98"}};

/* Is a box: one cache, or several of a package on which nobody stands. */
struct box {
    const struct drawing_cache *cache;
    size_t caches;
    size_t left, wide; /* columns */
};

static void put_times(struct screen *screen, const char *piece, size_t until)
{
    size_t length = strlen(piece), used = 0;
    char text[1024];

    for (size_t i = screen->at; i < until && used + length < sizeof(text); i++, used += length)
        stpcpy(text + used, piece);
    screen_put(screen, SCREEN_FAINT, "%.*s", (int)used, text);
}

static bool is_same(const struct drawing_cache *a, const struct drawing_cache *b)
{
    return b->n == 0 && b->used == 0 && a->package == b->package && a->cores == b->cores &&
           a->others == b->others;
}

/* Returns how many caches from this one on go into one box. */
static size_t alike(const struct drawing *drawing, size_t from)
{
    const struct drawing_cache *first = &drawing->cache[from];
    size_t n = 1;

    while (first->n == 0 && first->used == 0 && from + n < drawing->n &&
           is_same(first, &drawing->cache[from + n]))
        n++;
    return n;
}

static void put_top(struct screen *screen, const struct pieces *piece, const struct box *box)
{
    const struct drawing_cache *cache = box->cache;
    size_t free_cores = cache->cores - cache->used - cache->others;
    char room[64];

    if (cache->others == cache->cores)
        snprintf(room, sizeof(room), " none in the pool ");
    else
        snprintf(room, sizeof(room), " %zu free ", box->caches * free_cores);
    screen_put(screen, SCREEN_FAINT, "%s%s", piece->corner[0], piece->across);
    if (box->caches > 1)
        screen_put(screen, SCREEN_STRONG, " caches %zu-%zu%s", cache->number,
                   cache->number + box->caches - 1, cache->size_bytes ? ", " : " ");
    else
        screen_put(screen, SCREEN_STRONG, " cache %zu%s", cache->number,
                   cache->size_bytes ? ", " : " ");
    if (cache->size_bytes)
        screen_put(screen, SCREEN_FAINT, "%.4g MiB ", (double)cache->size_bytes / (1 << 20));
    put_times(screen, piece->across, box->left + box->wide - 2 - (cache->known ? strlen(room) : 0));
    if (cache->known)
        screen_put(screen, free_cores ? SCREEN_GOOD : SCREEN_FAINT, "%s", room);
    screen_put(screen, SCREEN_FAINT, "%s%s", piece->across, piece->corner[1]);
}

static void put_bottom(struct screen *screen, const struct pieces *piece, const struct box *box)
{
    screen_put(screen, SCREEN_FAINT, "%s", piece->corner[2]);
    put_times(screen, piece->across, box->left + box->wide - 1);
    screen_put(screen, SCREEN_FAINT, "%s", piece->corner[3]);
}

/* Puts one who is there: the name to the left, the cores and what it suffers to the right; that in
 * fewer words where there is no room for both. */
static void put_who(struct screen *screen, const struct drawing_who *who, size_t until)
{
    size_t name = text_columns(who->name, strlen(who->name)), wide, room;
    const char *slower =
        screen->at + name + sizeof("999 cores, ~99 % slower") > until ? "" : " slower";
    char right[64], percent[32];

    snprintf(right, sizeof(right), "%zu core%s", who->cores, who->cores == 1 ? "" : "s");
    wide = strlen(right);
    if (!isnan(who->slowdown))
        snprintf(right + wide, sizeof(right) - wide, ", %s%s%s", who->predicted ? "~" : "",
                 screen_percent(who->slowdown, percent), slower);
    wide = strlen(right);
    room = until > screen->at + wide + 1 ? until - screen->at - wide - 1 : 1;
    screen_put(screen, who->style, "%.*s", (int)text_fit(who->name, room), who->name);
    screen_tab(screen, until - wide);
    screen_put(screen, SCREEN_PLAIN, "%s", right);
}

/* Puts how much of the cache is in use, and a bar where there is room for it. */
static void put_foot(struct screen *screen, const struct box *box)
{
    const struct drawing_cache *cache = box->cache;
    size_t room = box->left + box->wide - 2 - screen->at, bar_wide;
    char line[128], bar[256], percent[32];

    if (box->caches > 1)
        snprintf(line, sizeof(line), "%s%zu core%s each", cache->others ? "" : "nobody, ",
                 cache->cores, cache->cores == 1 ? "" : "s");
    else
        snprintf(line, sizeof(line), "%s%zu of %zu, %s", cache->known ? "" : "yours: ", cache->used,
                 cache->cores, screen_percent((double)cache->used / (double)cache->cores, percent));
    if (cache->others && cache->others < cache->cores)
        snprintf(line + strlen(line), sizeof(line) - strlen(line), ", %zu outside the pool",
                 cache->others);
    bar_wide = room > strlen(line) + 1 ? room - strlen(line) - 1 : 0;
    if (bar_wide >= BAR_LEAST && box->caches == 1)
        screen_put(screen, SCREEN_PLAIN, "%s ",
                   screen_bar(screen, (double)cache->used, (double)cache->cores,
                              bar_wide < BAR_MOST ? bar_wide : BAR_MOST, bar));
    screen_put(screen, SCREEN_PLAIN, "%s", line);
}

static size_t height(const struct box *box)
{
    return (box->cache->n > SHOWN ? SHOWN + 1 : box->cache->n) + 1;
}

/* Puts line `at` of a box that is `high` lines high between its borders. */
static void put_inside(struct screen *screen, const struct pieces *piece, const struct box *box,
                       size_t at, size_t high)
{
    const struct drawing_cache *cache = box->cache;
    size_t until = box->left + box->wide - 2;

    screen_put(screen, SCREEN_FAINT, "%s ", piece->down);
    if (at + 1 == high)
        put_foot(screen, box);
    else if (at < cache->n && at < SHOWN)
        put_who(screen, &cache->who[at], until);
    else if (at == SHOWN && cache->n > SHOWN)
        screen_put(screen, SCREEN_FAINT, "and %zu more", cache->n - SHOWN);
    screen_tab(screen, until + 1);
    screen_put(screen, SCREEN_FAINT, "%s", piece->down);
}

/* Puts boxes beside each other. */
static void put_row(struct screen *screen, const struct box *box, size_t n)
{
    const struct pieces *piece = screen->utf8 ? &lines : &ascii;
    size_t high = 1;

    for (size_t i = 0; i < n; i++)
        high = height(&box[i]) > high ? height(&box[i]) : high;
    for (size_t line = 0; line < high + 2; line++) {
        for (size_t i = 0; i < n; i++) {
            screen_tab(screen, box[i].left);
            if (line == 0)
                put_top(screen, piece, &box[i]);
            else if (line == high + 1)
                put_bottom(screen, piece, &box[i]);
            else
                put_inside(screen, piece, &box[i], line - 1, high);
        }
        screen_end(screen);
    }
}

/* Puts a package's title: how many of its cores are in use. */
static void put_package(struct screen *screen, const struct drawing *drawing, size_t from)
{
    size_t package = drawing->cache[from].package, cores = 0, used = 0;
    bool known = true;
    char percent[32];

    for (size_t i = from; i < drawing->n && drawing->cache[i].package == package; i++) {
        cores += drawing->cache[i].cores;
        used += drawing->cache[i].used;
        known = known && drawing->cache[i].known;
    }
    screen_put(screen, SCREEN_STRONG, "package %zu", package);
    screen_put(screen, SCREEN_PLAIN, ": %s%zu of %zu cores in use, %s", known ? "" : "yours ", used,
               cores, screen_percent((double)used / (double)cores, percent));
    screen_end(screen);
}

/* Puts a package's boxes, as many beside each other as there is room for. Returns where the next
 * package begins. */
static size_t put_boxes(struct screen *screen, const struct drawing *drawing, size_t from)
{
    size_t columns = screen->columns ? screen->columns : WIDE_WITHOUT_TERMINAL;
    size_t most = (columns + GAP) / BOX_LEAST, wide, n = 0, boxes = 0, i, caches;
    struct box box[BOXES_A_ROW];

    for (i = from; i < drawing->n && drawing->cache[i].package == drawing->cache[from].package;
         i += alike(drawing, i))
        boxes++;
    most = most > boxes ? boxes : most;
    most = most < 1 ? 1 : most > BOXES_A_ROW ? BOXES_A_ROW : most;
    wide = (columns - GAP * (most - 1)) / most;
    wide = wide < BOX_FLOOR ? BOX_FLOOR : wide > BOX_MOST ? BOX_MOST : wide;
    for (i = from; boxes-- > 0; i += caches) {
        caches = alike(drawing, i);
        box[n] = (struct box){&drawing->cache[i], caches, n * (wide + GAP), wide};
        if (++n == most || boxes == 0) {
            put_row(screen, box, n);
            n = 0;
        }
    }
    return i;
}

void drawing_put(const struct drawing *drawing, struct screen *screen)
{
    for (size_t i = 0; i < drawing->n;) {
        put_package(screen, drawing, i);
        i = put_boxes(screen, drawing, i);
    }
}
