/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages - asks where pages of a step's processes are, and moves them (move_pages(2)). The kernel
 * allows only nodes that the process's own cpuset has. It waits for the process's memory map. */
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "packer/hand/hand_impl.h"
#include "packer/system/process_look.h"

int hand_may_move_pages(struct hand_asked *asked)
{
    const struct hand_pages *pages = &asked->message->pages;

    if (pages->move > 1 || pages->all > 1 || pages->pid <= 0)
        return hand_refuse(asked, "pages: there is no such order");
    if (hand_step_of(asked->hand, pages->pid) &&
        (!pages->started || process_is(asked->hand->site.root, pages->pid, pages->started)))
        return 0;
    if (!process_started(asked->hand->site.root, pages->pid)) {
        errno = ESRCH;
        return berth_error_set(&asked->answer->why, "process %d has gone", (int)pages->pid);
    }
    return hand_refuse(asked, "pages: process %d is of no step that root has registered",
                       (int)pages->pid);
}

int hand_do_pages(struct hand_asked *asked)
{
    const struct hand_pages *pages = &asked->message->pages;
    const uint32_t n = asked->message->n;
    void *address[HAND_PAGES_MAX];
    int node[HAND_PAGES_MAX];
    int flags = pages->all ? MPOL_MF_MOVE_ALL : MPOL_MF_MOVE;

    for (uint32_t i = 0; i < n; i++) {
        address[i] = (void *)(uintptr_t)pages->page[i].address; /* of another process */
        node[i] = pages->page[i].node;
    }
    if (syscall(SYS_move_pages, pages->pid, (unsigned long)n, address, pages->move ? node : NULL,
                asked->answer->status, pages->move ? flags : 0) < 0)
        return berth_error_set(&asked->answer->why, "move_pages: %s", strerror(errno));
    asked->answer->n = n;
    return 0;
}
