/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/inside/shuffle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9 /* of a chain's length: shorter by less is as short */

/* The threads that may move, from the shortest waiting to the longest. */
struct deal {
    const struct shuffle_packages *packages;
    const struct shuffle_thread *thread;
    size_t n;
    size_t *sorted;                     /* [n], thread */
    size_t size[SHUFFLE_PACKAGES_MAX];  /* of the group that a package gets */
    size_t chain[SHUFFLE_PACKAGES_MAX]; /* the one that is looked at */
    size_t best[SHUFFLE_PACKAGES_MAX];
    double best_length;
    size_t best_stay;
};

double shuffle_lock(size_t n, const struct shuffle_thread *thread)
{
    double sum = 0;
    size_t known = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(thread[i].lock)) {
            sum += thread[i].lock;
            known++;
        }
    return known ? sum / (double)known : NAN;
}

bool shuffle_due(const struct shuffle_packages *packages, size_t n,
                 const struct shuffle_thread *thread)
{
    return packages->n > 1 && shuffle_lock(n, thread) > SHUFFLE_LOCK;
}

/* ---- the groups ---- */

static bool stays(const struct shuffle_thread *thread)
{
    return thread->bound || isnan(thread->lock);
}

/* Sorts by lock time (insertion: from round to round little changes). */
static void sort(struct deal *deal, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t j = deal->n;

        if (stays(&deal->thread[i]))
            continue;
        for (; j > 0 && deal->thread[i].lock < deal->thread[deal->sorted[j - 1]].lock; j--)
            deal->sorted[j] = deal->sorted[j - 1];
        deal->sorted[j] = i;
        deal->n++;
    }
}

/* What stands in a package: threads that stay, and are dealt to it so far; those that may move. */
struct load {
    size_t load, here;
};

/* Is the next thread rather package p's than q's? Of packages that would be as full it is the one
 * where more stand than it has yet: sizes that are even already are not changed. */
static bool is_emptier(const struct deal *deal, const struct load *load, size_t p, size_t q)
{
    size_t with_p = (load[p].load + 1) * deal->packages->cores[q];
    size_t with_q = (load[q].load + 1) * deal->packages->cores[p];

    return with_p < with_q ||
           (with_p == with_q && load[p].here + deal->size[q] > load[q].here + deal->size[p]);
}

/* Gives each package as many of the threads that may move as make threads per core even. */
static void size_groups(struct deal *deal, size_t n)
{
    size_t packages = deal->packages->n;
    struct load load[SHUFFLE_PACKAGES_MAX] = {{0}};

    for (size_t i = 0; i < n; i++)
        if (deal->thread[i].at < packages)
            ++*(stays(&deal->thread[i]) ? &load[deal->thread[i].at].load
                                        : &load[deal->thread[i].at].here);
    for (size_t i = 0; i < deal->n; i++) {
        size_t to = 0;

        for (size_t p = 1; p < packages; p++)
            if (is_emptier(deal, load, p, to))
                to = p;
        load[to].load++;
        deal->size[to]++;
    }
}

/* The end of the run of threads that wait equally long, from `from` on. */
static size_t run_end(const struct deal *deal, size_t from)
{
    size_t end = from + 1;

    while (end < deal->n &&
           deal->thread[deal->sorted[end]].lock == deal->thread[deal->sorted[from]].lock)
        end++;
    return end;
}

static size_t run_begin(const struct deal *deal, size_t at)
{
    while (at > 0 && deal->thread[deal->sorted[at - 1]].lock == deal->thread[deal->sorted[at]].lock)
        at--;
    return at;
}

/* How many threads can stay when the group from `offset` on is the package's: of a run that it has
 * only a part of, as many as are there already. */
static size_t staying(const struct deal *deal, size_t offset, size_t package)
{
    size_t end = offset + deal->size[package], stay = 0;

    for (size_t i = offset; i < end;) {
        size_t last = run_end(deal, i), here = 0;
        size_t room = (last < end ? last : end) - i;

        for (size_t j = run_begin(deal, i); j < last; j++)
            here += deal->thread[deal->sorted[j]].at == package;
        stay += here < room ? here : room;
        i += room;
    }
    return stay;
}

/* ---- the chain ---- */

static double distance(const struct deal *deal, size_t a, size_t b)
{
    return deal->packages->distance ? deal->packages->distance[a * deal->packages->n + b] : 1;
}

/* Says whether a chain so long, with so many threads that stay, is better than the best one. */
static bool is_better(const struct deal *deal, double length, size_t stay)
{
    double slack = ROUNDING * (fabs(length) + 1);

    return length < deal->best_length - slack ||
           (length <= deal->best_length + slack && stay > deal->best_stay);
}

static void keep(struct deal *deal, double length, size_t stay)
{
    if (!is_better(deal, length, stay))
        return;
    memcpy(deal->best, deal->chain, sizeof(deal->best));
    deal->best_length = length;
    deal->best_stay = stay;
}

