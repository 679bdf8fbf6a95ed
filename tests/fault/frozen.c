/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frozen - a process that lets nobody look at it, and the file server that it needs for that.
 *
 *   frozen serve FOLDER            mounts a file system there by /dev/fuse, with files f and mute
 *   frozen hold FILE [COMMAND..]   maps that file; ends with the command
 *   frozen fault FILE [COMMAND..]  does so, too, and nobody in it wants to change a mapping
 *   frozen exec FILE [COMMAND..]   prints its number, opens that file, which exec shall close, and
 *                                  calls exec; ends with the command, or where there is none, once
 *                                  exec goes on
 *
 * The first read of a file fails, and the next one is never answered. One thread touches it: the
 * kernel tries once more after the failure, and keeps the mmap_lock while it waits. Another thread
 * maps memory, and waits for the lock to write: every reader waits behind it. Without that one, who
 * wants to write from outside is the first to wait.
 *
 * That a process closes the file mute is never answered. Linux closes files in exec, and holds the
 * exec_update_lock while it does so; 6.18.44 has who reads `stat` of the process wait for that
 * lock.
 *
 * When the server ends, the page is refused and the process is killed by SIGBUS; an exec goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_BYTES (1 << 20)
#define ROOT 1
#define FILE_NODE 2
#define MUTE_NODE 3
#define FOR_EVER_S 3600

/* ---- the server ---- */

static void answer(int fd, const struct fuse_in_header *in, int error, const void *data,
                   size_t length)
{
    struct fuse_out_header out = {
        .len = (uint32_t)(sizeof(out) + length), .error = -error, .unique = in->unique};
    char reply[512];

    memcpy(reply, &out, sizeof(out));
    if (length)
        memcpy(reply + sizeof(out), data, length);
    if (write(fd, reply, sizeof(out) + length) < 0)
        perror("answer");
}

static void say(const char *what)
{
    puts(what);
    fflush(stdout);
}

static struct fuse_attr attributes(uint64_t node)
{
    return (struct fuse_attr){.ino = node,
                              .size = node == ROOT ? 0 : FILE_BYTES,
                              .nlink = 1,
                              .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0644,
                              .blksize = 4096};
}

static void answer_lookup(int fd, const struct fuse_in_header *in, const char *name)
{
    uint64_t node = strcmp(name, "mute") == 0 ? MUTE_NODE : FILE_NODE;
    struct fuse_entry_out entry = {.nodeid = node,
                                   .entry_valid = FOR_EVER_S,
                                   .attr_valid = FOR_EVER_S,
                                   .attr = attributes(node)};

    answer(fd, in, 0, &entry, sizeof(entry));
}

static void answer_read(int fd, const struct fuse_in_header *in)
{
    static int reads;

    if (reads++ == 0)
        answer(fd, in, EIO, NULL, 0);
}

static void serve_one(int fd, const struct fuse_in_header *in)
{
    struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
                                 .minor = FUSE_KERNEL_MINOR_VERSION,
                                 .max_background = 1,
                                 .congestion_threshold = 1,
                                 .max_write = 4096};
    struct fuse_attr_out attr = {.attr_valid = FOR_EVER_S, .attr = attributes(in->nodeid)};
    struct fuse_open_out opened = {.fh = 1};

    switch (in->opcode) {
    case FUSE_INIT:
        answer(fd, in, 0, &init, sizeof(init));
        break;
    case FUSE_GETATTR:
        answer(fd, in, 0, &attr, sizeof(attr));
        break;
    case FUSE_LOOKUP:
        answer_lookup(fd, in, (const char *)(in + 1));
        break;
    case FUSE_OPEN:
        answer(fd, in, 0, &opened, sizeof(opened));
        break;
    case FUSE_READ:
        answer_read(fd, in);
        break;
    case FUSE_RELEASE:
        answer(fd, in, 0, NULL, 0);
        break;
    case FUSE_FLUSH:
        if (in->nodeid == MUTE_NODE)
            say("mute is to be closed");
        else
            answer(fd, in, 0, NULL, 0);
        break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break;
    default:
        answer(fd, in, ENOSYS, NULL, 0);
    }
}

static int serve(const char *folder)
{
    static union {
        struct fuse_in_header in;
        char bytes[1 << 18];
    } request;
    char options[128];
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    if (fd < 0) {
        perror("/dev/fuse");
        return 1;
    }
    snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", fd);
    if (mount("frozen", folder, "fuse.frozen", MS_NOSUID | MS_NODEV, options) < 0) {
        perror(folder);
        return 1;
    }
    say("mounted");
    while (read(fd, &request, sizeof(request)) > 0)
        serve_one(fd, &request.in);
    return 0;
}

/* ---- the process ---- */

static void *touch(void *page)
{
    volatile const char *byte = page;

    (void)*byte;
    return NULL;
}

static void *keep_mapping(void *unused)
{
    (void)unused;
    for (;;) {
        void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        munmap(page, 4096);
        usleep(1000);
    }
    return NULL;
}

static pid_t start(char **command)
{
    pid_t pid = fork();

    if (pid == 0) {
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    return pid;
}

/* Starts the command, if there is one, before there is anything that its parent could hold. */
static pid_t start_any(char **command)
{
    return command[0] ? start(command) : -1;
}

/* Ends with the command; never without one. */
static int await(pid_t pid)
{
    int status;

    while (pid < 0)
        pause();
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int hold(const char *path, bool maps, char **command)
{
    pid_t pid = start_any(command);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *page = fd < 0 ? MAP_FAILED : mmap(NULL, FILE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    pthread_t thread[2];

    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (page == MAP_FAILED || pthread_create(&thread[0], NULL, touch, page) != 0 ||
        (maps && pthread_create(&thread[1], NULL, keep_mapping, NULL) != 0)) {
        perror(path);
        return 1;
    }
    return await(pid);
}

static int stall(const char *path, char **command)
{
    pid_t pid = start_any(command);
    char word[16];

    printf("%d\n", (int)getpid());
    fflush(stdout);
    if (open(path, O_RDONLY | O_CLOEXEC) >= 0) {
        snprintf(word, sizeof(word), "%d", (int)pid);
        execl("/proc/self/exe", "frozen", "await", word, NULL);
    }
    perror(path);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        return serve(argv[2]);
    if (argc >= 3 && (strcmp(argv[1], "hold") == 0 || strcmp(argv[1], "fault") == 0))
        return hold(argv[2], strcmp(argv[1], "hold") == 0, argv + 3);
    if (argc >= 3 && strcmp(argv[1], "exec") == 0)
        return stall(argv[2], argv + 3);
    if (argc == 3 && strcmp(argv[1], "await") == 0)
        return atoi(argv[2]) < 0 ? 0 : await((pid_t)atoi(argv[2]));
    fputs("usage: frozen serve FOLDER | frozen hold|fault|exec FILE [COMMAND..]\n", stderr);
    return 2;
}
