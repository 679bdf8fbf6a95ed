/* SPDX-License-Identifier: GPL-2.0-or-later */
/* part - how main programs of verbs begin and end: see verb.h. */
#include <stdio.h>
#include <string.h>

#include "packer/cli/common/verb.h"
#include "packer/cli/options/complaint.h"

int ctl_end(int status)
{
    if (status == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        return ctl_fail("stdout", "%m"); /* a disk that is full, above all */
    return status;
}

int ctl_part(const char *part, const struct ctl_verb *verbs, int argc, char **argv)
{
    const struct ctl_verb *verb = argc > 1 ? ctl_verb_find(verbs, argv[1]) : NULL;

    if (argc > 1 && strcmp(argv[1], "complete") == 0)
        return ctl_end(ctl_complete(verbs, argc - 1, argv + 1));
    if (verb)
        return ctl_end(verb->run(argc - 1, argv + 1));
    fprintf(stderr, "%s: berthctl starts it, with one of its verbs:", part);
    for (verb = verbs; verb->name; verb++)
        fprintf(stderr, " %s", verb->name);
    fputs(" (see 'berthctl --help')\n", stderr);
    return 2;
}
