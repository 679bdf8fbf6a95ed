/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth-hand - the root process of berth where berthd is none (the key `user`): berthd, started by
 * root, becomes it (daemon/apart.h), and it starts berthd again as that user, with no capability.
 *
 * It answers what berthd asks, one message at a time, and gives it the connections of root's
 * plugin. When berthd ends, it ends with the same status, but for one that a signal has ended: then
 * another is started, which goes on by the journal. When it ends, the kernel kills berthd. It reads
 * no file of configuration: what root has configured is on its command line. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/hand/ask.h"
#include "packer/hand/door.h"
#include "packer/hand/pass.h"
#include "packer/system/urgency.h"

#define LOOK_MS 1000 /* at the file of the plugin's socket */
#define STARTS_MAX 5 /* of berthd */
#define END_LOOK_NS 10000000
#define END_LOOKS 1500 /* 15 s */
#define WAITING_MAX                                                                                \
    8 /* as the threads of berthd that may wait for users' processes (base/hands.h) */

/* What root has configured. */
struct site {
    const char *cgroup_root, *tree, *plugin;
    bool unified, rebinds, idle;
    uid_t uid;
    gid_t gid;
};

struct process {
    struct hand *hand;
    struct door door;
    int ours[HAND_LINKS]; /* of the socket pairs whose other ends berthd has */
    int signals;
    int waiting; /* processes that answer what may take its time */
    pid_t head;  /* berthd; 0: it has ended, by a signal (crashed), or with that status */
    int status;
    bool crashed;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "berth-hand: %s: %s\n", what, why);
    return EXIT_FAILURE;
}

/* ---- the head ---- */

static void set_signals(int how)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(how, &signals, NULL);
}

/* In the child. The groups are those that root has given this process already. */
static void become_head(const struct site *site, const int theirs[HAND_LINKS], char **argv)
{
    const pid_t hand = getppid();
    int high[HAND_LINKS]; /* above all that they shall be */
    struct berth_error err;

    for (int i = 0; i < HAND_LINKS; i++)
        if ((high[i] = fcntl(theirs[i], F_DUPFD_CLOEXEC, HAND_FD_FIRST + HAND_LINKS)) < 0)
            return;
    for (int i = 0; i < HAND_LINKS; i++)
        if (dup2(high[i], HAND_FD_FIRST + i) < 0)
            return;
    set_signals(SIG_UNBLOCK);
    if (urgency_raise(&err) < 0) /* it is not inherited */
        fail("berthd", err.text);
    if (setresgid(site->gid, site->gid, site->gid) < 0 ||
        setresuid(site->uid, site->uid, site->uid) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != hand ||
        setenv(HAND_APART, "1", 1) < 0)
        return;
    execv(argv[0], argv);
}

static int start_head(struct process *process, const struct site *site, char **argv)
{
    int theirs[HAND_LINKS];

    for (int i = 0; i < HAND_LINKS; i++) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
            return fail("socket", strerror(errno));
        process->ours[i] = pair[0];
        theirs[i] = pair[1];
    }
    process->head = fork();
    if (process->head == 0) {
        become_head(site, theirs, argv);
        fail(argv[0], strerror(errno));
        _exit(EXIT_FAILURE);
    }
    for (int i = 0; i < HAND_LINKS; i++)
        close(theirs[i]);
    return process->head < 0 ? fail("fork", strerror(errno)) : EXIT_SUCCESS;
}

/* ---- what it is asked ---- */

static int send_answer(int to, const struct hand_message *message, const struct hand_answer *answer)
{
    int rc = pass_send(to, answer, hand_answer_size(message, answer), answer->fd);

    file_close(answer->fd);
    return rc;
}

/* What may wait for a user's process is answered by a process of its own, in which nothing else
 * waits with it. Where there are too many of those already, by nobody: the other end of `to` is
 * closed. */
