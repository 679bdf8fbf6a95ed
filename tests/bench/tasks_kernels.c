/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks_kernels - seven programs of tasks, of the problems of the Barcelona OpenMP Tasks Suite:
 * fib, nqueens, sort, strassen, sparselu, health and uts. Built with -DBERTH for libberth_tasks,
 * else with -fopenmp for the run-time of the compiler's OpenMP. The code of the tasks is the same.
 *
 *     tasks_kernels KERNEL    runs it once to warm up and once more
 *
 * prints seconds, CPU seconds and "ok", or "wrong" where the result is. Built with -DCOUNT it
 * prints how many tasks have run instead of the times: it is to be the same with all of them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef BERTH
#include "tasks/berth_tasks.h"
static struct berth_tasks *pool;
#define SPAWN(function, variable) berth_task(function, &(variable), sizeof(variable))
#define SYNC() berth_task_wait()
#define BEGIN() (pool = berth_tasks_start(NULL))
#define RUN_TASKS(function, variable) berth_tasks_run(pool, function, &(variable), sizeof(variable))
#define END() berth_tasks_stop(pool)
#else
#define PRAGMA(text) _Pragma(#text)
#define SPAWN(function, variable) PRAGMA(omp task firstprivate(variable)) function(&(variable))
#define SYNC() PRAGMA(omp taskwait)
#define BEGIN() (void)0
#define RUN_TASKS(function, variable)                                                              \
    do {                                                                                           \
        PRAGMA(omp parallel) PRAGMA(omp single) function(&(variable));                             \
    } while (0)
#define END() (void)0
#endif

/* Each task has it in front. */
#ifdef COUNT
static _Atomic long tasks_run;
#define TASK() tasks_run++
#else
#define TASK() (void)0
#endif

/* Runs it, and notes how long that took. */
#define RUN(function, variable)                                                                    \
    do {                                                                                           \
        note_time(-1);                                                                             \
        RUN_TASKS(function, variable);                                                             \
        note_time(1);                                                                              \
    } while (0)

static double wall_s, cpu_s;
static uint64_t chance_state;

