/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drawing_svg - draws a machine as SVG (drawing.h): a frame for each package, in it a box for each
 * last-level cache, in that a square for each core, coloured by who stands there, and their names.
 *
 * The picture needs nothing but itself, and follows the reader's choice of light or dark. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/file.h"
#include "packer/base/text.h"
#include "packer/cli/common/drawing.h"

/* Lengths in pixels. */
#define WIDE 1000
#define MARGIN 16
#define BOX_WIDE 308
#define BOX_GAP 12
#define BOXES_A_ROW 3
#define LINE 18
#define CORE 14
#define CORES_A_ROW 16
#define COLOURS 8
#define NAME_CHARACTERS 20 /* that fit beside the figures */

static const char head[] =
    "<style>\n"
    "text{font:13px ui-sans-serif,system-ui,'DejaVu Sans',sans-serif;fill:#1c2430}\n"
    ".title{font-size:17px;font-weight:600}.strong{font-weight:600}.faint{fill:#5a6675}\n"
    ".end{text-anchor:end}.back{fill:#fff}.package{fill:#f3f5f8;stroke:#c9d1dc}\n"
    ".cache{fill:#fff;stroke:#9aa7b8}.free{fill:#fff;stroke:#9aa7b8}\n"
    ".others{fill:#dfe4ea;stroke:#9aa7b8}.bad{fill:#b3261e}\n"
    ".c0{fill:#0072b2}.c1{fill:#e69f00}.c2{fill:#009e73}.c3{fill:#cc79a7}\n"
    ".c4{fill:#56b4e9}.c5{fill:#d55e00}.c6{fill:#8a6fdf}.c7{fill:#7f7f7f}\n"
    "@media (prefers-color-scheme:dark){text{fill:#e6ebf2}.faint{fill:#9fadc0}\n"
    ".back{fill:#12161c}.package{fill:#1a2029;stroke:#39465a}\n"
    ".cache,.free{fill:#12161c;stroke:#56657c}.others{fill:#39465a;stroke:#56657c}\n"
    ".bad{fill:#ff8a80}}\n"
    "</style>\n";

static size_t core_rows(const struct drawing_cache *cache)
{
    return (cache->cores + CORES_A_ROW - 1) / CORES_A_ROW;
}

static size_t box_high(const struct drawing_cache *cache)
{
    return LINE * (cache->n + 2) + core_rows(cache) * (CORE + 3) + 20;
}

/* Writes one text at x, y. */
static void put_text(FILE *out, size_t x, size_t y, const char *class, const char *text)
{
    fprintf(out, "<text x=\"%zu\" y=\"%zu\" class=\"%s\">", x, y, class);
    text_put_markup(out, text);
    fputs("</text>\n", out);
}

/* Writes a square for each core: of who stands there, of others, free. */
static void put_cores(FILE *out, const struct drawing_cache *cache, size_t x, size_t y)
{
    size_t who = 0, left = cache->n ? cache->who[0].cores : 0;

    for (size_t i = 0; i < cache->cores; i++) {
        char class[16] = "free";

        while (left == 0 && who + 1 < cache->n)
            left = cache->who[++who].cores;
        if (left > 0) {
            left--;
            snprintf(class, sizeof(class), "c%zu", cache->who[who].colour);
        } else if (i < cache->used + cache->others) {
            snprintf(class, sizeof(class), "others");
        }
        fprintf(
            out, "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\" rx=\"2\" class=\"%s\"/>\n",
            x + i % CORES_A_ROW * (CORE + 3), y + i / CORES_A_ROW * (CORE + 3), CORE, CORE, class);
    }
}

static void put_who(FILE *out, const struct drawing_who *who, size_t x, size_t y)
{
    char text[DRAWING_NAME_MAX + 8], percent[32];
    bool whole = text_columns(who->name, strlen(who->name)) <= NAME_CHARACTERS;

    fprintf(out, "<rect x=\"%zu\" y=\"%zu\" width=\"10\" height=\"10\" rx=\"2\" class=\"c%zu\"/>\n",
            x, y - 10, who->colour);
    snprintf(text, sizeof(text), "%.*s%s", (int)text_fit(who->name, NAME_CHARACTERS), who->name,
             whole ? "" : "\xe2\x80\xa6");
    put_text(out, x + 16, y, who->style == SCREEN_BAD ? "bad" : "", text);
    snprintf(text, sizeof(text), "%zu core%s%s%s", who->cores, who->cores == 1 ? "" : "s",
             isnan(who->slowdown) ? ""
             : who->predicted     ? ", ~"
                                  : ", ",
             isnan(who->slowdown) ? "" : screen_percent(who->slowdown, percent));
    put_text(out, x + BOX_WIDE - 20, y, "faint end", text);
}

static void put_cache(FILE *out, const struct drawing_cache *cache, size_t x, size_t y, size_t high)
{
    char text[160], percent[32];
    size_t at = y + LINE + 2;

    fprintf(out,
            "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%zu\" rx=\"6\" class=\"cache\"/>\n", x,
            y, BOX_WIDE, high);
    snprintf(text, sizeof(text), "cache %zu", cache->number);
    put_text(out, x + 10, at, "strong", text);
    if (cache->size_bytes)
        snprintf(text, sizeof(text), "%.4g MiB", (double)cache->size_bytes / (1 << 20));
    if (cache->size_bytes)
        put_text(out, x + 80, at, "faint", text);
    snprintf(text, sizeof(text), "%s%zu of %zu, %s", cache->known ? "" : "yours: ", cache->used,
             cache->cores, screen_percent((double)cache->used / (double)cache->cores, percent));
    put_text(out, x + BOX_WIDE - 10, at, "end", text);
    put_cores(out, cache, x + 10, at + 10);
    at += 10 + core_rows(cache) * (CORE + 3) + LINE;
    for (size_t i = 0; i < cache->n; i++, at += LINE)
        put_who(out, &cache->who[i], x + 10, at - 2);
    if (cache->known)
        snprintf(text, sizeof(text), "%zu free%s", cache->cores - cache->used - cache->others,
                 cache->others ? ", " : "");
    else
        text[0] = '\0';
    if (cache->others)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%zu outside the pool",
                 cache->others);
    put_text(out, x + 10, at - 2, "faint", text);
}

