/* SPDX-License-Identifier: GPL-2.0-or-later */
/* product - how much of what tasks read and write lies on their own memory node (Vikranth 2018,
 * chapter 5): many products of small matrices by libberth_tasks, each created for its matrices, and
 * created without saying so, on the memory nodes that this machine has.
 *
 * usage: product [WORKERS]: prints the shares. Exit status 0: nearly all tasks that name their
 * matrices were created for the node where these lie, those that no other node stole had them on
 * their own, and the products are right; 1 not; 77 there are no two nodes. How many are stolen by a
 * node whose own tasks are done depends on how fast its CPUs are, which differs in an emulated
 * machine. */
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tasks/berth_tasks.h"

#define PRODUCTS 512
#define ROUNDS 4
#define SIDE 32
#define PAGE 4096
#define PAGES (3 * SIDE * SIDE * sizeof(double) / PAGE)
#define NEARLY 0.95

/* Three matrices in pages of their own. */
struct product {
    _Alignas(PAGE) double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
};

static struct product *products;
static struct berth_tasks *pool;
static _Atomic unsigned long own, all; /* pages, each time a task uses them */
static uint64_t placed, stolen; /* tasks of products that were created for a node, that left it */

/* The first thread that writes to a page decides where it is. */
static void fill(const void *arguments)
{
    struct product *product = *(struct product *const *)arguments;

    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++) {
            product->a[i][j] = (double)(i + 1);
            product->b[i][j] = 1.0 / (double)(j + 1);
            product->c[i][j] = 0;
        }
}

/* Counts the pages of a product that lie on the node of the CPU, as the kernel says. */
static void count_pages(struct product *product)
{
    void *page[PAGES];
    int where[PAGES];
    unsigned node = 0;

    for (size_t i = 0; i < PAGES; i++)
        page[i] = (char *)product + i * PAGE;
    if (getcpu(NULL, &node) < 0 || syscall(SYS_move_pages, 0, PAGES, page, NULL, where, 0) < 0)
        return;
    for (size_t i = 0; i < PAGES; i++)
        atomic_fetch_add(&own, where[i] == (int)node);
    atomic_fetch_add(&all, PAGES);
}

static void multiply(const void *arguments)
{
    struct product *product = *(struct product *const *)arguments;

    count_pages(product);
    for (size_t i = 0; i < SIDE; i++)
        for (size_t k = 0; k < SIDE; k++)
            for (size_t j = 0; j < SIDE; j++)
                product->c[i][j] += product->a[i][k] * product->b[k][j];
}

/* Creates a task for each product. named: for its matrices. */
static void each(berth_task_function *function, bool named)
{
    for (size_t i = 0; i < PRODUCTS; i++) {
        struct product *product = &products[i];

        if (named)
            berth_task_on(product, sizeof(*product), function, &product, sizeof(product));
        else
            berth_task(function, &product, sizeof(product));
    }
    berth_task_wait();
}

static void run(const void *arguments)
{
    bool named = *(const bool *)arguments;
    struct berth_tasks_counts before, after;

    each(fill, true);
    berth_tasks_counts(pool, &before);
    atomic_store(&own, 0);
    atomic_store(&all, 0);
    for (int round = 0; round < ROUNDS; round++)
        each(multiply, named);
    berth_tasks_counts(pool, &after);
    placed = after.placed - before.placed;
    stolen = after.placed_away - before.placed_away;
}

static bool are_right(void)
{
    for (size_t p = 0; p < PRODUCTS; p++)
        for (size_t i = 0; i < SIDE; i++)
            for (size_t j = 0; j < SIDE; j++)
                if (fabs(products[p].c[i][j] - ROUNDS * SIDE * (double)(i + 1) / (double)(j + 1)) >
                    1e-6)
                    return false;
    return true;
}

/* Returns the share of accesses that were on the own node; < 0: a product is wrong. */
static double share(bool named)
{
    products = mmap(NULL, PRODUCTS * sizeof(*products), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (products == MAP_FAILED)
        return -1;
    madvise(products, PRODUCTS * sizeof(*products), MADV_NOHUGEPAGE);
    berth_tasks_run(pool, run, &named, sizeof(named));
    return are_right() ? (double)own / (double)all : -1;
}

int main(int argc, char **argv)
{
    struct berth_tasks_options options = {.size = sizeof(options),
                                          .workers = argc > 1 ? (unsigned)atoi(argv[1]) : 0};
    double named, unnamed;
    bool near;

    pool = berth_tasks_start(&options);
    if (!pool || access("/sys/devices/system/node/node1", F_OK) < 0) {
        puts("there are no two memory nodes");
        return 77;
    }
    named = share(true);
    near = (double)placed > NEARLY * PRODUCTS * ROUNDS &&
           named * PRODUCTS * ROUNDS > NEARLY * (double)(placed - stolen);
    printf("%.0f tasks for a node, %.0f of them stolen; ", (double)placed, (double)stolen);
    unnamed = share(false);
    printf("accesses on the own memory node: %.1f %% of tasks that name their matrices, %.1f %% of "
           "others; %u workers, %u domains\n",
           100 * named, 100 * unnamed, berth_tasks_workers(pool), berth_tasks_domains(pool));
    berth_tasks_stop(pool);
    return near && named > unnamed && unnamed >= 0 ? 0 : 1;
}
