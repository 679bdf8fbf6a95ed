/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/serve/budget.h"

#include <math.h>
#include <string.h>

/* ---- accounts fill up with time ---- */

/* `users`: for how many the account is. */
static void fill(struct budget_account *account, double users, double now_s)
{
    double passed_s = fmax(now_s - account->at_s, 0);

    account->requests =
        fmin(account->requests + users * BUDGET_REQUESTS_PER_S * passed_s, users * BUDGET_REQUESTS);
    account->cpu_s = fmin(account->cpu_s + users * BUDGET_CPU * passed_s, users * BUDGET_CPU_S);
    account->at_s = now_s;
}

static double wait_s(const struct budget_account *account, double users, bool request)
{
    double requests_s = request ? (1 - account->requests) / (users * BUDGET_REQUESTS_PER_S) : 0;
    double cpu_s = -account->cpu_s / (users * BUDGET_CPU);

    return fmax(fmax(requests_s, cpu_s), 0);
}

static bool is_full(const struct budget_account *account)
{
    return account->requests >= BUDGET_REQUESTS && account->cpu_s >= BUDGET_CPU_S;
}

void budget_init(struct budget *budget, double now_s)
{
    memset(budget, 0, sizeof(*budget));
    budget->all = (struct budget_account){.requests = BUDGET_ALL * BUDGET_REQUESTS,
                                          .cpu_s = BUDGET_ALL * BUDGET_CPU_S,
                                          .at_s = now_s};
}

/* ---- whose accounts ---- */

static struct budget_account *find_account(struct budget *budget, uid_t uid)
{
    for (size_t i = 0; i < BUDGET_ACCOUNTS; i++)
        if (budget->account[i].at_s > 0 && budget->account[i].uid == uid)
            return &budget->account[i];
    return NULL;
}

/* Which of two accounts is missed less; no connection uses them. */
static bool is_idler(const struct budget_account *a, const struct budget_account *b)
{
    return a->cpu_s / BUDGET_CPU_S + a->requests / BUDGET_REQUESTS >
           b->cpu_s / BUDGET_CPU_S + b->requests / BUDGET_REQUESTS;
}

/* Opens an account, in place of nobody's, or of the one that is nearest to full: there are twice as
 * many as connections. */
static struct budget_account *open_account(struct budget *budget, uid_t uid, double now_s)
{
    struct budget_account *best = NULL;

    for (size_t i = 0; i < BUDGET_ACCOUNTS; i++) {
        struct budget_account *account = &budget->account[i];

        if (account->connections)
            continue;
        fill(account, 1, now_s);
        if (!best || is_idler(account, best))
            best = account;
        if (is_full(best))
            break;
    }
    *best = (struct budget_account){
        .uid = uid, .requests = BUDGET_REQUESTS, .cpu_s = BUDGET_CPU_S, .at_s = now_s};
    return best;
}

unsigned budget_connections(struct budget *budget, uid_t uid)
{
    const struct budget_account *account = find_account(budget, uid);

    return account ? account->connections : 0;
}

struct budget_account *budget_enter(struct budget *budget, uid_t uid, double now_s)
{
    struct budget_account *account = find_account(budget, uid);

    if (budget->all.connections >= BUDGET_CONNECTIONS_ALL ||
        (account && account->connections >= BUDGET_CONNECTIONS))
        return NULL;
    if (!account)
        account = open_account(budget, uid, now_s);
    account->connections++;
    budget->all.connections++;
    return account;
}

void budget_leave(struct budget *budget, struct budget_account *account)
{
    account->connections--;
    budget->all.connections--;
}

/* ---- what is used ---- */

static void spend(struct budget_account *account, double users, double requests, double cpu_s,
                  double now_s)
{
    fill(account, users, now_s);
    account->requests -= requests;
    account->cpu_s -= cpu_s;
}

double budget_had(const struct budget *budget, const struct budget_account *account)
{
    return fmax(account->had, budget->all.had - BUDGET_BEHIND);
}

void budget_turn(struct budget *budget, const struct budget_account *account)
{
    budget->all.had = fmax(budget->all.had, account->had);
}

void budget_spend(struct budget *budget, struct budget_account *account, double requests,
                  double cpu_s, double now_s)
{
    account->had = budget_had(budget, account) + requests / BUDGET_REQUESTS + cpu_s / BUDGET_CPU_S;
    spend(account, 1, requests, cpu_s, now_s);
    spend(&budget->all, BUDGET_ALL, requests, cpu_s, now_s);
}

double budget_wait_s(struct budget *budget, struct budget_account *account, bool request,
                     double now_s)
{
    double users = account ? 1 : BUDGET_ALL;

    if (!account)
        account = &budget->all;
    fill(account, users, now_s);
    return wait_s(account, users, request);
}

void budget_unsent(struct budget *budget, struct budget_account *account, size_t before,
                   size_t after)
{
    account->unsent += after - before;
    budget->all.unsent += after - before;
}

bool budget_may_write(const struct budget *budget, const struct budget_account *account)
{
    return account->unsent < BUDGET_UNSENT && budget->all.unsent < BUDGET_UNSENT_ALL;
}
