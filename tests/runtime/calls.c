/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls - calls libgomp as compilers do no longer, or as a program does that can go without.
 *
 *   calls            without an OpenMP library: asks by a weak symbol whether there is one
 *   calls-if         linked with LLVM's run-time, -DIF: what flang makes of a region with an if
 *   calls-old        linked with -lgomp, -DOLD: what gcc before 4.9 made of regions and loops */
#include <stdbool.h>
#include <stdio.h>

typedef void outlined(void *);

#ifdef OLD

extern int omp_get_num_threads(void);
extern void GOMP_parallel_start(outlined *region, void *data, unsigned threads);
extern void GOMP_parallel_loop_dynamic_start(outlined *region, void *data, unsigned threads,
                                             long from, long to, long step, long chunk);
extern bool GOMP_loop_dynamic_next(long *from, long *to);
extern void GOMP_loop_end_nowait(void);
extern void GOMP_parallel_end(void);

static int sum;

static void region(void *threads)
{
    *(int *)threads = omp_get_num_threads();
}

static void loop(void *threads)
{
    long from, to;

    region(threads);
    while (GOMP_loop_dynamic_next(&from, &to))
        for (; from < to; from++)
            __atomic_fetch_add(&sum, (int)from, __ATOMIC_RELAXED);
    GOMP_loop_end_nowait();
}

int main(void)
{
    int threads = 0;

    GOMP_parallel_start(region, &threads, 0);
    region(&threads);
    GOMP_parallel_end();
    printf("start %d\n", threads);
    GOMP_parallel_loop_dynamic_start(loop, &threads, 0, 0, 100, 1, 7);
    loop(&threads);
    GOMP_parallel_end();
    printf("loop %d sum %d\n", threads, sum);
    return 0;
}

#elif defined(IF)

extern int omp_get_num_threads(void);
extern void __kmpc_fork_call_if(void *location, int nargs, void (*region)(int *, int *, void *),
                                int condition, void *args);
extern void __kmpc_push_num_threads(void *location, int thread, int threads);
extern int __kmpc_global_thread_num(void *location);

/* Of clang, where a region is in its source. */
static struct {
    int reserved, flags, more[2];
    const char *source;
} location = {0, 2, {0, 0}, ";unknown;unknown;0;0;;"};

static void region(int *thread, int *bound, void *threads)
{
    (void)thread;
    (void)bound;
    *(int *)threads = omp_get_num_threads();
}

int main(void)
{
    int threads = 0;

    for (int condition = 0; condition < 2; condition++) {
        __kmpc_fork_call_if(&location, 1, region, condition, &threads);
        printf("if %d\n", threads);
        __kmpc_push_num_threads(&location, __kmpc_global_thread_num(&location), 2);
        __kmpc_fork_call_if(&location, 1, region, condition, &threads);
        printf("clause-if %d\n", threads);
    }
    __kmpc_fork_call_if(&location, 1, region, 1, &threads);
    printf("if %d\n", threads);
    return 0;
}

#else

extern void GOMP_parallel(outlined *region, void *data, unsigned threads, unsigned flags)
    __attribute__((weak));

static void region(void *runs)
{
    __atomic_fetch_add((int *)runs, 1, __ATOMIC_RELAXED);
}

int main(void)
{
    int runs = 0;

    if (GOMP_parallel)
        GOMP_parallel(region, &runs, 0, 0);
    else
        region(&runs);
    printf("weak %d\n", runs);
    return 0;
}

#endif
