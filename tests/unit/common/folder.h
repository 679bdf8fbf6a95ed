/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder - folders of tests and benchmarks, and small files in them. Where one of these cannot do
 * what it shall, it says so and aborts. */
#ifndef BERTH_TESTS_FOLDER_H
#define BERTH_TESTS_FOLDER_H

#include <stddef.h>

/* Makes a new folder and fills in its path[size], whose name begins so. It is in $TMPDIR, or, where
 * that is not told or so long that sockets have no room below it, in /tmp. */
void folder_new(char *path, size_t size, const char *name);

/* Removes a folder, or a file, with all that is in it; links are not followed. 0, or -1. */
int folder_remove(const char *path);

/* Makes a folder of the folder, and those that lead to it. */
void folder_make(const char *folder, const char *path);

/* Writes a file of the folder, and makes the folders that lead to it. */
void folder_put(const char *folder, const char *path, const char *text);

/* The same; path[PATH_MAX] becomes where the file is. */
void folder_put_at(const char *folder, const char *name, const char *text, char *path);

/* Returns how many entries a folder has: "/proc/self/fd" tells how many descriptors are open. */
size_t folder_count(const char *path);

/* Writes a small file; reads the first line of one, "" where there is none, without its newline. */
void file_put(const char *path, const char *text);
void file_line(const char *path, char *text, size_t size);

#endif
