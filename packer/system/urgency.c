/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/system/urgency.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "packer/system/capabilities.h"

/* Says how nice the session is. 0, also where the kernel has no such thing; or -1 with errno. */
static int set_session(const char *nice)
{
    int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC), saved;
    ssize_t wrote;

    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    wrote = write(fd, nice, strlen(nice));
    saved = errno;
    close(fd);
    errno = saved;
    return wrote < 0 ? -1 : 0;
}

int urgency_raise(struct berth_error *err)
{
    const struct sched_param none = {0};
    char nice[16];

    snprintf(nice, sizeof(nice), "%d", URGENCY_NICE);
    if (sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none) == 0 &&
        setpriority(PRIO_PROCESS, 0, URGENCY_NICE) == 0 &&
        (getsid(0) != getpid() || set_session(nice) == 0))
        return 0;
    return berth_error_set(err, "requests may wait while many steps start at once: nice %s: %s",
                           nice, capabilities_why(CAPABILITY(CAP_SYS_NICE), errno));
}

void urgency_yield(void)
{
    if (setsid() >= 0)
        (void)set_session("19");
}
