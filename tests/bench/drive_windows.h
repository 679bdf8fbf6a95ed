/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drive_windows - what it costs a berthd, which may be of another tree, to read 200 steps whose
 * rates change, and to decide anew where they stand. Its clock is played (played.h), so that all
 * windows end together and the CPU time between two ticks is that of one of them. */
#ifndef BERTH_BENCH_DRIVE_WINDOWS_H
#define BERTH_BENCH_DRIVE_WINDOWS_H

/* Prints "rates MS" n times: all are counted, and two of 40 programs have changed their rates; and
 * n times "deciding MS": besides, a step has come and another one has gone, so that a better
 * standing of all is sought, whatever was found before. Nobody is moved (replace_limit = 0), or the
 * next windows would judge that move. The files are in the folder. */
void drive_windows(const char *build, const char *folder, long n);

#endif
