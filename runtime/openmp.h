/* SPDX-License-Identifier: GPL-2.0-or-later */
/* openmp - what fork_call.S asks, with the arguments of LLVM's functions, before it jumps to what
 * they return: the run-time's own function. */
#ifndef BERTH_RUNTIME_OPENMP_H
#define BERTH_RUNTIME_OPENMP_H

/* A parallel region: its ident_t (or NULL), the number of its own arguments, and its function. */
void *openmp_fork_call(void *location, int nargs, const void *region);

/* One that runs alone unless the condition holds (LLVM 16). */
void *openmp_fork_call_if(void *location, int nargs, const void *region, int condition);

/* A region that an if has made run alone. */
void *openmp_serialized(void *location);

/* num_threads clauses: of one number, with strict (OpenMP 6), of several numbers. */
void *openmp_asked(void *location);
void *openmp_asked_strict(void *location);
void *openmp_asked_list(void *location);
void *openmp_asked_list_strict(void *location);

#endif
