/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rt - see rt.h.
 *
 * When the library is loaded it only takes the page's name from the environment, which nobody
 * changes yet: a program that never comes to one of our hooks pays no more. The page is opened by
 * the first hook that wants it. A forked child has it mapped already, another program that is
 * started finds it by itself. Threads that come first together map it each for themselves, and all
 * but one let go of theirs: nobody waits.
 *
 * Set-user-ID programs, which the dynamic linker gives nothing to preload by a path, are left alone
 * here, too. */
#include "runtime/rt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cancel.h"
#include "runtime/contention.h"
#include "runtime/said.h"

#define RT_FIRST 101 /* of the constructors: others ask whether there is a page */
#define UNKNOWN_UID 65534

static char page_path[1024];
static _Atomic(const struct rt_page *) page_mapped;
static atomic_bool switched_off;

__attribute__((constructor(RT_FIRST))) static void begin(void)
{
    const char *path = getenv(RT_PAGE_ENV), *wanted = getenv(RT_SWITCH_ENV);

    if (getauxval(AT_SECURE) || !path || strlen(path) >= sizeof(page_path) ||
        (wanted && strcmp(wanted, "off") == 0))
        return;
    strcpy(page_path, path);
    said_begin(page_path);
    contention_begin(page_path);
}

bool rt_named(void)
{
    return page_path[0];
}

void rt_surprise(enum rt_surprise surprise, long detail)
{
    if (!atomic_exchange(&switched_off, true))
        said_surprise(surprise, (int32_t)detail);
}

/* Is what is mapped a page that this library understands? */
static bool understood(const struct rt_page *page)
{
    if (memcmp(page->magic, RT_PAGE_MAGIC, sizeof(page->magic)) != 0)
        rt_surprise(RT_PAGE_FOREIGN, 0);
    else if (page->version != RT_PAGE_VERSION)
        rt_surprise(RT_PAGE_OTHER_VERSION, page->version);
    else if (page->size < sizeof(*page))
        rt_surprise(RT_PAGE_SHORT, page->size);
    else
        return true;
    return false;
}

/* Is it a file that holds a page, and that nobody can make shorter under the program's hands, which
 * would end it by SIGBUS, but root and its own user? Where a user namespace has no root, root's
 * files are UNKNOWN_UID's. */
static bool is_safe(int fd)
{
    struct stat file;

    if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))
        rt_surprise(RT_PAGE_UNREADABLE, EINVAL);
    else if (file.st_uid != 0 && file.st_uid != geteuid() && file.st_uid != UNKNOWN_UID)
        rt_surprise(RT_PAGE_OTHERS, file.st_uid);
    else if (file.st_size < (off_t)sizeof(struct rt_page))
        rt_surprise(RT_PAGE_SHORT, file.st_size);
    else
        return true;
    return false;
}

static const struct rt_page *map(int fd)
{
    const struct rt_page *page;

    if (!is_safe(fd))
        return NULL;
    page = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED && understood(page))
        return page;
    if (page == MAP_FAILED)
        rt_surprise(RT_PAGE_UNREADABLE, errno);
    else
        munmap((void *)page, sizeof(*page));
    return NULL;
}

/* The page that all threads use from now on. */
static const struct rt_page *publish(const struct rt_page *page)
{
    const struct rt_page *other = NULL;

    if (!page || atomic_compare_exchange_strong(&page_mapped, &other, page))
        return page;
    munmap((void *)page, sizeof(*page));
    return other;
}

static const struct rt_page *open_page(void)
{
    int before = errno, state = cancel_begin();
    int fd = open(page_path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const struct rt_page *page = NULL;

    if (fd < 0)
        rt_surprise(RT_PAGE_UNREADABLE, errno);
    else {
        page = publish(map(fd));
        close(fd);
    }
    cancel_end(state);
    errno = before;
    return page;
}

const struct rt_page *rt_page(enum rt_feature feature)
{
    const struct rt_page *page;

    if (!page_path[0] || atomic_load(&switched_off))
        return NULL;
    page = atomic_load(&page_mapped);
    if (!page)
        page = open_page();
    return page && (__atomic_load_n(&page->features, __ATOMIC_ACQUIRE) & feature) ? page : NULL;
}
