/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nodes - in which domain a thread runs: the memory node, or the last level cache where the step
 * has CPUs of one memory node only.
 *
 * Domains are what locks and barriers are divided by. An answer may be old by a few calls, and a
 * thread may be moved as soon as it has it: what is built on a domain has to be right with any. */
#ifndef BERTH_RUNTIME_NODES_H
#define BERTH_RUNTIME_NODES_H

/* Domains are numbered as the machine's nodes, or caches, are: 0 to NODES_MAX - 1; where there are
 * more of them, the d-th and the (d + NODES_MAX)-th are one. */
#define NODES_MAX 32

/* Stands for the step's page, so that tests can play machines that this one is not:
 * "0-1|2,3"  the CPUs of domain 0, of domain 1;
 * "*4"       threads are dealt to 4 domains by turns, as they come;
 * "~4"       the same, and each goes on to the next domain whenever it asks.
 * What is none of these counts as nothing. */
#define NODES_ENV "BERTH_RT_NODES"

/* Returns the domain of the calling thread; 0 where none is known. Keeps errno; may be called by
 * any thread at any time, and costs a few ns. */
unsigned nodes_domain(void);

/* Returns how many domains the step has, at least 1. They need not be the first numbers. */
unsigned nodes_domains(void);

/* Returns how many CPUs the step has by its page; 0: it does not say. */
unsigned nodes_cpus(void);

/* Takes the words of NODES_ENV, or NULL for the page's domains. For tests: the library reads them
 * when it is loaded. Returns 0, or -1 where they are not such words. */
int nodes_play(const char *words);

#endif
