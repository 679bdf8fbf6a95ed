/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http - serves the page by HTTP, in berthd's event loop: GET and HEAD of /metrics and /.
 *
 * Each connection gets one answer and is closed. Whoever is slow, or says nothing, is hung up on
 * after METRICS_HTTP_LIFE_S; at most METRICS_HTTP_CLIENTS are spoken to at a time. Further ones
 * wait in the kernel, and then each has METRICS_HTTP_CROWDED_S only: who asks at once, as a scraper
 * does, is served whoever else is connected. A page is made at most once a second, however often it
 * is asked for. */
#ifndef BERTH_METRICS_HTTP_H
#define BERTH_METRICS_HTTP_H

#include <event2/event.h>

#include "packer/steps/packer.h"

#define METRICS_HTTP_CLIENTS 32
#define METRICS_HTTP_LIFE_S 10
#define METRICS_HTTP_CROWDED_S 0.1

struct metrics_http;

/* Listens where packer->world.conf.metrics says; *out is NULL where it is off. 0, or -1 and err. */
int metrics_http_open(struct metrics_http **out, struct event_base *base,
                      const struct packer *packer, struct berth_error *err);
void metrics_http_close(struct metrics_http *http); /* NULL is fine; removes a Unix socket */

/* Returns the port that it listens on; 0: none. */
unsigned metrics_http_port(const struct metrics_http *http);

#endif
