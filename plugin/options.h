/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options - what users say after --contention-aware, and what the site says in plugstack.conf.
 *
 * One table of words in options.c is the source of the parser, of `srun --help`, of
 * --contention-aware=help and of the list in an error: they cannot differ. */
#ifndef BERTH_OPTIONS_H
#define BERTH_OPTIONS_H

#include <stddef.h>
#include <stdio.h>

#include "packer/wire/wire.h"

#define OPTIONS_NAME "contention-aware"

/* Read a LIST; NULL and "" mean "auto", and so does a list without a mode. 0; 1 when it asks for
 * help (options is unchanged); -1 and err, one line that names the wrong word and lists the right
 * ones (options is unchanged). */
int options_parse(const char *list, struct wire_options *options, struct berth_error *err);

/* Writes what of the words has no effect beside the others, whatever the node is; "" where all has.
 */
void options_vain(const struct wire_options *options, char *text, size_t size);

/* One sentence with every word, for `srun --help`. */
void options_usage(char *text, size_t size);

/* Every word with its meaning, one a line, for --contention-aware=help. */
void options_help(FILE *out);

/* The plugin's own arguments in plugstack.conf. */
struct options_site {
    char socket[108];            /* berthd's socket (as long as sun_path) */
    unsigned deadline_ms;        /* longest wait for the answer to a registration */
    struct wire_options options; /* for steps that were started without the option */
};

#define OPTIONS_DEADLINE_MS 50

void options_site_init(struct options_site *site);

/* Read one argument (socket=PATH, deadline=50ms, default=LIST) into site. 0, or -1 and err (site is
 * unchanged). */
int options_site_parse(const char *argument, struct options_site *site, struct berth_error *err);

#endif
