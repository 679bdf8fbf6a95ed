/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drawing - draws a machine: its packages, in them a box for each last-level cache with who is in
 * it and how much room is free; as text for a terminal, as SVG for a browser. */
#ifndef BERTH_CLI_COMMON_DRAWING_H
#define BERTH_CLI_COMMON_DRAWING_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/cli/common/screen.h"

#define DRAWING_NAME_MAX 160

/* Is one who stands on a cache. */
struct drawing_who {
    char name[DRAWING_NAME_MAX]; /* "4711.0 solver" */
    size_t cores;                /* of the cache */
    double slowdown;             /* by how much slower than alone, as a fraction; NAN not known */
    bool predicted;              /* that is not measured */
    size_t colour;               /* in a picture: drawing_write_svg sets it */
    enum screen_style style;     /* of its name */
};

struct drawing_cache {
    size_t package, number;
    size_t size_bytes; /* 0: not known */
    size_t cores, used;
    size_t others; /* of the cores: those outside the pool, which is why they are not drawn */
    bool known;    /* `used` is of everybody, and not of those only whom the reader may see */
    struct drawing_who *who; /* [n] */
    size_t n, room;
};

struct drawing {
    const char *title;           /* of the SVG; borrowed */
    struct drawing_cache *cache; /* [n] packages ascend */
    size_t n;
};

/* Makes room for so many caches. 0, or -1 with ENOMEM. Free with drawing_free. */
int drawing_new(struct drawing *drawing, size_t caches);
void drawing_free(struct drawing *drawing);

/* Adds somebody to a cache whose CPUs are `cache` and who stands on `cpus`, where these meet.
 * Returns 0, or -1 with ENOMEM. */
int drawing_add(struct drawing_cache *cache, const struct cpus *cache_cpus, const struct cpus *cpus,
                const struct drawing_who *who);

/* Puts it on the screen; as wide as that is, 100 columns where it has no width. */
void drawing_put(const struct drawing *drawing, struct screen *screen);

/* Writes it as SVG into the file, which appears whole or not at all; "-" is stdout. 0, or -1 and
 * err. */
int drawing_write_svg(const struct drawing *drawing, const char *path, struct berth_error *err);

#endif
