/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/queues.h"

void queues_put(struct berth_tasks *pool, unsigned number, struct task *first, struct task *last,
                unsigned n)
{
    struct domain *domain = pool->domain[number];

    last->next = NULL;
    pthread_mutex_lock(&domain->lock);
    if (domain->last)
        domain->last->next = first;
    else
        domain->first = first;
    domain->last = last;
    atomic_fetch_add_explicit(&domain->waiting, n, memory_order_relaxed);
    pthread_mutex_unlock(&domain->lock);
    wake_for_list(pool, domain);
}

/* Takes a task out of the list. link: what leads to it. before: the one before it, or NULL. */
static struct task *unlink_task(struct domain *domain, struct task **link, struct task *before)
{
    struct task *task = *link;

    *link = task->next;
    if (domain->last == task)
        domain->last = before;
    atomic_fetch_sub_explicit(&domain->waiting, 1, memory_order_relaxed);
    return task;
}

struct task *queues_take(struct domain *domain)
{
    struct task *task = NULL;

    if (!load_u32(&domain->waiting))
        return NULL;
    pthread_mutex_lock(&domain->lock);
    if (domain->first)
        task = unlink_task(domain, &domain->first, NULL);
    pthread_mutex_unlock(&domain->lock);
    return task;
}

bool queues_is_under(const struct task *task, const struct record *record)
{
    for (const struct record *up = task->record.parent; up; up = up->parent)
        if (up == record)
            return true;
    return false;
}

struct task *queues_take_under(struct domain *domain, const struct record *record)
{
    struct task *task = NULL, *before = NULL, **link = &domain->first;

    if (!load_u32(&domain->waiting))
        return NULL;
    pthread_mutex_lock(&domain->lock);
    while (*link && !queues_is_under(*link, record)) {
        before = *link;
        link = &before->next;
    }
    if (*link)
        task = unlink_task(domain, link, before);
    pthread_mutex_unlock(&domain->lock);
    return task;
}

int64_t queues_tasks(const struct berth_tasks *pool, unsigned number)
{
    const struct domain *domain = pool->domain[number];
    unsigned members = (unsigned)load_u32(&domain->members);
    int64_t tasks = load_u32(&domain->waiting);

    for (unsigned i = 0; i < members; i++)
        tasks += deque_size(
            &pool->worker[atomic_load_explicit(&domain->member[i], memory_order_relaxed)]->deque);
    return tasks;
}

double queues_load(const struct berth_tasks *pool, unsigned number)
{
    unsigned members = (unsigned)load_u32(&pool->domain[number]->members);

    return members ? (double)queues_tasks(pool, number) / members : (double)UINT32_MAX;
}

unsigned queues_least(struct berth_tasks *pool)
{
    unsigned from = atomic_fetch_add_explicit(&pool->turn, 1, memory_order_relaxed), best = 0;
    double least = UINT32_MAX;

    for (unsigned i = 0; i < pool->domains; i++) {
        unsigned number = (from + i) % pool->domains;
        double load = queues_load(pool, number);

        if (load < least) {
            least = load;
            best = number;
        }
    }
    return best;
}
