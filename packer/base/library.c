/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library - see library.h */
#include "packer/base/library.h"

#include <dlfcn.h>
#include <string.h>

void *library_open(const char *name, const struct library_function *function, size_t n, void *table,
                   struct berth_error *err)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; library && i < n; i++) {
        void *address = dlsym(library, function[i].name);

        memcpy((char *)table + function[i].offset, &address, sizeof(address));
        if (!address) {
            berth_error_set(err, "%s has no %s", name, function[i].name);
            dlclose(library);
            return NULL;
        }
    }
    if (!library)
        berth_error_set(err, "%s", dlerror());
    return library;
}

void library_close(void *library)
{
    dlclose(library);
}
