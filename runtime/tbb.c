/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tbb - stands before the functions by which programs of oneTBB (libtbb.so.12) begin an algorithm
 * and hand out its tasks, and has the library run a quarter fewer threads while there is contention
 * (Adaptive Scheduling, Porterfield 2012, section 3.1).
 *
 * TBB decides itself which of its workers rest, at the end of a task, when a tbb::global_control
 * says that fewer are allowed. It is made and taken back here as its class would: an object that
 * stays where it is, and two functions of the library. The least of all such objects counts, so a
 * program's own limit is never raised. An algorithm hands out tasks as long as it splits its range,
 * and one that is at work in its last tasks is not looked at any more: it ends as it is.
 *
 * Whoever comes looks; one who comes while another changes it goes on. Functions of C++ are called
 * here by their mangled names; what they throw passes through, because nothing is to be done after
 * them. TBB of before 2021 (libtbb.so.2) has other names, and is left alone. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/callee.h"
#include "runtime/contention.h"
#include "runtime/objects.h"
#include "runtime/rt.h"

#define MAX_PARALLELISM 0 /* global_control::max_allowed_parallelism */

#define CREATE _ZN3tbb6detail2r16createERNS0_2d114global_controlE
#define DESTROY _ZN3tbb6detail2r17destroyERNS0_2d114global_controlE
#define ACTIVE _ZN3tbb6detail2r127global_control_active_valueEi

/* tbb::global_control, as its header has it since 2021. */
struct control {
    size_t value;
    intptr_t reserved;
    int parameter;
};

typedef void change_control(struct control *control);

static struct {
    _Atomic bool is; /* the control is the library's */
    atomic_flag busy;
    struct control control;
    change_control *destroy;
} limit;

/* ---- fewer, and as many as before ---- */

#define BESIDE_(function, name) object_beside(function, SYMBOL_##name)
#define BESIDE(function, name) BESIDE_(function, name)

/* `function`: any of the library whose threads they are. */
static void set_limit(const void *function)
{
    size_t (*active)(int) = BESIDE(function, ACTIVE), threads;
    change_control *create = BESIDE(function, CREATE);

    limit.destroy = BESIDE(function, DESTROY);
    if (!active || !create || !limit.destroy)
        return;
    threads = active(MAX_PARALLELISM);
    limit.control = (struct control){.value = threads - threads / CONTENTION_PART,
                                     .parameter = MAX_PARALLELISM};
    create(&limit.control);
    atomic_store(&limit.is, true);
}

static void lift_limit(void)
{
    atomic_store(&limit.is, false);
    limit.destroy(&limit.control);
}

static void look(const void *function)
{
    const struct rt_page *page = rt_page(RT_THROTTLE);
    bool wanted = page && contention_is(page, contention_clock());

    if (wanted == atomic_load_explicit(&limit.is, memory_order_relaxed) ||
        atomic_flag_test_and_set(&limit.busy))
        return;
    if (wanted && !atomic_load(&limit.is))
        set_limit(function);
    else if (!wanted && atomic_load(&limit.is))
        lift_limit();
    atomic_flag_clear(&limit.busy);
}

/* ---- what programs call ---- */

#define HERE __builtin_return_address(0)

#define EXECUTE                                                                                    \
    _ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_
#define SPAWN _ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE
#define SPAWN_AT _ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt

#define HOOK_(name, arguments, handed_on, anew)                                                    \
    __attribute__((visibility("default"))) void name arguments;                                    \
    void name arguments                                                                            \
    {                                                                                              \
        void(*go_on) arguments = callee_of(HERE, SYMBOL_##name, anew);                             \
                                                                                                   \
        look((const void *)go_on);                                                                 \
        go_on handed_on;                                                                           \
    }
#define HOOK(name, arguments, handed_on, anew) HOOK_(name, arguments, handed_on, anew)

HOOK(EXECUTE, (void *task, void *context, void *wait, void *waiting),
     (task, context, wait, waiting), true)
HOOK(SPAWN, (void *task, void *context), (task, context), false)
HOOK(SPAWN_AT, (void *task, void *context, unsigned short slot), (task, context, slot), false)
