/* SPDX-License-Identifier: GPL-2.0-or-later */
/* orders - see orders.h */
#include "packer/observe/orders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "packer/base/clock.h"
#include "packer/base/worker.h"
#include "packer/profiles/profiles.h"
#include "packer/steps/packer.h"

#define PAUSE_S 0.25 /* between two transactions */

/* A row to be taken in, or a key (NULL: all) to be forgotten. */
struct order {
    STAILQ_ENTRY(order) link;
    uint32_t uid, payer;
    char *row, *key;
    bool replace, samples;
};
STAILQ_HEAD(order_list, order);

/* CPU time of the thread that a user was not charged with yet. */
struct debt {
    uint32_t payer;
    double cpu_s; /* 0: nobody's */
};

/* All but `doing` is under the worker's mutex; the thread alone reads on in `doing`, and what is in
 * it does not change. */
struct orders {
    char path[PATH_MAX], group[64];
    struct worker worker;
    struct order_list waiting, doing;
    size_t n; /* in both */
    struct debt debt[ORDERS_MAX];
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

static int carry_out(struct profiles *store, const struct order *order, struct berth_error *err)
{
    return order->row ? put(store, order, err)
                      : profiles_forget(store, &order->uid, order->key, order->samples, err);
}

static int carry_out_all(struct profiles *store, void *arg, struct berth_error *err)
{
    struct orders *orders = arg;
    struct order *order;

    STAILQ_FOREACH(order, &orders->doing, link)
    if (carry_out(store, order, err) < 0)
        return -1;
    return 0;
}

/* Does all of them in one transaction; where one cannot be done, each in its own. */
static void write_store(struct orders *orders)
{
    struct profiles *store;
    struct order *order;
    struct berth_error err;

    if (profiles_open_group(&store, orders->path, true, orders->group, &err) < 0) {
        log_debug("profiles: what users want is not done: %s", err.text);
        return;
    }
    if (profiles_write(store, carry_out_all, orders, &err) < 0)
        STAILQ_FOREACH(order, &orders->doing, link)
    if (carry_out(store, order, &err) < 0)
        log_debug("profiles: what user %u wants is not done: %s", order->uid, err.text);
    profiles_close(store);
}

/* Returns the payer's debt; where there is none, nobody's, or the least. */
static struct debt *find_debt(struct orders *orders, uint32_t payer)
{
    struct debt *debt = orders->debt;

    for (struct debt *other = debt; other < orders->debt + ORDERS_MAX; other++) {
        if (other->payer == payer && other->cpu_s > 0)
            return other;
        if (other->cpu_s < debt->cpu_s)
            debt = other;
    }
    return debt;
}

static void owe(struct debt *debt, uint32_t payer, double cpu_s)
{
    if (debt->payer != payer)
        *debt = (struct debt){.payer = payer};
    debt->cpu_s += cpu_s;
}

/* They are done, and each has cost as much as another. */
static void finish(struct orders *orders, double cpu_s)
{
    struct order *order;
    size_t n = 0;

    STAILQ_FOREACH(order, &orders->doing, link) n++;
    while ((order = STAILQ_FIRST(&orders->doing))) {
        owe(find_debt(orders, order->payer), order->payer, cpu_s / (double)n);
        STAILQ_REMOVE_HEAD(&orders->doing, link);
        orders->n--;
        order_free(order);
    }
}

static double cpu_s(void)
{
    return (double)clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e9;
}

/* What comes within a pause is done together, so that whoever reads the store meets a writer
 * seldom. */
static void read_orders(void *arg)
{
    struct orders *orders = arg;
    double next_s = 0, began_s;

    for (;;) {
        bool any = !STAILQ_EMPTY(&orders->waiting), stops = orders->worker.stopping;

        if (!any && stops)
            return;
        if (!any || (clock_s() < next_s && !stops)) {
            worker_wait_until(&orders->worker, any ? next_s : INFINITY);
            continue;
        }
        STAILQ_CONCAT(&orders->doing, &orders->waiting);
        worker_unlock(&orders->worker);
        began_s = cpu_s();
        write_store(orders);
        worker_lock(&orders->worker);
        finish(orders, cpu_s() - began_s);
        next_s = clock_s() + PAUSE_S;
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
    STAILQ_INIT(&orders->doing);
    if (worker_open(&orders->worker, read_orders, orders, err) == 0) {
        packer->state->orders = orders;
        return 0;
    }
    free(orders);
    return -1;
}

static size_t count_own(const struct order_list *list, uint32_t payer)
{
    const struct order *order;
    size_t own = 0;

    STAILQ_FOREACH(order, list, link) own += order->payer == payer;
    return own;
}

/* May one more wait? */
static bool has_room(const struct orders *orders, uint32_t payer)
{
    return orders->n < ORDERS_MAX &&
           count_own(&orders->waiting, payer) + count_own(&orders->doing, payer) <
               ORDERS_OF_ONE_MAX;
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
    room = has_room(orders, order->payer);
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

static struct order *order_new(const struct order_user *user, struct berth_error *err)
{
    struct order *order = calloc(1, sizeof(*order));

    if (!order) {
        berth_no_memory(err);
        return NULL;
    }
    order->uid = user->uid;
    order->payer = user->payer;
    return order;
}

int orders_put(const struct packer *packer, const struct order_user *user, const char *row,
               bool replace, struct berth_error *err)
{
    struct order *order;

    if (profiles_check(user->uid, row, strlen(row), err) < 0)
        return -1;
    order = order_new(user, err);
    if (!order)
        return -1;
    order->replace = replace;
    order->row = strdup(row);
    if (order->row)
        return give(packer, order, err);
    order_free(order);
    return berth_no_memory(err);
}

int orders_forget(const struct packer *packer, const struct order_user *user, const char *key,
                  bool samples, struct berth_error *err)
{
    struct order *order = order_new(user, err);

    if (!order)
        return -1;
    order->samples = samples;
    order->key = key ? strdup(key) : NULL;
    if (!key || order->key)
        return give(packer, order, err);
    order_free(order);
    return berth_no_memory(err);
}

double orders_owed(struct orders *orders, uint32_t payer)
{
    struct debt *debt;
    double cpu_s = 0;

    if (!orders)
        return 0;
    worker_lock(&orders->worker);
    debt = find_debt(orders, payer);
    if (debt->payer == payer) {
        cpu_s = debt->cpu_s;
        debt->cpu_s = 0;
    }
    worker_unlock(&orders->worker);
    return cpu_s;
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
