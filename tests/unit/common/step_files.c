/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/common/step_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void step_files_path(const struct fixture *f, const char *name, char path[STEP_FILES_PATH])
{
    char *slash;

    snprintf(path, 4096, "%s", f->packer.world.conf.socket);
    slash = strrchr(path, '/');
    sprintf(slash, "/steps/%s", name);
}

struct rt_page step_files_page(const struct fixture *f)
{
    struct rt_page page;
    char path[STEP_FILES_PATH];
    int fd;

    step_files_path(f, "1.0", path);
    fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, &page, sizeof(page)), sizeof(page));
    close(fd);
    assert_memory_equal(page.magic, RT_PAGE_MAGIC, sizeof(page.magic));
    assert_int_equal(page.generation % 2, 0);
    return page;
}

void step_files_say(const struct fixture *f, const void *bytes, size_t length)
{
    char path[STEP_FILES_PATH];
    int fd;

    step_files_path(f, "1.0" RT_SAID_SUFFIX, path);
    fd = open(path, O_WRONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

ino_t step_files_inode(const struct fixture *f, const char *name)
{
    struct stat file;
    char path[STEP_FILES_PATH];

    step_files_path(f, name, path);
    return stat(path, &file) == 0 ? file.st_ino : 0;
}
