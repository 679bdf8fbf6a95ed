/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder - a benchmark's own folder below /tmp. */
#ifndef BERTH_BENCH_FOLDER_H
#define BERTH_BENCH_FOLDER_H

/* Make it from a template as of mkdtemp(3), and have exit(3) remove it with all that is in it. 0,
 * or -1 with errno. One of a program; path stays where it is. */
int bench_folder(char *path);

#endif
