/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faulter - see faulter.h */
#include "tests/unit/common/faulter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

struct order {
    unsigned page;
    bool anew;
};

static void serve(struct faulter *faulter, int socket, size_t size)
{
    struct order order;

    while (read(socket, &order, sizeof(order)) == sizeof(order)) {
        if (order.anew)
            madvise(faulter->page[order.page], size, MADV_DONTNEED);
        *(volatile char *)faulter->page[order.page] = 1;
        if (write(socket, &order, sizeof(order)) != sizeof(order))
            break;
    }
    _exit(0);
}

static void obey(struct faulter *faulter, unsigned page, bool anew)
{
    struct order order = {page, anew};

    assert_int_equal(write(faulter->socket, &order, sizeof(order)), sizeof(order));
    assert_int_equal(read(faulter->socket, &order, sizeof(order)), sizeof(order));
}

void faulter_start(struct faulter *faulter)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *all = mmap(NULL, size * FAULTER_PAGES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int ends[2];

    assert_ptr_not_equal(all, MAP_FAILED);
    madvise(all, size * FAULTER_PAGES, MADV_NOHUGEPAGE);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    for (size_t i = 0; i < FAULTER_PAGES; i++)
        faulter->page[i] = all + i * size;
    faulter->pid = fork();
    assert_true(faulter->pid >= 0);
    if (faulter->pid == 0) {
        close(ends[0]);
        serve(faulter, ends[1], size);
    }
    close(ends[1]);
    faulter->socket = ends[0];
    munmap(all, size * FAULTER_PAGES);
    for (unsigned i = 0; i < FAULTER_PAGES; i++)
        faulter_miss(faulter, i); /* from now on it faults there only */
}

void faulter_miss(struct faulter *faulter, unsigned page)
{
    obey(faulter, page, true);
}

void faulter_hit(struct faulter *faulter, unsigned page)
{
    obey(faulter, page, false);
}

int faulter_stop(struct faulter *faulter)
{
    int status = -1;

    close(faulter->socket);
    assert_int_equal(waitpid(faulter->pid, &status, 0), faulter->pid);
    return status;
}
