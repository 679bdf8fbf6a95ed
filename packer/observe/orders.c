/* SPDX-License-Identifier: GPL-2.0-or-later */
/* orders - see orders.h */
#include "packer/observe/orders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "packer/base/worker.h"
#include "packer/profiles/profiles.h"
#include "packer/steps/packer.h"

/* A row to be taken in, or a key (NULL: all) to be forgotten. */
struct order {
    STAILQ_ENTRY(order) link;
    uint32_t uid;
    char *row, *key;
    bool replace, samples;
};

struct orders {
    char path[PATH_MAX], group[64];
    struct worker worker;
    STAILQ_HEAD(, order) waiting; /* under the worker's mutex */
    size_t n;
};

static void order_free(struct order *order)
{
    free(order->row);
    free(order->key);
    free(order);
}

/* ---- the thread ---- */

/* Takes the row in, unless the user has as many already as the store keeps of one. */
static int put(struct profiles *store, const struct order *order, struct berth_error *err)
{
    struct profiles_imported imported;
    int rows = profiles_count(store, &order->uid, NULL, false, err);

    if (rows >= PROFILE_ROWS_OF_ONE)
        return berth_error_set(err, "%d rows are enough", rows);
    return rows < 0 ? -1
                    : profiles_import(store, order->uid, order->row, strlen(order->row),
                                      order->replace, &imported, err);
}

static void carry_out(struct orders *orders, const struct order *order)
{
    struct profiles *store;
    struct berth_error err;
    int rc = profiles_open_group(&store, orders->path, true, orders->group, &err);

    if (rc == 0) {
        rc = order->row ? put(store, order, &err)
                        : profiles_forget(store, &order->uid, order->key, order->samples, &err);
        profiles_close(store);
    }
    if (rc < 0)
        log_debug("profiles: what user %u wants is not done: %s", order->uid, err.text);
}

static void read_orders(void *arg)
{
    struct orders *orders = arg;

    for (;;) {
        struct order *order = STAILQ_FIRST(&orders->waiting);

        if (!order && orders->worker.stopping)
            return;
        if (!order) {
            worker_wait_until(&orders->worker, INFINITY);
            continue;
        }
        worker_unlock(&orders->worker);
        carry_out(orders, order);
        worker_lock(&orders->worker);
        STAILQ_REMOVE_HEAD(&orders->waiting, link);
        orders->n--;
        order_free(order);
    }
}

/* ---- the event loop's side ---- */

static int orders_start(const struct packer *packer, struct berth_error *err)
{
    struct orders *orders = packer->state->orders ? NULL : calloc(1, sizeof(*orders));

    if (packer->state->orders)
        return 0;
    if (!orders)
        return berth_no_memory(err);
    snprintf(orders->path, sizeof(orders->path), "%s", packer->world.conf.profile_db);
    snprintf(orders->group, sizeof(orders->group), "%s", packer->world.conf.profile_group);
    STAILQ_INIT(&orders->waiting);
    if (worker_open(&orders->worker, read_orders, orders, err) == 0) {
        packer->state->orders = orders;
        return 0;
    }
    free(orders);
    return -1;
}

/* May one more wait? */
static bool has_room(const struct orders *orders, uint32_t uid)
{
    const struct order *order;
    size_t own = 0;

    STAILQ_FOREACH(order, &orders->waiting, link) own += order->uid == uid;
    return orders->n < ORDERS_MAX && own < ORDERS_OF_ONE_MAX;
}

/* Takes the order over, whatever comes of it. */
static int give(const struct packer *packer, struct order *order, struct berth_error *err)
{
    struct orders *orders;
    bool room;

    if (orders_start(packer, err) < 0) {
        order_free(order);
        return -1;
    }
    orders = packer->state->orders;
    worker_lock(&orders->worker);
    room = has_room(orders, order->uid);
    if (room) {
        STAILQ_INSERT_TAIL(&orders->waiting, order, link);
        orders->n++;
        worker_changed(&orders->worker);
    }
    worker_unlock(&orders->worker);
    if (room)
        return 0;
    order_free(order);
    return berth_error_set(err, "too much waits for the profile store already: try again");
}

static struct order *order_new(uint32_t uid, struct berth_error *err)
{
    struct order *order = calloc(1, sizeof(*order));

    if (order)
        order->uid = uid;
    else
        berth_no_memory(err);
    return order;
}

int orders_put(const struct packer *packer, uint32_t uid, const char *row, bool replace,
               struct berth_error *err)
{
    struct order *order;

    if (profiles_check(uid, row, strlen(row), err) < 0)
        return -1;
    order = order_new(uid, err);
    if (!order)
        return -1;
    order->replace = replace;
    order->row = strdup(row);
    if (order->row)
        return give(packer, order, err);
    order_free(order);
    return berth_no_memory(err);
}

int orders_forget(const struct packer *packer, uint32_t uid, const char *key, bool samples,
                  struct berth_error *err)
{
    struct order *order = order_new(uid, err);

    if (!order)
        return -1;
    order->samples = samples;
    order->key = key ? strdup(key) : NULL;
    if (!key || order->key)
        return give(packer, order, err);
    order_free(order);
    return berth_no_memory(err);
}

void orders_close(struct orders *orders)
{
    struct order *order;

    if (!orders)
        return;
    if (!worker_close(&orders->worker)) {
        log_warn("the profile store does not answer: what users put into it is lost");
        return;
    }
    while ((order = STAILQ_FIRST(&orders->waiting))) {
        STAILQ_REMOVE_HEAD(&orders->waiting, link);
        order_free(order);
    }
    free(orders);
}
