/* SPDX-License-Identifier: GPL-2.0-or-later */
/* costs - see costs.h
 *
 * Groups are remembered under the sum of random numbers of their members' kinds. Two groups with
 * the same sum of 64 bits do not happen (2^-26 for a full memory). */
#include "models/partition/costs.h"

#include <stdlib.h>

#define MEMORY_SLOTS (1u << 20) /* twice as many as groups are remembered */

struct costs_slot {
    uint64_t key; /* 0: free */
    double cost;
};

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

int costs_init(struct costs *costs, const struct partition *p)
{
    *costs = (struct costs){.partition = p};
    costs->key = calloc(p->n, sizeof(*costs->key));
    if (!p->pairwise)
        costs->memory = calloc(MEMORY_SLOTS, sizeof(*costs->memory));
    if (!costs->key || (!p->pairwise && !costs->memory)) {
        costs_clear(costs);
        return -1;
    }
    for (size_t i = 0; i < p->n; i++)
        costs->key[i] = mix(p->kind[i]);
    return 0;
}

void costs_clear(struct costs *costs)
{
    free(costs->key);
    free(costs->pair);
    free(costs->memory);
    *costs = (struct costs){0};
}

static double recall(struct costs *costs, const size_t *member, size_t n)
{
    const struct partition *p = costs->partition;
    uint64_t key = 0;
    size_t slot;
    double cost;

    for (size_t i = 0; i < n; i++)
        key += costs->key[member[i]];
    key += key == 0;
    for (slot = key % MEMORY_SLOTS; costs->memory[slot].key; slot = (slot + 1) % MEMORY_SLOTS)
        if (costs->memory[slot].key == key)
            return costs->memory[slot].cost;
    cost = p->cost(member, n, p->arg);
    if (costs->remembered < MEMORY_SLOTS / 2) {
        costs->memory[slot] = (struct costs_slot){key, cost};
        costs->remembered++;
    }
    return cost;
}

double costs_of(struct costs *costs, const size_t *member, size_t n)
{
    const struct partition *p = costs->partition;

    if (n == 0)
        return 0;
    if (!p->pairwise)
        return recall(costs, member, n);
    return costs->pair ? costs_by_pairs(costs, member, n) : p->cost(member, n, p->arg);
}

int costs_of_pairs(struct costs *costs)
{
    const struct partition *p = costs->partition;
    double *pair = calloc(p->n * p->n, sizeof(*pair));

    if (!pair)
        return -1;
    for (size_t i = 0; i < p->n && !costs_stopped(costs); i++)
        for (size_t j = 0; j < i; j++)
            pair[i * p->n + j] = pair[j * p->n + i] = costs_of(costs, (const size_t[]){j, i}, 2);
    costs->pair = pair;
    return 0;
}

double costs_by_pairs(const struct costs *costs, const size_t *member, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            sum += costs->pair[member[i] * costs->partition->n + member[j]];
    return sum;
}

bool costs_stopped(const struct costs *costs)
{
    const struct partition *p = costs->partition;

    return p->stop && p->stop(p->stop_arg);
}
