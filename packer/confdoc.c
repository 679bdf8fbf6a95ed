/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confdoc - run by make, not installed: the table of conf.c as etc/berth.conf and as the list of
 * keys in berth.conf(5), so that neither can say something else than the parser. */
#include <stdio.h>
#include <string.h>

#include "conf.h"

int main(int argc, char **argv)
{
    struct conf conf;

    conf_init(&conf);
    if (argc == 2 && strcmp(argv[1], "conf") == 0)
        conf_print(&conf, stdout);
    else if (argc == 2 && strcmp(argv[1], "mdoc") == 0)
        conf_print_mdoc(stdout);
    else
        return fputs("usage: confdoc conf|mdoc\n", stderr), 2;
    return fflush(stdout) == 0 ? 0 : 1;
}
