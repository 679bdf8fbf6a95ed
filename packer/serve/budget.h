/* SPDX-License-Identifier: GPL-2.0-or-later */
/* budget - what each user may take of berthd: connections, requests, CPU time and memory for
 * answers.
 *
 * Root has no account. A user who has used up his requests or his time waits until he has some
 * again; nobody else waits for him. Accounts go by uid, and stay until they are full again, so that
 * a new connection brings nothing new. The uids that a user has by /etc/subuid have one account
 * (system/subuids.h); for those that stand there not, users together have a budget, too.
 *
 * That one is shared as by start-time fair queueing (Goyal, Vin and Cheng 1996): who has had least
 * of it has the next turn, and who comes counts as one who is a short answer behind the last one
 * served, no more. So nobody saves turns up, and nobody waits for more than that much of each of
 * the others. Pure arithmetic: the caller has the clock. */
#ifndef BERTH_SERVE_BUDGET_H
#define BERTH_SERVE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define BUDGET_CONNECTIONS 8       /* of one user at a time */
#define BUDGET_CONNECTIONS_ALL 256 /* of all users */
#define BUDGET_REQUESTS_PER_S 20   /* of one user, */
#define BUDGET_REQUESTS 40         /* and so many at once */
#define BUDGET_CPU 0.02            /* of a core, for one user, */
#define BUDGET_CPU_S 0.1           /* and so many seconds at once */
#define BUDGET_ALL 10              /* all users together have ten times what one has */
#define BUDGET_BEHIND 0.05         /* of a full account: a request and its answer's CPU time */
/* Pages of records that a thread reads, or has read and that nobody has fetched yet. */
#define BUDGET_PAGES 2                 /* of one user */
#define BUDGET_PAGES_ALL 24            /* of all users */
#define BUDGET_UNSENT (256 << 10)      /* bytes of answers of one user that wait to be read */
#define BUDGET_UNSENT_ALL (4096 << 10) /* of all users */
#define BUDGET_ACCOUNTS (2 * BUDGET_CONNECTIONS_ALL)

struct budget_account {
    uid_t uid;
    unsigned connections;
    size_t unsent;          /* bytes */
    double requests, cpu_s; /* that are left; below 0: owed */
    double had;             /* in full accounts; of `all`: what who was served last had had */
    double at_s;            /* as of then; 0: nobody's account */
};

struct budget {
    struct budget_account all;
    struct budget_account account[BUDGET_ACCOUNTS];
};

/* Makes every account full. */
void budget_init(struct budget *budget, double now_s);

/* Returns how many connections the user has. */
unsigned budget_connections(struct budget *budget, uid_t uid);

/* Counts a new connection. Returns the user's account, which stays while he has a connection; NULL:
 * he, or all users together, have enough of them. */
struct budget_account *budget_enter(struct budget *budget, uid_t uid, double now_s);
void budget_leave(struct budget *budget, struct budget_account *account);

/* Takes what was used. */
void budget_spend(struct budget *budget, struct budget_account *account, double requests,
                  double cpu_s, double now_s);

/* Returns for how many seconds the user has to wait until he has some time again, and, if it is to
 * be a new request, one of these; 0: not at all. NULL: all users together. */
double budget_wait_s(struct budget *budget, struct budget_account *account, bool request,
                     double now_s);

/* Returns what the user counts as having had: whose is least has the next turn. */
double budget_had(const struct budget *budget, const struct budget_account *account);

/* Notes that it is his turn. */
void budget_turn(struct budget *budget, const struct budget_account *account);

/* Notes that so many bytes wait to be read by him where it were so many before. */
void budget_unsent(struct budget *budget, struct budget_account *account, size_t before,
                   size_t after);

/* Says whether more may be written for him. */
bool budget_may_write(const struct budget *budget, const struct budget_account *account);

#endif
