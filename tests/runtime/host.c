/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host - opens libraries, as Python opens wheels, and has each run its regions.
 *
 *   host ROUNDS LIBRARY.. -- WORD..
 *
 * In each round each library is opened for itself alone (RTLD_LOCAL), run, and closed again. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(const char *file, char **words)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    int (*regions)(char **) = library ? (int (*)(char **))dlsym(library, "regions") : NULL;
    int rc;

    if (!regions) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 1;
    }
    rc = regions(words);
    dlclose(library);
    return rc;
}

int main(int argc, char **argv)
{
    int rounds = argc > 3 ? atoi(argv[1]) : 0, words = 2, rc = 0;

    while (words < argc && strcmp(argv[words], "--") != 0)
        words++;
    if (words >= argc)
        return 2;
    for (int round = 0; round < rounds && rc == 0; round++)
        for (int i = 2; i < words && rc == 0; i++)
            rc = run(argv[i], argv + words + 1);
    return rc;
}
