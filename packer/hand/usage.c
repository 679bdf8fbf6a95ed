/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage - what the kernel counts of processes, which it tells only who has CAP_NET_ADMIN. */
#include <errno.h>

#include "packer/hand/hand_impl.h"

static int open_link(struct hand_asked *asked)
{
    struct taskstats_link *link = &asked->hand->usage;

    if (link->answers || taskstats_open(link, &asked->answer->why) == 0)
        return 0;
    errno = ENOSYS;
    return -1;
}

int hand_do_usage(struct hand_asked *asked)
{
    const struct hand_message *message = asked->message;
    struct hand_answer *answer = asked->answer;
    int rc;

    if (message->usage.thread > 1 || (message->usage.thread && message->n != 1))
        return hand_refuse(asked, "usage: there is no such question");
    if (open_link(asked) < 0)
        return -1;
    if (message->usage.thread)
        rc = taskstats_thread(&asked->hand->usage, message->usage.pid[0], &answer->thread);
    else
        rc = taskstats_read(&asked->hand->usage, message->usage.pid, message->n, answer->usage,
                            &answer->why);
    if (rc == 0)
        answer->n = message->n;
    return rc;
}
