/* SPDX-License-Identifier: GPL-2.0-or-later */
/* notify - tells systemd that berthd is ready, that its event loop still turns, and that it stops
 * (sd_notify(3)). A berthd that hangs says nothing, and is started anew (WatchdogSec= of its unit):
 * it then undoes, or goes on with, what its journal has. */
#ifndef BERTH_DAEMON_NOTIFY_H
#define BERTH_DAEMON_NOTIFY_H

#include <event2/event.h>

#include "packer/steps/packer.h"

struct notify;

/* Says that berthd is ready, and from then on that the loop turns, at least twice in the time in
 * which systemd wants to hear that. Takes $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID out of
 * the environment. Returns NULL where nobody wants to know. */
struct notify *notify_open(struct event_base *base, const struct packer *packer);

/* Returns within how many seconds systemd wants to hear that the loop turns; 0: it does not. */
double notify_watchdog_s(const struct notify *notify);

/* Says that it stops. NULL is fine, above, too. */
void notify_close(struct notify *notify);

#endif