static void answer_apart(struct process *process, enum hand_who who,
                         const struct hand_message *message, size_t size, int to)
{
    static struct hand_answer answer;
    const pid_t hand = getpid();
    pid_t child = to >= 0 && process->waiting < WAITING_MAX ? fork() : -1;

    process->waiting += child > 0;
    if (child != 0)
        return file_close(to);
    for (int i = 0; i < HAND_LINKS; i++)
        close(process->ours[i]);
    file_close(process->door.fd);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != hand)
        _exit(EXIT_FAILURE);
    hand_answer(process->hand, who, message, size, &answer);
    _exit(send_answer(to, message, &answer) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* One message. False: berthd is not there any more, or does not hear its answer. */
static bool serve_one(struct process *process, int link)
{
    static struct hand_message message;
    static struct hand_answer answer;
    enum hand_who who = link == HAND_LINK_ROOT ? HAND_BY_ROOT : HAND_BY_HEAD;
    int with;
    ssize_t got = pass_receive(process->ours[link], &message, sizeof(message), &with);
    size_t size = got < 0 ? 0 : (size_t)got;

    if (got == 0 || (got < 0 && errno != EMSGSIZE))
        return false;
    if (hand_is_slow(&message, size)) {
        answer_apart(process, who, &message, size, with);
        return true;
    }
    file_close(with);
    hand_answer(process->hand, who, &message, size, &answer);
    return send_answer(process->ours[link], &message, &answer) == 0;
}

static void note_end(struct process *process, int how)
{
    process->status = WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_FAILURE;
    process->crashed = WIFSIGNALED(how);
    if (process->crashed)
        fail("berthd", strsignal(WTERMSIG(how)));
    process->head = 0;
}

/* Children that have ended. */
static void bury(struct process *process)
{
    pid_t child;
    int how;

    while ((child = waitpid(-1, &how, WNOHANG)) > 0)
        if (child == process->head)
            note_end(process, how);
        else
            process->waiting--;
}

static void on_signal(struct process *process)
{
    struct signalfd_siginfo info;

    if (read(process->signals, &info, sizeof(info)) != sizeof(info))
        return;
    if (info.ssi_signo == SIGCHLD)
        bury(process);
    else
        kill(process->head, (int)info.ssi_signo);
}

/* Ends a berthd that does not speak any more, or not as berthd does: it has its time to stop. */
static void end_head(struct process *process)
{
    const struct timespec look = {.tv_nsec = END_LOOK_NS};
    pid_t ended = 0;
    int how;

    kill(process->head, SIGTERM);
    for (int i = 0; ended == 0 && i < END_LOOKS; i++) {
        ended = waitpid(process->head, &how, WNOHANG);
        if (ended == 0)
            nanosleep(&look, NULL);
    }
    if (ended == 0) {
        kill(process->head, SIGKILL);
        ended = waitpid(process->head, &how, 0);
    }
    if (ended == process->head)
        note_end(process, how);
}

/* Until berthd has ended. */
static void serve(struct process *process)
{
    struct pollfd wait[] = {{process->ours[HAND_LINK_ROOT], POLLIN, 0},
                            {process->ours[HAND_LINK_HEAD], POLLIN, 0},
                            {process->door.fd, POLLIN, 0},
                            {process->signals, POLLIN, 0}};

    while (process->head) {
        wait[2].fd = process->door.fd;
        if (poll(wait, 4, LOOK_MS) == 0)
            door_check(&process->door);
        if (wait[3].revents)
            on_signal(process);
        for (int link = HAND_LINK_ROOT; process->head && link <= HAND_LINK_HEAD; link++)
            if (wait[link].revents && !serve_one(process, link))
                end_head(process);
        if (process->head && wait[2].revents)
            door_pass(&process->door, process->ours[HAND_LINK_DOOR]);
    }
    for (int i = 0; i < HAND_LINKS; i++)
        close(process->ours[i]);
}

/* Starts berthd, and starts it again where a signal has ended it: who connects meanwhile waits. One
 * that is ended again and again is left to whoever starts this process. */
static int serve_all(struct process *process, const struct site *site, char **argv)
{
    int starts = 0;

    do {
        if (start_head(process, site, argv) != EXIT_SUCCESS)
            return EXIT_FAILURE;
        hand_serve_head(process->hand, process->head);
        serve(process);
    } while (process->crashed && ++starts < STARTS_MAX);
    return process->status;
}

/* ---- start ---- */

static int parse(int argc, char **argv, struct site *site)
{
    static const struct option options[] = {{"cgroup-root", required_argument, NULL, 'c'},
                                            {"tree", required_argument, NULL, 't'},
                                            {"plugin-socket", required_argument, NULL, 'p'},
                                            {"uid", required_argument, NULL, 'u'},
                                            {"gid", required_argument, NULL, 'g'},
                                            {"unified", no_argument, NULL, '2'},
                                            {"rebinds", no_argument, NULL, 'r'},
                                            {"idle", no_argument, NULL, 'i'},
                                            {0}};
    int option;

    while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            site->cgroup_root = optarg;
            break;
        case 't':
            site->tree = optarg;
            break;
        case 'p':
            site->plugin = optarg;
            break;
        case 'u':
            site->uid = (uid_t)strtoul(optarg, NULL, 10);
            break;
        case 'g':
            site->gid = (gid_t)strtoul(optarg, NULL, 10);
            break;
        case '2':
            site->unified = true;
            break;
        case 'r':
            site->rebinds = true;
            break;
        case 'i':
            site->idle = true;
            break;
        default:
            return -1;
        }
    }
    return site->cgroup_root && site->tree && site->plugin && site->uid && site->gid &&
                   optind < argc
               ? optind
               : -1;
}

static struct hand *make_hand(const struct site *site, struct rootfs *root)
{
    struct berth_error err;
    struct hand *hand;

    if (rootfs_open(root, "/", &err) < 0)
        return fail("/", err.text), NULL;
    hand = hand_new(&(struct hand_site){.root = root,
                                        .cgroup_root = site->cgroup_root,
                                        .tree = site->tree,
                                        .unified = site->unified,
                                        .rebinds = site->rebinds});
    if (hand)
        hand_allow_idle(hand, site->idle);
    return hand;
}

int main(int argc, char **argv)
{
    struct site site = {.unified = false};
    struct process process = {.hand = NULL};
    struct berth_error err;
    struct rootfs root;
    int first = parse(argc, argv, &site), status;
    sigset_t all;

    if (first < 0)
        return fail("usage", "berthd(8) starts it, where the key user of berth.conf says so"), 2;
    set_signals(SIG_BLOCK);
    sigprocmask(SIG_BLOCK, NULL, &all);
    process.signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || process.signals < 0)
        return fail("start", strerror(errno));
    if (door_open(&process.door, site.plugin, &err) < 0)
        return fail("socket", err.text);
    process.hand = make_hand(&site, &root);
    status = process.hand ? serve_all(&process, &site, argv + first) : EXIT_FAILURE;
    door_close(&process.door);
    hand_free(process.hand);
    return status;
}
