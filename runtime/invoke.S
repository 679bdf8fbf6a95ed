/* SPDX-License-Identifier: GPL-2.0-or-later */
/* invoke - calls a region of LLVM's: two arguments, and as many pointers out of an array as it takes, which C
 * cannot say (runtime/wrap.c has its declaration). */

#if defined(__x86_64__)

    .text
    .globl wrap_invoke
    .hidden wrap_invoke
    .type wrap_invoke, @function
    .p2align 4
wrap_invoke: /* rdi region, rsi thread, rdx bound, rcx nargs, r8 arg */
    .cfi_startproc
    endbr64
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    mov %rdi, %r11
    mov %rsi, %rdi
    mov %rdx, %rsi
    mov %r8, %r10
    sub $4, %rcx /* so many are on the stack, a multiple of 16 bytes */
    jle 2f
    lea 1(%rcx), %rax
    and $-2, %rax
    shl $3, %rax
    sub %rax, %rsp
1:
    mov 24(%r10, %rcx, 8), %rax
    mov %rax, -8(%rsp, %rcx, 8)
    dec %rcx
    jnz 1b
2:
    mov (%r10), %rdx
    mov 8(%r10), %rcx
    mov 16(%r10), %r8
    mov 24(%r10), %r9
    xor %eax, %eax
    call *%r11
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size wrap_invoke, . - wrap_invoke

#elif defined(__aarch64__)

    .text
    .globl wrap_invoke
    .hidden wrap_invoke
    .type wrap_invoke, %function
    .p2align 4
wrap_invoke: /* x0 region, x1 thread, x2 bound, x3 nargs, x4 arg */
    .cfi_startproc
    hint 34 /* bti c */
    stp x29, x30, [sp, -16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    .cfi_def_cfa_register x29
    mov x16, x0
    mov x0, x1
    mov x1, x2
    mov x9, x4
    subs x10, x3, 6 /* so many are on the stack, a multiple of 16 bytes */
    b.le 2f
    add x11, x10, 1
    and x11, x11, -2
    sub sp, sp, x11, lsl 3
    add x12, x9, 48
1:
    sub x10, x10, 1
    ldr x11, [x12, x10, lsl 3]
    str x11, [sp, x10, lsl 3]
    cbnz x10, 1b
2:
    ldp x2, x3, [x9]
    ldp x4, x5, [x9, 16]
    ldp x6, x7, [x9, 32]
    blr x16
    mov sp, x29
    .cfi_def_cfa_register sp
    ldp x29, x30, [sp], 16
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size wrap_invoke, . - wrap_invoke

#endif

    .section .note.GNU-stack, "", %progbits
