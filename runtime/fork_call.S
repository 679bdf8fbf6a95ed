/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fork_call - stands before the functions of LLVM's OpenMP run-time.
 *
 * __kmpc_fork_call has as many arguments as a region has shared variables, which C cannot hand on. So
 * each function here keeps the registers that have arguments, asks its function of openmp.c, and jumps to
 * what that returns, with registers and stack as they were. Elsewhere than on x86-64 and aarch64 LLVM's
 * regions are their own. */

#if defined(__x86_64__)

.macro before name, function
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    sub $56, %rsp
    .cfi_adjust_cfa_offset 56
    mov %rdi, (%rsp)
    mov %rsi, 8(%rsp)
    mov %rdx, 16(%rsp)
    mov %rcx, 24(%rsp)
    mov %r8, 32(%rsp)
    mov %r9, 40(%rsp)
    mov %rax, 48(%rsp)
    call \function
    mov %rax, %r11
    mov (%rsp), %rdi
    mov 8(%rsp), %rsi
    mov 16(%rsp), %rdx
    mov 24(%rsp), %rcx
    mov 32(%rsp), %r8
    mov 40(%rsp), %r9
    mov 48(%rsp), %rax
    add $56, %rsp
    .cfi_adjust_cfa_offset -56
    jmp *%r11
    .cfi_endproc
    .size \name, . - \name
.endm

#elif defined(__aarch64__)

.macro before name, function
    .globl \name
    .type \name, %function
    .p2align 4
\name:
    .cfi_startproc
    hint 34 /* bti c */
    stp x29, x30, [sp, -80]!
    .cfi_adjust_cfa_offset 80
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    mov x29, sp
    stp x0, x1, [sp, 16]
    stp x2, x3, [sp, 32]
    stp x4, x5, [sp, 48]
    stp x6, x7, [sp, 64]
    bl \function
    mov x16, x0
    ldp x0, x1, [sp, 16]
    ldp x2, x3, [sp, 32]
    ldp x4, x5, [sp, 48]
    ldp x6, x7, [sp, 64]
    ldp x29, x30, [sp], 80
    .cfi_adjust_cfa_offset -80
    .cfi_restore x29
    .cfi_restore x30
    br x16
    .cfi_endproc
    .size \name, . - \name
.endm

#endif

#if defined(__x86_64__) || defined(__aarch64__)
    .text
    before __kmpc_fork_call, openmp_fork_call
    before __kmpc_fork_call_if, openmp_fork_call_if
    before __kmpc_serialized_parallel, openmp_serialized
    before __kmpc_push_num_threads, openmp_asked
    before __kmpc_push_num_threads_strict, openmp_asked_strict
    before __kmpc_push_num_threads_list, openmp_asked_list
    before __kmpc_push_num_threads_list_strict, openmp_asked_list_strict
#endif

    .section .note.GNU-stack, "", %progbits