/* Tries all that can follow the first `depth` packages of the chain. */
static void extend(struct deal *deal, size_t depth, unsigned set, double length, size_t offset,
                   size_t stay)
{
    if (depth == deal->packages->n) {
        keep(deal, length, stay);
        return;
    }
    if (!is_better(deal, length, stay + deal->n - offset)) /* if all of the others stayed */
        return;
    for (size_t p = 0; p < deal->packages->n; p++) {
        double more = depth ? distance(deal, deal->chain[depth - 1], p) : 0;

        if (set & 1u << p)
            continue;
        deal->chain[depth] = p;
        extend(deal, depth + 1, set | 1u << p, length + more, offset + deal->size[p],
               stay + staying(deal, offset, p));
    }
}

static size_t chain_staying(const struct deal *deal)
{
    size_t stay = 0, offset = 0;

    for (size_t i = 0; i < deal->packages->n; i++) {
        stay += staying(deal, offset, deal->chain[i]);
        offset += deal->size[deal->chain[i]];
    }
    return stay;
}

/* The nearest one that the first `depth` do not have. */
static size_t nearest(const struct deal *deal, size_t depth)
{
    size_t best = SHUFFLE_NOWHERE, last = deal->chain[depth - 1];

    for (size_t p = 0; p < deal->packages->n; p++) {
        bool in = false;

        for (size_t i = 0; i < depth; i++)
            in |= deal->chain[i] == p;
        if (!in &&
            (best == SHUFFLE_NOWHERE || distance(deal, last, p) < distance(deal, last, best)))
            best = p;
    }
    return best;
}

static void reverse(struct deal *deal)
{
    for (size_t i = 0, j = deal->packages->n - 1; i < j; i++, j--) {
        size_t swap = deal->chain[i];

        deal->chain[i] = deal->chain[j];
        deal->chain[j] = swap;
    }
}

static void chain_nearest(struct deal *deal)
{
    for (size_t first = 0; first < deal->packages->n; first++) {
        double length = 0;

        deal->chain[0] = first;
        for (size_t i = 1; i < deal->packages->n; i++) {
            deal->chain[i] = nearest(deal, i);
            length += distance(deal, deal->chain[i - 1], deal->chain[i]);
        }
        keep(deal, length, chain_staying(deal));
        reverse(deal);
        keep(deal, length, chain_staying(deal));
    }
}

/* ---- dealing ---- */

/* Deals a run of threads that wait equally long: room[p] of them to package p. */
static void deal_run(const struct deal *deal, size_t begin, size_t end, size_t *room, size_t *to)
{
    size_t p = 0;

    for (size_t i = begin; i < end; i++) {
        size_t thread = deal->sorted[i], at = deal->thread[thread].at;

        if (at >= deal->packages->n || room[at] == 0)
            continue;
        room[at]--;
        to[thread] = at;
    }
    for (size_t i = begin; i < end; i++) {
        if (to[deal->sorted[i]] != SHUFFLE_NOWHERE)
            continue;
        while (room[deal->best[p]] == 0)
            p++;
        room[deal->best[p]]--;
        to[deal->sorted[i]] = deal->best[p];
    }
}

/* Cuts each run to the groups that it reaches over. */
static void deal_all(struct deal *deal, size_t *to)
{
    size_t place = 0, left = deal->size[deal->best[0]];

    for (size_t i = 0; i < deal->n;) {
        size_t room[SHUFFLE_PACKAGES_MAX] = {0}, end = run_end(deal, i);

        for (size_t count = end - i; count > 0;) {
            size_t here = count < left ? count : left;

            room[deal->best[place]] = here;
            count -= here;
            left -= here;
            if (left == 0 && ++place < deal->packages->n)
                left = deal->size[deal->best[place]];
        }
        deal_run(deal, i, end, room, to);
        i = end;
    }
}

long shuffle_deal(const struct shuffle_packages *packages, size_t n,
                  const struct shuffle_thread *thread, size_t *to, size_t *order)
{
    struct deal deal = {.packages = packages, .thread = thread, .best_length = INFINITY};
    long moves = 0;

    deal.sorted = calloc(n ? n : 1, sizeof(*deal.sorted));
    if (!deal.sorted)
        return -1;
    sort(&deal, n);
    size_groups(&deal, n);
    if (packages->n <= SHUFFLE_EXACT_MAX)
        extend(&deal, 0, 0, 0, 0, 0);
    else
        chain_nearest(&deal);
    for (size_t i = 0; i < n; i++)
        to[i] = stays(&thread[i]) ? thread[i].at : SHUFFLE_NOWHERE;
    deal_all(&deal, to);
    for (size_t i = 0; i < n; i++)
        moves += to[i] != thread[i].at;
    if (order)
        memcpy(order, deal.best, packages->n * sizeof(*order));
    free(deal.sorted);
    return moves;
}
