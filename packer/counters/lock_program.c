/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/counters/lock_program.h"

#include <linux/futex.h>
#include <string.h>

#ifndef FUTEX_LOCK_PI2 /* Linux 5.14 */
#define FUTEX_LOCK_PI2 13
#endif

/* One instruction each, as in linux/filter.h of the kernel. */
#define INSN(c, d, s, o, i)                                                                        \
    ((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define MOV_REG(d, s) INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i) INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ALU_IMM(op, d, i) INSN(BPF_ALU64 | (op) | BPF_K, d, 0, 0, i)
#define ALU_REG(op, d, s) INSN(BPF_ALU64 | (op) | BPF_X, d, s, 0, 0)
#define LOAD(d, s, o) INSN(BPF_LDX | BPF_DW | BPF_MEM, d, s, o, 0)
#define STORE(d, o, s) INSN(BPF_STX | BPF_DW | BPF_MEM, d, s, o, 0)
#define STORE_WORD(d, o, s) INSN(BPF_STX | BPF_W | BPF_MEM, d, s, o, 0)
#define ATOMIC_ADD(d, o, s) INSN(BPF_STX | BPF_DW | BPF_XADD, d, s, o, 0)
#define JUMP_IMM(op, d, i, o) INSN(BPF_JMP | (op) | BPF_K, d, 0, o, i)
#define CALL(f) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##f)
#define EXIT() INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define MAP(d, fd) INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)

#define R0 BPF_REG_0
#define R1 BPF_REG_1
#define R2 BPF_REG_2
#define R3 BPF_REG_3
#define R4 BPF_REG_4
#define R6 BPF_REG_6
#define R7 BPF_REG_7
#define STACK BPF_REG_10
#define THREAD (-8) /* on the stack: the thread's key, process number in its upper half */
#define TGID (-12)  /* the process number */
#define NOW (-24)

#define ENDED offsetof(struct lock_numbers, ended_ns)
#define BEGAN offsetof(struct lock_numbers, began_ns)
#define WAITING offsetof(struct lock_numbers, waiting)

/* In the context of a sys_enter tracepoint: 8 bytes common, 8 the call's number, 8 an argument. */
#define ARGUMENT_2 24

static void append(struct lock_program *program, const struct bpf_insn *insn, size_t length)
{
    memcpy(program->insn + program->length, insn, length * sizeof(*insn));
    program->length += length;
}
#define APPEND(program, ...)                                                                       \
    append(program, (struct bpf_insn[]){__VA_ARGS__},                                              \
           sizeof((struct bpf_insn[]){__VA_ARGS__}) / sizeof(struct bpf_insn))

/* End, unless this futex call is one that waits. */
static void append_operation(struct lock_program *program)
{
    APPEND(program, LOAD(R6, R1, ARGUMENT_2),           /* r6 = futex_op */
           ALU_IMM(BPF_AND, R6, FUTEX_CMD_MASK & 0x7f), /* without its flags */
           JUMP_IMM(BPF_JEQ, R6, FUTEX_WAIT, 6),        /* one of these five: go on */
           JUMP_IMM(BPF_JEQ, R6, FUTEX_LOCK_PI, 5),     /* behind this part */
           JUMP_IMM(BPF_JEQ, R6, FUTEX_WAIT_BITSET, 4),
           JUMP_IMM(BPF_JEQ, R6, FUTEX_WAIT_REQUEUE_PI, 3),
           JUMP_IMM(BPF_JEQ, R6, FUTEX_LOCK_PI2, 2), /* the last of them */
           MOV_IMM(R0, 0),                           /* any other: */
           EXIT());                                  /* nothing to do */
}

/* Who runs: keys of both maps on the stack. */
static void append_keys(struct lock_program *program)
{
    APPEND(program, CALL(get_current_pid_tgid), /* r0 = tgid << 32 | pid */
           STORE(STACK, THREAD, R0),            /* key of `start` */
           ALU_IMM(BPF_RSH, R0, 32),            /* r0 = tgid */
           STORE_WORD(STACK, TGID, R0));        /* key of `process` */
}

/* r0 = the element of the map, which is not there: end. */
static void append_lookup(struct lock_program *program, int map, int key)
{
    APPEND(program, MAP(R1, map),       /* r1 = the map */
           MOV_REG(R2, STACK),          /* r2 = the key's address: */
           ALU_IMM(BPF_ADD, R2, key),   /* so far below the stack's top */
           CALL(map_lookup_elem),       /* r0 = address of the value, or 0 */
           JUMP_IMM(BPF_JNE, R0, 0, 1), /* there is one: go on */
           EXIT());                     /* none: nothing to do, and r0 is 0 */
}

static void append_enter(struct lock_program *program, const struct lock_maps *maps)
{
    append_keys(program);
    append_lookup(program, maps->process, TGID);
    APPEND(program, MOV_REG(R6, R0),     /* r6 = the process's numbers */
           CALL(ktime_get_ns),           /* r0 = now */
           MOV_REG(R7, R0),              /* r7 = now */
           STORE(STACK, NOW, R0),        /* the value of start[thread] */
           MAP(R1, maps->start),         /* r1 = the map */
           MOV_REG(R2, STACK),           /* r2 = the key's address: */
           ALU_IMM(BPF_ADD, R2, THREAD), /* the thread */
           MOV_REG(R3, STACK),           /* r3 = the value's address: */
           ALU_IMM(BPF_ADD, R3, NOW),    /* now */
           MOV_IMM(R4, BPF_NOEXIST),     /* r4: only if there is none */
           CALL(map_update_elem),        /* start[thread] = now; r0 = 0 if that worked */
           JUMP_IMM(BPF_JNE, R0, 0, 3),  /* not: to the end */
           ATOMIC_ADD(R6, BEGAN, R7),    /* began += now, before */
           MOV_IMM(R1, 1),               /* r1 = 1 */
           ATOMIC_ADD(R6, WAITING, R1),  /* waiting += 1 */
           MOV_IMM(R0, 0),               /* r0 = 0, for the caller */
           EXIT());                      /* the end */
}

static void append_leave(struct lock_program *program, const struct lock_maps *maps)
{
    append_keys(program);
    append_lookup(program, maps->start, THREAD);
    APPEND(program, LOAD(R6, R0, 0),     /* r6 = the thread's start */
           MAP(R1, maps->start),         /* r1 = the map */
           MOV_REG(R2, STACK),           /* r2 = the key's address: */
           ALU_IMM(BPF_ADD, R2, THREAD), /* the thread */
           CALL(map_delete_elem));       /* it waits no more */
    append_lookup(program, maps->process, TGID);
    APPEND(program, MOV_REG(R7, R0),    /* r7 = the process's numbers */
           MOV_IMM(R1, -1),             /* r1 = -1 */
           ATOMIC_ADD(R7, WAITING, R1), /* waiting -= 1, before */
           MOV_REG(R1, R6),             /* r1 = the start */
           ALU_IMM(BPF_NEG, R1, 0),     /* r1 = -the start */
           ATOMIC_ADD(R7, BEGAN, R1),   /* began -= start */
           CALL(ktime_get_ns),          /* r0 = now */
           ALU_REG(BPF_SUB, R0, R6),    /* r0 = now - start */
           ATOMIC_ADD(R7, ENDED, R0),   /* ended += that */
           MOV_REG(R6, R0));            /* r6 = that, too */
    append_lookup(program, maps->thread, THREAD);
    APPEND(program, ATOMIC_ADD(R0, 0, R6), /* thread += that */
           MOV_IMM(R0, 0),                 /* r0 = 0, for the caller */
           EXIT());                        /* the end */
}

void lock_program_write(struct lock_program *program, enum lock_hook hook,
                        const struct lock_maps *maps)
{
    program->length = 0;
    if (hook == LOCK_ENTER_FUTEX)
        append_operation(program);
    if (hook == LOCK_LEAVE)
        append_leave(program, maps);
    else
        append_enter(program, maps);
}
