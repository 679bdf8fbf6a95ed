/* SPDX-License-Identifier: GPL-2.0-or-later */
/* yields - included before all else (gcc -include), it lets other threads run before atomic
 * operations: one in eight gives up its CPU. Two threads then meet between any two operations,
 * which takes hours where that is left to the machine. A yield that takes a millisecond gave the
 * CPU to somebody else's work: on such a machine threads are interrupted anyway, and a hundred
 * yields for each of its milliseconds are left out. With clang it does nothing. */
#ifndef BERTH_TESTS_RUNTIME_YIELDS_H
#define BERTH_TESTS_RUNTIME_YIELDS_H

#if defined(__GNUC__) && !defined(__clang__) && !defined(__ASSEMBLER__)
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

/* Gives up the CPU. Returns how many milliseconds that took. */
static inline long yields_once(void)
{
    struct timespec began, ended;

    clock_gettime(CLOCK_MONOTONIC, &began);
    sched_yield();
    clock_gettime(CLOCK_MONOTONIC, &ended);
    return (ended.tv_sec - began.tv_sec) * 1000 + (ended.tv_nsec - began.tv_nsec) / 1000000;
}

static inline void yields(void)
{
    static __thread uint32_t chance __attribute__((tls_model("initial-exec")));
    static __thread long left_out __attribute__((tls_model("initial-exec")));

    if (chance == 0)
        chance = (uint32_t)(uintptr_t)&chance | 1;
    chance ^= chance << 13;
    chance ^= chance >> 17;
    chance ^= chance << 5;
    if ((chance & 7) == 0 && left_out-- <= 0)
        left_out = 100 * yields_once();
}

#define YIELDS(operation)                                                                          \
    __extension__({                                                                                \
        yields();                                                                                  \
        operation;                                                                                 \
    })

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_fetch_or
#undef atomic_fetch_and

#define atomic_load_explicit(at, order) YIELDS(__atomic_load_n(at, order))
#define atomic_store_explicit(at, value, order) YIELDS(__atomic_store_n(at, value, order))
#define atomic_exchange_explicit(at, value, order) YIELDS(__atomic_exchange_n(at, value, order))
#define atomic_compare_exchange_strong_explicit(at, was, value, order, failed)                     \
    YIELDS(__atomic_compare_exchange_n(at, was, value, 0, order, failed))
#define atomic_compare_exchange_weak_explicit(at, was, value, order, failed)                       \
    YIELDS(__atomic_compare_exchange_n(at, was, value, 1, order, failed))
#define atomic_fetch_add_explicit(at, value, order) YIELDS(__atomic_fetch_add(at, value, order))
#define atomic_fetch_sub_explicit(at, value, order) YIELDS(__atomic_fetch_sub(at, value, order))
#define atomic_fetch_or_explicit(at, value, order) YIELDS(__atomic_fetch_or(at, value, order))
#define atomic_fetch_and_explicit(at, value, order) YIELDS(__atomic_fetch_and(at, value, order))

#define atomic_load(at) atomic_load_explicit(at, __ATOMIC_SEQ_CST)
#define atomic_store(at, value) atomic_store_explicit(at, value, __ATOMIC_SEQ_CST)
#define atomic_exchange(at, value) atomic_exchange_explicit(at, value, __ATOMIC_SEQ_CST)
#define atomic_compare_exchange_strong(at, was, value)                                             \
    atomic_compare_exchange_strong_explicit(at, was, value, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define atomic_compare_exchange_weak(at, was, value)                                               \
    atomic_compare_exchange_weak_explicit(at, was, value, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#define atomic_fetch_add(at, value) atomic_fetch_add_explicit(at, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_sub(at, value) atomic_fetch_sub_explicit(at, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_or(at, value) atomic_fetch_or_explicit(at, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_and(at, value) atomic_fetch_and_explicit(at, value, __ATOMIC_SEQ_CST)
#endif

#endif
