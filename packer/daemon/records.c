/* SPDX-License-Identifier: GPL-2.0-or-later */
/* records - see records.h */
#include "packer/daemon/records.h"

#include <stdlib.h>
#include <string.h>

#include "packer/daemon/record_pages.h"

static void on_ready(void *arg)
{
    reply_wake(arg);
}

static void drop(void *own)
{
    record_pages_drop(own);
}

int records_begin(struct reply *reply, struct berth_error *err)
{
    struct record_pages *pages = reply->packer->state->record_pages;

    if (!pages)
        return berth_error_set(err, "nothing is kept here of steps that ended (ledger=off of "
                                    "berth.conf, or a ledger that cannot be used)");
    reply->own = record_pages_ask(pages, reply->uid, reply->payer, &reply->request.records,
                                  on_ready, reply, err);
    reply->own_free = reply->own ? drop : NULL;
    return reply->own ? 0 : -1;
}

static void free_text(const void *text, size_t length, void *arg)
{
    (void)length, (void)arg;
    free((void *)text);
}

bool records_tell(struct reply *reply, struct evbuffer *out)
{
    static const char none[] = "{\"version\":1,\"ok\":false,\"error\":\"out of memory\"}\n";
    size_t length;
    char *text;

    if (!record_pages_is_there(reply->own))
        return false;
    text = record_pages_take(reply->own, &length, &reply->cpu_s);
    if (!text)
        evbuffer_add(out, none, strlen(none));
    else if (evbuffer_add_reference(out, text, length, free_text, NULL) < 0)
        free(text);
    return true;
}
