/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_time - see ctl_time.h */
#include "ctl_time.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>

#include "json.h"

#define LIMIT_S 10      /* where the input does not say */
#define LIMIT_MAX_S 1e6 /* eleven days */

double ctl_time_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int64_t ctl_time_ms(void)
{
    return (int64_t)(ctl_time_s() * 1e3);
}

bool ctl_time_is_late(void *end_s)
{
    return ctl_time_s() >= *(const double *)end_s;
}

int ctl_time_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int ctl_time_limit(struct json_object *input, double *limit_s, struct berth_error *err)
{
    *limit_s = LIMIT_S;
    if (json_get_double(input, "time_limit_s", JSON_OPTIONAL, limit_s, err) < 0)
        return -1;
    if (!(*limit_s > 0) || *limit_s > LIMIT_MAX_S)
        return berth_error_set(err, "time_limit_s: more than 0 and at most %g expected",
                               LIMIT_MAX_S);
    return 0;
}
