/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbols - the functions of run-times that the library stands before, or asks.
 *
 * GOMP_*: gcc's (libgomp), which LLVM's has, too. Those that end in _start are what gcc before 4.9
 * calls. Loops are of long, or of unsigned long long (ull). __kmpc_*: LLVM's (libomp) and Intel's
 * (libiomp5). _ZN3tbb*: oneTBB's, as its compilers name them (runtime/tbb.c). */
#ifndef BERTH_RUNTIME_SYMBOLS_H
#define BERTH_RUNTIME_SYMBOLS_H

#define RT_TBB_SYMBOLS(X)                                                                                  \
    X(_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_) \
    X(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE)                                    \
    X(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt)                                   \
    X(_ZN3tbb6detail2r16createERNS0_2d114global_controlE)                                                  \
    X(_ZN3tbb6detail2r17destroyERNS0_2d114global_controlE)                                                 \
    X(_ZN3tbb6detail2r127global_control_active_valueEi)

#define RT_SYMBOLS(X)                                                                              \
    X(GOMP_parallel)                                                                               \
    X(GOMP_parallel_reductions)                                                                    \
    X(GOMP_parallel_sections)                                                                      \
    X(GOMP_parallel_loop_static)                                                                   \
    X(GOMP_parallel_loop_dynamic)                                                                  \
    X(GOMP_parallel_loop_guided)                                                                   \
    X(GOMP_parallel_loop_nonmonotonic_dynamic)                                                     \
    X(GOMP_parallel_loop_nonmonotonic_guided)                                                      \
    X(GOMP_parallel_loop_runtime)                                                                  \
    X(GOMP_parallel_loop_nonmonotonic_runtime)                                                     \
    X(GOMP_parallel_loop_maybe_nonmonotonic_runtime)                                               \
    X(GOMP_parallel_start)                                                                         \
    X(GOMP_parallel_sections_start)                                                                \
    X(GOMP_parallel_loop_static_start)                                                             \
    X(GOMP_parallel_loop_dynamic_start)                                                            \
    X(GOMP_parallel_loop_guided_start)                                                             \
    X(GOMP_parallel_loop_runtime_start)                                                            \
    X(GOMP_loop_dynamic_start)                                                                     \
    X(GOMP_loop_dynamic_next)                                                                      \
    X(GOMP_loop_nonmonotonic_dynamic_start)                                                        \
    X(GOMP_loop_nonmonotonic_dynamic_next)                                                         \
    X(GOMP_loop_guided_start)                                                                      \
    X(GOMP_loop_guided_next)                                                                       \
    X(GOMP_loop_nonmonotonic_guided_start)                                                         \
    X(GOMP_loop_nonmonotonic_guided_next)                                                          \
    X(GOMP_loop_runtime_start)                                                                     \
    X(GOMP_loop_runtime_next)                                                                      \
    X(GOMP_loop_nonmonotonic_runtime_start)                                                        \
    X(GOMP_loop_nonmonotonic_runtime_next)                                                         \
    X(GOMP_loop_maybe_nonmonotonic_runtime_start)                                                  \
    X(GOMP_loop_maybe_nonmonotonic_runtime_next)                                                   \
    X(GOMP_loop_ull_dynamic_start)                                                                 \
    X(GOMP_loop_ull_dynamic_next)                                                                  \
    X(GOMP_loop_ull_nonmonotonic_dynamic_start)                                                    \
    X(GOMP_loop_ull_nonmonotonic_dynamic_next)                                                     \
    X(GOMP_loop_ull_guided_start)                                                                  \
    X(GOMP_loop_ull_guided_next)                                                                   \
    X(GOMP_loop_ull_nonmonotonic_guided_start)                                                     \
    X(GOMP_loop_ull_nonmonotonic_guided_next)                                                      \
    X(GOMP_loop_ull_runtime_start)                                                                 \
    X(GOMP_loop_ull_runtime_next)                                                                  \
    X(GOMP_loop_ull_nonmonotonic_runtime_start)                                                    \
    X(GOMP_loop_ull_nonmonotonic_runtime_next)                                                     \
    X(GOMP_loop_ull_maybe_nonmonotonic_runtime_start)                                              \
    X(GOMP_loop_ull_maybe_nonmonotonic_runtime_next)                                               \
    X(GOMP_cancel)                                                                                 \
    X(GOMP_cancellation_point)                                                                     \
    X(__kmpc_fork_call)                                                                            \
    X(__kmpc_fork_call_if)                                                                         \
    X(__kmpc_push_num_threads)                                                                     \
    X(__kmpc_push_num_threads_strict)                                                              \
    X(__kmpc_push_num_threads_list)                                                                \
    X(__kmpc_push_num_threads_list_strict)                                                         \
    X(__kmpc_serialized_parallel)                                                                  \
    X(__kmpc_dispatch_init_4)                                                                      \
    X(__kmpc_dispatch_init_4u)                                                                     \
    X(__kmpc_dispatch_init_8)                                                                      \
    X(__kmpc_dispatch_init_8u)                                                                     \
    X(__kmpc_dispatch_next_4)                                                                      \
    X(__kmpc_dispatch_next_4u)                                                                     \
    X(__kmpc_dispatch_next_8)                                                                      \
    X(__kmpc_dispatch_next_8u)                                                                     \
    X(__kmpc_doacross_init)                                                                        \
    X(__kmpc_cancel)                                                                               \
    X(__kmpc_cancellationpoint)                                                                    \
    X(GOMP_task)                                                                                   \
    X(GOMP_taskwait)                                                                               \
    X(GOMP_taskwait_depend)                                                                        \
    X(GOMP_taskyield)                                                                              \
    X(GOMP_taskgroup_start)                                                                        \
    X(GOMP_taskgroup_end)                                                                          \
    X(GOMP_taskloop)                                                                               \
    X(GOMP_taskloop_ull)                                                                           \
    X(__kmpc_omp_task_alloc)                                                                       \
    X(__kmpc_omp_task)                                                                             \
    X(__kmpc_omp_task_with_deps)                                                                   \
    X(__kmpc_omp_taskwait)                                                                         \
    X(__kmpc_omp_wait_deps)                                                                        \
    X(__kmpc_omp_taskwait_deps_51)                                                                 \
    X(__kmpc_omp_taskyield)                                                                        \
    X(__kmpc_taskloop)                                                                             \
    X(__kmpc_taskloop_5)                                                                           \
    X(__kmpc_taskgroup)                                                                            \
    X(__kmpc_end_taskgroup)                                                                        \
    X(__kmpc_global_thread_num)                                                                    \
    X(omp_get_level)                                                                               \
    X(omp_get_max_threads)                                                                         \
    X(omp_get_num_threads)                                                                         \
    X(omp_get_schedule)                                                                            \
    X(omp_get_num_teams)                                                                           \
    X(omp_in_parallel)                                                                             \
    RT_TBB_SYMBOLS(X)

#define RT_SYMBOL(name) SYMBOL_##name,
enum rt_symbol { RT_SYMBOLS(RT_SYMBOL) SYMBOLS };
#undef RT_SYMBOL

#endif
