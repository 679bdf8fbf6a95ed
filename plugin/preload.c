/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preload - see preload.h.
 *
 * The variable with the page says whether berth has a hand in LD_PRELOAD: an environment that has
 * none, and gets none, is not touched. The page goes first when things are taken away, and comes
 * last: the library without a page does nothing. */
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/page.h"

#define LIBRARY "libberth_rt.so"
#define LIST_MAX 8192
#define ASAN "ASAN_OPTIONS"
#define ASAN_ORDER "verify_asan_link_order"

static bool is_ours(const char *path, size_t length)
{
    const char *slash = memrchr(path, '/', length);
    const char *name = slash ? slash + 1 : path;

    return length - (size_t)(name - path) == strlen(LIBRARY) &&
           memcmp(name, LIBRARY, strlen(LIBRARY)) == 0;
}

/* Appends to the list in text, of which `used` bytes are there, one more. Returns how long it is
 * now; at least size when it has no room. */
static size_t append(char *text, size_t used, size_t size, const char *path, size_t length)
{
    int n = used < size
                ? snprintf(text + used, size - used, "%s%.*s", used ? ":" : "", (int)length, path)
                : 0;

    return used + (size_t)n;
}

int preload_list(const char *inherited, const char *library, char *out, size_t size)
{
    char list[LIST_MAX] = "";
    size_t used = 0, length;

    for (const char *path = inherited; *path; path += length) {
        path += strspn(path, ": ");
        length = strcspn(path, ": ");
        if (length && !is_ours(path, length))
            used = append(list, used, sizeof(list), path, length);
    }
    if (library)
        used = append(list, used, sizeof(list), library, strlen(library));
    if (used >= size || used >= sizeof(list))
        return -1;
    memcpy(out, list, used + 1);
    return 0;
}

/* Writes the library's path: it lies where the plugin lies. */
static int find_library(char path[PATH_MAX], struct berth_error *err)
{
    char plugin[PATH_MAX];
    Dl_info info;
    int folder;

    if (!dladdr((void *)find_library, &info) || !realpath(info.dli_fname, plugin))
        return berth_error_set(err, "the plugin's own folder is not known");
    folder = (int)(strrchr(plugin, '/') - plugin);
    if (snprintf(path, PATH_MAX, "%.*s/" LIBRARY, folder, plugin) >= PATH_MAX ||
        access(path, R_OK) < 0)
        return berth_error_set(err, "%.*s/" LIBRARY " cannot be read: %s", folder, plugin,
                               strerror(errno));
    if (strpbrk(path, ": "))
        return berth_error_set(err, "%s cannot stand in LD_PRELOAD", path);
    return 0;
}

/* Writes the list with the library, or without one, over the task's. */
static int set_list(spank_t spank, const char *library, struct berth_error *err)
{
    char list[LIST_MAX] = "";
    spank_err_t got = spank_getenv(spank, "LD_PRELOAD", list, sizeof(list));

    if (got != ESPANK_SUCCESS && got != ESPANK_ENV_NOEXIST)
        return berth_error_set(err, "LD_PRELOAD cannot be read");
    if (preload_list(got == ESPANK_SUCCESS ? list : "", library, list, sizeof(list)) < 0)
        return berth_error_set(err, "LD_PRELOAD is too long for one more");
    if ((list[0] ? spank_setenv(spank, "LD_PRELOAD", list, 1)
                 : spank_unsetenv(spank, "LD_PRELOAD")) == ESPANK_SUCCESS)
        return 0;
    return berth_error_set(err, "LD_PRELOAD cannot be changed");
}

/* gcc's AddressSanitizer ends a program that has anything loaded before it, unless it is told not
 * to look. Other programs have nothing of the variable; who has said it himself is left alone. */
static void let_asan_begin(spank_t spank)
{
    char options[LIST_MAX] = "", more[LIST_MAX + sizeof(":" ASAN_ORDER "=0")];
    spank_err_t got = spank_getenv(spank, ASAN, options, sizeof(options));

    if ((got != ESPANK_SUCCESS && got != ESPANK_ENV_NOEXIST) || strstr(options, ASAN_ORDER))
        return;
    snprintf(more, sizeof(more), "%s%s" ASAN_ORDER "=0", options, options[0] ? ":" : "");
    spank_setenv(spank, ASAN, more, 1);
}

static bool has_inherited(spank_t spank)
{
    char page[PATH_MAX];

    return spank_getenv(spank, RT_PAGE_ENV, page, sizeof(page)) != ESPANK_ENV_NOEXIST;
}

/* Where the list cannot be changed it stays: without a page it does nothing. */
static void take_away(spank_t spank)
{
    spank_unsetenv(spank, RT_PAGE_ENV);
    set_list(spank, NULL, NULL);
}

static int give(spank_t spank, const char *page, struct berth_error *err)
{
    char library[PATH_MAX];

    if (find_library(library, err) < 0 || set_list(spank, library, err) < 0)
        return -1;
    let_asan_begin(spank);
    if (spank_setenv(spank, RT_PAGE_ENV, page, 1) == ESPANK_SUCCESS)
        return 0;
    return berth_error_set(err, RT_PAGE_ENV " cannot be set");
}

int preload_task(spank_t spank, const char *page, struct berth_error *err)
{
    if (page && give(spank, page, err) == 0)
        return 0;
    if (has_inherited(spank))
        take_away(spank);
    return page ? -1 : 0;
}
