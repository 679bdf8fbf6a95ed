/* SPDX-License-Identifier: GPL-2.0-or-later */
/* words - reads a LIST of --contention-aware as the plugin does, and says what is wrong with it, or
 * what of it has no effect: for `run`. */
#include <stdio.h>

#include "plugin/options.h"

int main(int argc, char **argv)
{
    struct wire_options options = {0};
    struct berth_error err;
    char vain[512] = "";

    if (argc != 2)
        return 2;
    if (options_parse(argv[1], &options, &err) < 0)
        return fprintf(stderr, "%s\n", err.text), 1;
    options_vain(&options, vain, sizeof(vain));
    if (vain[0])
        fprintf(stderr, "%s\n", vain);
    return 0;
}