/* Returns how many caches from this one on are in its row, and how high it is. */
static size_t row_of(const struct drawing *drawing, size_t from, size_t *high)
{
    size_t n = 0;

    *high = 0;
    for (size_t i = from; i < drawing->n && n < BOXES_A_ROW &&
                          drawing->cache[i].package == drawing->cache[from].package;
         i++, n++)
        *high = box_high(&drawing->cache[i]) > *high ? box_high(&drawing->cache[i]) : *high;
    return n;
}

/* Returns where the package that begins at this cache ends; *high pixels are what it takes. */
static size_t package_end(const struct drawing *drawing, size_t from, size_t *high)
{
    size_t i = from, row;

    *high = LINE + 16;
    while (i < drawing->n && drawing->cache[i].package == drawing->cache[from].package) {
        i += row_of(drawing, i, &row);
        *high += row + BOX_GAP;
    }
    return i;
}

static void put_package(FILE *out, const struct drawing *drawing, size_t from, size_t to, size_t y,
                        size_t high)
{
    char text[64];
    size_t row;

    fprintf(out,
            "<rect x=\"%d\" y=\"%zu\" width=\"%d\" height=\"%zu\" rx=\"8\" class=\"package\"/>\n",
            MARGIN, y, WIDE - 2 * MARGIN, high);
    snprintf(text, sizeof(text), "package %zu", drawing->cache[from].package);
    put_text(out, MARGIN + 12, y + LINE + 2, "strong", text);
    y += LINE + 14;
    for (size_t i = from, n; i < to; i += n, y += row + BOX_GAP) {
        n = row_of(drawing, i, &row);
        for (size_t j = 0; j < n; j++)
            put_cache(out, &drawing->cache[i + j], MARGIN + 12 + j * (BOX_WIDE + BOX_GAP), y, row);
    }
}

/* Returns the colour of who has that name in the caches before `end`; COLOURS: nobody has. */
static size_t colour_of(const struct drawing *drawing, const struct drawing_who *end)
{
    for (size_t i = 0; i < drawing->n; i++)
        for (size_t j = 0; j < drawing->cache[i].n; j++) {
            const struct drawing_who *who = &drawing->cache[i].who[j];

            if (who == end)
                return COLOURS;
            if (strcmp(who->name, end->name) == 0)
                return who->colour;
        }
    return COLOURS;
}

/* Gives each name a colour, the same one in all caches; after COLOURS names they come again. */
static void choose_colours(const struct drawing *drawing)
{
    size_t next = 0;

    for (size_t i = 0; i < drawing->n; i++)
        for (size_t j = 0; j < drawing->cache[i].n; j++) {
            struct drawing_who *who = &drawing->cache[i].who[j];

            who->colour = colour_of(drawing, who);
            if (who->colour == COLOURS)
                who->colour = next++ % COLOURS;
        }
}

static bool has_slowdowns(const struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->n; i++)
        for (size_t j = 0; j < drawing->cache[i].n; j++)
            if (!isnan(drawing->cache[i].who[j].slowdown))
                return true;
    return false;
}

static void put_svg(FILE *out, const struct drawing *drawing)
{
    bool percents = has_slowdowns(drawing);
    size_t top = 2 * MARGIN + LINE + (percents ? LINE : 0), high = top, package;

    for (size_t i = 0; i < drawing->n; high += package + MARGIN)
        i = package_end(drawing, i, &package);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
            "viewBox=\"0 0 %d %zu\" role=\"img\">\n<title>",
            WIDE, high, WIDE, high);
    text_put_markup(out, drawing->title);
    fprintf(out, "</title>\n%s<rect width=\"%d\" height=\"%zu\" class=\"back\"/>\n", head, WIDE,
            high);
    put_text(out, MARGIN, MARGIN + 14, "title", drawing->title);
    if (percents)
        put_text(out, MARGIN, MARGIN + 14 + LINE, "faint",
                 "percent at a name: slower than alone, with ~ predicted");
    high = top;
    for (size_t i = 0, to; i < drawing->n; i = to, high += package + MARGIN) {
        to = package_end(drawing, i, &package);
        put_package(out, drawing, i, to, high, package);
    }
    fputs("</svg>\n", out);
}

int drawing_write_svg(const struct drawing *drawing, const char *path, struct berth_error *err)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    bool to_stdout = strcmp(path, "-") == 0;
    int rc = 0;

    choose_colours(drawing);
    if (out)
        put_svg(out, drawing);
    if (!out || fclose(out) != 0 || (!to_stdout && file_replace(path, 0644, 0, text, length) < 0))
        rc = berth_error_set(err, "%s", strerror(errno));
    else if (to_stdout)
        fwrite(text, 1, length, stdout);
    free(text);
    return rc;
}
