/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figure3 - what its two modes share. */
#ifndef TESTS_BENCH_FIGURE3_H
#define TESTS_BENCH_FIGURE3_H

/* Say what is wrong with what on stderr. Returns 1. */
int figure3_fail(const char *what, const char *why);

/* FILE.csv [WAY_BYTES [DRAM_GBPS [CLOCK_GHZ]]] */
int figure3_spec(int argc, char **argv);

#endif