static double seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void note_time(int sign)
{
    wall_s += sign * seconds(CLOCK_MONOTONIC);
    cpu_s += sign * seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static double chance(void)
{
    chance_state = chance_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(chance_state >> 11) / 9007199254740992.0;
}

/* ---- fib: nothing but tasks ---- */

#define FIB_N 30
#define FIB_RESULT 832040

struct fib {
    long n, *result;
};

static void fib(const void *arguments)
{
    const struct fib *me = arguments;
    long x, y;
    struct fib left = {me->n - 1, &x}, right = {me->n - 2, &y};

    TASK();
    if (me->n < 2) {
        *me->result = me->n;
        return;
    }
    SPAWN(fib, left);
    SPAWN(fib, right);
    SYNC();
    *me->result = x + y;
}

static int run_fib(void)
{
    long result = 0;
    struct fib all = {FIB_N, &result};

    RUN(fib, all);
    return result == FIB_RESULT;
}

/* ---- nqueens: an uneven tree ---- */

#define QUEENS 12
#define QUEENS_RESULT 14200

struct queens {
    int row;
    char column[QUEENS];
    long *result;
};

static int is_free(const struct queens *board, int column)
{
    for (int row = 0; row < board->row; row++)
        if (board->column[row] == column || abs(board->column[row] - column) == board->row - row)
            return 0;
    return 1;
}

static void queens(const void *arguments)
{
    const struct queens *me = arguments;
    long count[QUEENS] = {0}, sum = me->row == QUEENS;

    TASK();
    for (int column = 0; me->row < QUEENS && column < QUEENS; column++)
        if (is_free(me, column)) {
            struct queens next = *me;

            next.column[next.row++] = (char)column;
            next.result = &count[column];
            SPAWN(queens, next);
        }
    SYNC();
    for (int column = 0; column < QUEENS; column++)
        sum += count[column];
    *me->result = sum;
}

static int run_queens(void)
{
    long result = 0;
    struct queens all = {.result = &result};

    RUN(queens, all);
    return result == QUEENS_RESULT;
}

/* ---- sort: merges that are divided, too ---- */

#define SORT_N (1 << 22)
#define SORT_SMALL 2048

struct merge {
    const uint32_t *a, *b;
    size_t na, nb;
    uint32_t *to;
};

struct sort {
    uint32_t *at, *room;
    size_t n;
};

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void merge_small(const struct merge *me)
{
    const uint32_t *a = me->a, *b = me->b, *a_end = a + me->na, *b_end = b + me->nb;
    uint32_t *to = me->to;

    while (a < a_end && b < b_end)
        *to++ = *a <= *b ? *a++ : *b++;
    memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

static size_t count_below(const uint32_t *at, size_t n, uint32_t value)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (at[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void merge(const void *arguments)
{
    struct merge me = *(const struct merge *)arguments, left, right;

    TASK();
    if (me.na < me.nb)
        me = (struct merge){me.b, me.a, me.nb, me.na, me.to};
    if (me.na + me.nb <= SORT_SMALL) {
        merge_small(&me);
        return;
    }
    left = (struct merge){me.a, me.b, me.na / 2, count_below(me.b, me.nb, me.a[me.na / 2]), me.to};
    right = (struct merge){me.a + left.na, me.b + left.nb, me.na - left.na, me.nb - left.nb,
                           me.to + left.na + left.nb};
    SPAWN(merge, left);
    SPAWN(merge, right);
    SYNC();
}

static void sort(const void *arguments)
{
    const struct sort *me = arguments;
    size_t quarter = me->n / 4;
    struct merge half[2], whole;

    TASK();
    if (me->n <= SORT_SMALL) {
        qsort(me->at, me->n, sizeof(*me->at), by_value);
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        struct sort part = {me->at + i * quarter, me->room + i * quarter,
                            i < 3 ? quarter : me->n - 3 * quarter};

        SPAWN(sort, part);
    }
    SYNC();
    half[0] = (struct merge){me->at, me->at + quarter, quarter, quarter, me->room};
    half[1] = (struct merge){me->at + 2 * quarter, me->at + 3 * quarter, quarter,
                             me->n - 3 * quarter, me->room + 2 * quarter};
    for (int i = 0; i < 2; i++) {
        struct merge part = half[i];

        SPAWN(merge, part);
    }
    SYNC();
    whole =
        (struct merge){me->room, me->room + 2 * quarter, 2 * quarter, me->n - 2 * quarter, me->at};
    SPAWN(merge, whole);
    SYNC();
}

static int run_sort(void)
{
    struct sort all = {malloc(SORT_N * sizeof(uint32_t)), malloc(SORT_N * sizeof(uint32_t)),
                       SORT_N};
    uint64_t before = 0, after = 0;
    int sorted = 1;

    for (size_t i = 0; i < SORT_N; i++)
        before += all.at[i] = (uint32_t)(chance() * UINT32_MAX);
    RUN(sort, all);
    for (size_t i = 0; i < SORT_N; i++) {
        after += all.at[i];
        sorted = sorted && (i == 0 || all.at[i - 1] <= all.at[i]);
    }
    free(all.at);
    free(all.room);
    return sorted && before == after;
}

/* ---- strassen: seven products of halves ---- */

#define STRASSEN_N 1024
#define STRASSEN_SMALL 64

struct square {
    double *at;
    size_t row; /* cells from one row to the next */
};

struct product {
    struct square a, b, to;
    size_t n;
};

static struct square part_of(struct square square, size_t n, int down, int right)
{
    return (struct square){square.at + (size_t)down * n * square.row + (size_t)right * n,
                           square.row};
}

static void multiply_small(const struct product *me)
{
    for (size_t i = 0; i < me->n; i++) {
        double *to = me->to.at + i * me->to.row;

        memset(to, 0, me->n * sizeof(*to));
        for (size_t k = 0; k < me->n; k++) {
            double factor = me->a.at[i * me->a.row + k];
            const double *b = me->b.at + k * me->b.row;

            for (size_t j = 0; j < me->n; j++)
                to[j] += factor * b[j];
        }
    }
}

/* to = a + sign * b */
static void add(struct square a, struct square b, double sign, struct square to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            to.at[i * to.row + j] = a.at[i * a.row + j] + sign * b.at[i * b.row + j];
}

static void multiply(const void *arguments)
{
    const struct product *me = arguments;
    size_t n = me->n / 2;
    struct square a[2][2], b[2][2], c[2][2], s[17];
    double *room;

    TASK();
    if (me->n <= STRASSEN_SMALL) {
        multiply_small(me);
        return;
    }
    room = malloc(17 * n * n * sizeof(*room));
    for (int i = 0; i < 17; i++)
        s[i] = (struct square){room + (size_t)i * n * n, n};
    for (int i = 0; i < 4; i++) {
        a[i / 2][i % 2] = part_of(me->a, n, i / 2, i % 2);
        b[i / 2][i % 2] = part_of(me->b, n, i / 2, i % 2);
        c[i / 2][i % 2] = part_of(me->to, n, i / 2, i % 2);
    }
    add(a[0][0], a[1][1], 1, s[0], n);
    add(b[0][0], b[1][1], 1, s[1], n);
    add(a[1][0], a[1][1], 1, s[2], n);
    add(b[0][1], b[1][1], -1, s[3], n);
    add(b[1][0], b[0][0], -1, s[4], n);
    add(a[0][0], a[0][1], 1, s[5], n);
    add(a[1][0], a[0][0], -1, s[6], n);
    add(b[0][0], b[0][1], 1, s[7], n);
    add(a[0][1], a[1][1], -1, s[8], n);
    add(b[1][0], b[1][1], 1, s[9], n);
    {
        struct product seven[] = {{s[0], s[1], s[10], n},    {s[2], b[0][0], s[11], n},
                                  {a[0][0], s[3], s[12], n}, {a[1][1], s[4], s[13], n},
                                  {s[5], b[1][1], s[14], n}, {s[6], s[7], s[15], n},
                                  {s[8], s[9], s[16], n}};

        for (int i = 0; i < 7; i++) {
            struct product one = seven[i];

            SPAWN(multiply, one);
        }
        SYNC();
    }
    add(s[10], s[13], 1, c[0][0], n);
    add(c[0][0], s[14], -1, c[0][0], n);
    add(c[0][0], s[16], 1, c[0][0], n);
    add(s[12], s[14], 1, c[0][1], n);
    add(s[11], s[13], 1, c[1][0], n);
    add(s[10], s[11], -1, c[1][1], n);
    add(c[1][1], s[12], 1, c[1][1], n);
    add(c[1][1], s[15], 1, c[1][1], n);
    free(room);
}

/* a b x = a (b x), for an x of chance. */
static int is_product(const struct product *all)
{
    size_t n = all->n;
    double *x = malloc(3 * n * sizeof(*x)), *bx = x + n, worst = 0;

    for (size_t i = 0; i < n; i++)
        x[i] = chance() - 0.5;
    for (size_t i = 0; i < n; i++) {
        bx[i] = 0;
        for (size_t j = 0; j < n; j++)
            bx[i] += all->b.at[i * n + j] * x[j];
    }
    for (size_t i = 0; i < n; i++) {
        double difference = 0;

        for (size_t j = 0; j < n; j++)
            difference += all->a.at[i * n + j] * bx[j] - all->to.at[i * n + j] * x[j];
        worst = fmax(worst, fabs(difference));
    }
    free(x);
    return worst < 1e-6;
}

static int run_strassen(void)
{
    size_t cells = (size_t)STRASSEN_N * STRASSEN_N;
    double *room = malloc(3 * cells * sizeof(*room));
    struct product all = {
        {room, STRASSEN_N}, {room + cells, STRASSEN_N}, {room + 2 * cells, STRASSEN_N}, STRASSEN_N};
    int right;

    for (size_t i = 0; i < 2 * cells; i++)
        room[i] = chance() - 0.5;
    RUN(multiply, all);
    right = is_product(&all);
    free(room);
    return right;
}

/* ---- sparselu: blocks, some of which there are not ---- */

#define LU_BLOCKS 32
#define LU_SIZE 48

typedef double block[LU_SIZE][LU_SIZE];

struct lu {
    block **at; /* [LU_BLOCKS * LU_BLOCKS]; NULL: all 0 */
};

struct update {
    block *a, *b, *to;
};

static void factor(block *to)
{
    for (int k = 0; k < LU_SIZE; k++)
        for (int i = k + 1; i < LU_SIZE; i++) {
            (*to)[i][k] /= (*to)[k][k];
            for (int j = k + 1; j < LU_SIZE; j++)
                (*to)[i][j] -= (*to)[i][k] * (*to)[k][j];
        }
}

static void divide_row(const void *arguments)
{
    const struct update *me = arguments;

    TASK();
    for (int k = 0; k < LU_SIZE; k++)
        for (int i = k + 1; i < LU_SIZE; i++)
            for (int j = 0; j < LU_SIZE; j++)
                (*me->to)[i][j] -= (*me->a)[i][k] * (*me->to)[k][j];
}

static void divide_column(const void *arguments)
{
    const struct update *me = arguments;

    TASK();
    for (int i = 0; i < LU_SIZE; i++)
        for (int k = 0; k < LU_SIZE; k++) {
            (*me->to)[i][k] /= (*me->a)[k][k];
            for (int j = k + 1; j < LU_SIZE; j++)
                (*me->to)[i][j] -= (*me->to)[i][k] * (*me->a)[k][j];
        }
}

static void subtract(const void *arguments)
{
    const struct update *me = arguments;

    TASK();
    for (int i = 0; i < LU_SIZE; i++)
        for (int k = 0; k < LU_SIZE; k++)
            for (int j = 0; j < LU_SIZE; j++)
                (*me->to)[i][j] -= (*me->a)[i][k] * (*me->b)[k][j];
}

static void decompose(const void *arguments)
{
    block **at = ((const struct lu *)arguments)->at;

    TASK();
    for (int k = 0; k < LU_BLOCKS; k++) {
        block *pivot = at[k * LU_BLOCKS + k];

        factor(pivot);
        for (int i = k + 1; i < LU_BLOCKS; i++) {
            struct update row = {pivot, NULL, at[k * LU_BLOCKS + i]},
                          column = {pivot, NULL, at[i * LU_BLOCKS + k]};

            if (row.to)
                SPAWN(divide_row, row);
            if (column.to)
                SPAWN(divide_column, column);
        }
        SYNC();
        for (int i = k + 1; i < LU_BLOCKS; i++)
            for (int j = k + 1; j < LU_BLOCKS; j++) {
                block **to = &at[i * LU_BLOCKS + j];
                struct update one = {at[i * LU_BLOCKS + k], at[k * LU_BLOCKS + j], NULL};

                if (!one.a || !one.b)
                    continue;
                if (!*to)
                    *to = calloc(1, sizeof(block));
                one.to = *to;
                SPAWN(subtract, one);
            }
        SYNC();
    }
}

static void fill(block *to, int is_diagonal)
{
    for (int i = 0; i < LU_SIZE; i++)
        for (int j = 0; j < LU_SIZE; j++)
            (*to)[i][j] = chance() - 0.5 + (is_diagonal && i == j ? 2.0 * LU_SIZE * LU_BLOCKS : 0);
}

static double at_cell(block **at, int i, int j)
{
    block *in = at[i / LU_SIZE * LU_BLOCKS + j / LU_SIZE];

    return in ? (*in)[i % LU_SIZE][j % LU_SIZE] : 0;
}

/* L U x = A x, for an x of ones. sum: A's rows. */
static int is_decomposed(block **at, const double *sum)
{
    enum { N = LU_BLOCKS * LU_SIZE };
    static double y[N];
    double worst = 0;

    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int j = i; j < N; j++)
            y[i] += at_cell(at, i, j);
    }
    for (int i = 0; i < N; i++) {
        double now = y[i];

        for (int j = 0; j < i; j++)
            now += at_cell(at, i, j) * y[j];
        worst = fmax(worst, fabs(now - sum[i]));
    }
    return worst < 1e-6;
}

static int run_lu(void)
{
    static double sum[LU_BLOCKS * LU_SIZE];
    struct lu all = {calloc((size_t)LU_BLOCKS * LU_BLOCKS, sizeof(*all.at))};
    int right;

    for (int i = 0; i < LU_BLOCKS * LU_BLOCKS; i++) {
        int row = i / LU_BLOCKS, column = i % LU_BLOCKS;

        if (row == column || abs(row - column) == 1 || chance() < 0.3) {
            all.at[i] = malloc(sizeof(block));
            fill(all.at[i], row == column);
        }
    }
    for (int i = 0; i < LU_BLOCKS * LU_SIZE; i++) {
        sum[i] = 0;
        for (int j = 0; j < LU_BLOCKS * LU_SIZE; j++)
            sum[i] += at_cell(all.at, i, j);
    }
    RUN(decompose, all);
    right = is_decomposed(all.at, sum);
    for (int i = 0; i < LU_BLOCKS * LU_BLOCKS; i++)
        free(all.at[i]);
    free(all.at);
    return right;
}

/* ---- health: villages of patients, each with its own lists, step by step ---- */

#define HEALTH_LEVELS 6
#define HEALTH_CHILDREN 4
#define HEALTH_PEOPLE 24 /* of a village */
#define HEALTH_STAFF 4
#define HEALTH_STEPS 365
#define HEALTH_RESULT 427556367200

struct patient {
    struct patient *next;
    int wait, visits;
};

struct village {
    struct village *child[HEALTH_CHILDREN];
    uint64_t chance;
    int staff, level;
    struct patient *well, *waiting, *treated, *up; /* up: whom its parent has to treat */
};

static struct village *make_village(int level, uint64_t number)
{
    struct village *village = calloc(1, sizeof(*village));

    *village = (struct village){
        .chance = number * 0x9e3779b97f4a7c15u + 1, .staff = HEALTH_STAFF << level, .level = level};
    for (int i = 0; i < HEALTH_PEOPLE; i++) {
        struct patient *one = calloc(1, sizeof(*one));

        one->next = village->well;
        village->well = one;
    }
    for (uint64_t i = 0; level > 0 && i < HEALTH_CHILDREN; i++)
        village->child[i] = make_village(level - 1, number * HEALTH_CHILDREN + i + 1);
    return village;
}

/* Says whether what happens once in so many times does. */
static int happens(struct village *village, unsigned once_in)
{
    village->chance = village->chance * 6364136223846793005u + 1442695040888963407u;
    return (village->chance >> 33) % once_in == 0;
}

/* Moves the patient that `from` leads to to the list. */
static void move_patient(struct patient **from, struct patient **to)
{
    struct patient *one = *from;

    *from = one->next;
    one->next = *to;
    *to = one;
}

static void go_ill(struct village *village)
{
    for (struct patient **at = &village->well; *at;)
        if (happens(village, 20)) {
            (*at)->wait = 0;
            (*at)->visits++;
            move_patient(at, &village->waiting);
        } else
            at = &(*at)->next;
}

static void admit(struct village *village)
{
    for (struct patient **at = &village->waiting; *at;) {
        (*at)->wait++;
        if (village->staff > 0) {
            village->staff--;
            move_patient(at, &village->treated);
        } else
            at = &(*at)->next;
    }
}

static void dismiss(struct village *village)
{
    for (struct patient **at = &village->treated; *at;)
        if (happens(village, 3)) {
            village->staff++;
            move_patient(at, village->level + 1 < HEALTH_LEVELS && happens(village, 4)
                                 ? &village->up
                                 : &village->well);
        } else
            at = &(*at)->next;
}

static void live(const void *arguments)
{
    struct village *me = *(struct village *const *)arguments;

    TASK();
    for (int i = 0; me->level > 0 && i < HEALTH_CHILDREN; i++) {
        struct village *child = me->child[i];

        SPAWN(live, child);
    }
    dismiss(me);
    go_ill(me);
    SYNC();
    for (int i = 0; me->level > 0 && i < HEALTH_CHILDREN; i++)
        while (me->child[i]->up)
            move_patient(&me->child[i]->up, &me->waiting);
    admit(me);
}

static void live_on(const void *arguments)
{
    struct village *all = *(struct village *const *)arguments;

    for (int step = 0; step < HEALTH_STEPS; step++) {
        struct village *village = all;

        SPAWN(live, village);
        SYNC();
    }
}

static uint64_t free_patients(struct patient *list, uint64_t weight)
{
    uint64_t sum = 0;

    while (list) {
        struct patient *next = list->next;

        sum += weight * (uint64_t)(1 + list->wait + 1000 * list->visits);
        free(list);
        list = next;
    }
    return sum;
}

static uint64_t free_village(struct village *village)
{
    uint64_t sum = free_patients(village->well, 1) + free_patients(village->waiting, 7) +
                   free_patients(village->treated, 31) + free_patients(village->up, 101);

    for (int i = 0; village->level > 0 && i < HEALTH_CHILDREN; i++)
        sum = 3 * sum + free_village(village->child[i]);
    free(village);
    return sum % 1000000000039;
}

static int run_health(void)
{
    struct village *all = make_village(HEALTH_LEVELS - 1, 0);

    RUN(live_on, all);
    return free_village(all) == HEALTH_RESULT;
}

/* ---- uts: a tree of chance, of which nobody knows how large a part is ---- */

#define UTS_FIRST 2000
#define UTS_CHILDREN 8
#define UTS_PER_MILLION 124900 /* of a node having children */
#define UTS_RESULT 2294816

struct node {
    uint64_t state;
    long *count;
};

/* SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t mix(uint64_t state)
{
    state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
    state = (state ^ state >> 27) * 0x94d049bb133111ebu;
    return state ^ state >> 31;
}

static void search(const void *arguments)
{
    const struct node *me = arguments;
    long below[UTS_CHILDREN] = {0}, sum = 1;
    int children = mix(me->state) % 1000000 < UTS_PER_MILLION ? UTS_CHILDREN : 0;

    TASK();
    for (int i = 0; i < children; i++) {
        struct node child = {mix(me->state + (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u), &below[i]};

        SPAWN(search, child);
    }
    SYNC();
    for (int i = 0; i < children; i++)
        sum += below[i];
    *me->count = sum;
}

static void search_all(const void *arguments)
{
    static long below[UTS_FIRST];

    for (int i = 0; i < UTS_FIRST; i++) {
        struct node child = {mix((uint64_t)i + 1), &below[i]};

        SPAWN(search, child);
    }
    SYNC();
    for (int i = 0; i < UTS_FIRST; i++)
        **(long *const *)arguments += below[i];
}

static int run_uts(void)
{
    long result = 0, *count = &result;

    RUN(search_all, count);
    return result == UTS_RESULT;
}

/* ---- the whole ---- */

static const struct {
    const char *name;
    int (*run)(void);
} kernels[] = {
    {"fib", run_fib},     {"nqueens", run_queens}, {"sort", run_sort}, {"strassen", run_strassen},
    {"sparselu", run_lu}, {"health", run_health},  {"uts", run_uts}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof(kernels) / sizeof(kernels[0]); i++)
        if (strcmp(argv[1], kernels[i].name) == 0) {
            int right;

            BEGIN();
            right = kernels[i].run();
            wall_s = cpu_s = 0;
#ifdef COUNT
            printf("%ld %s\n", (long)tasks_run, right ? "ok" : "wrong");
#else
            right = kernels[i].run() && right;
            printf("%.6f %.6f %s\n", wall_s, cpu_s, right ? "ok" : "wrong");
#endif
            END();
            return !right;
        }
    fprintf(stderr,
            "usage: tasks_kernels fib | nqueens | sort | strassen | sparselu | health | uts\n");
    return 2;
}
