/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mariadb_box - see mariadb_box.h */
#include "tests/unit/common/mariadb_box.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/sql/sql.h"
#include "tests/unit/common/folder.h"

#define WAIT_S 120 /* until it listens, or has stopped; the machine may be slow */
#define POLL_US 50000

/* Start a program that ends with this process, its output in FOLDER/NAME. */
static pid_t launch(const struct mariadb_box *box, const char *name, const char *const *argv)
{
    char path[128];
    pid_t pid = fork();
    int fd;

    if (pid != 0)
        return pid;
    snprintf(path, sizeof(path), "%s/%s", box->folder, name);
    fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("PATH", "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin", 1);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

static int wait_for(pid_t pid)
{
    int status = -1;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The arguments that both programs take. */
struct words {
    char user[80], data[128], base[128], socket[128], pid_file[128];
};

static void words_of(const struct mariadb_box *box, struct words *words)
{
    const struct passwd *me = getpwuid(geteuid());

    snprintf(words->user, sizeof(words->user), "--user=%.60s", me ? me->pw_name : "root");
    snprintf(words->data, sizeof(words->data), "--datadir=%s/data", box->folder);
    snprintf(words->base, sizeof(words->base), "--tmpdir=%s", box->folder);
    snprintf(words->socket, sizeof(words->socket), "--socket=%s/sock", box->folder);
    snprintf(words->pid_file, sizeof(words->pid_file), "--pid-file=%s/pid", box->folder);
}

static bool install(const struct mariadb_box *box, char why[256])
{
    struct words words;
    const char *argv[] = {"mariadb-install-db",
                          "--no-defaults",
                          words.user,
                          words.data,
                          "--auth-root-authentication-method=normal",
                          "--skip-test-db",
                          "--skip-name-resolve",
                          NULL};
    int rc;

    words_of(box, &words);
    rc = wait_for(launch(box, "install.log", argv));
    if (rc != 0)
        snprintf(why, 256, "mariadb-install-db %s",
                 rc == 127 ? "is not installed" : "does not work here");
    return rc == 0;
}

/* Is it there, with its database? */
static bool greet(const struct mariadb_box *box)
{
    struct sql_options options = {.defaults = "", .group = ""};
    struct berth_error err;
    struct sql *sql;
    char url[128];
    int rc;

    snprintf(url, sizeof(url), "mariadb://root@/mysql?socket=%s/sock", box->folder);
    if (sql_open(&sql, url, &options, &err) < 0)
        return false;
    rc = sql_run(sql, "CREATE DATABASE IF NOT EXISTS berth", &err);
    sql_close(sql);
    return rc == 0;
}

bool mariadb_box_start(struct mariadb_box *box, char why[256])
{
    struct words words;
    const char *argv[] = {"mariadbd",
                          "--no-defaults",
                          words.user,
                          words.data,
                          words.base,
                          words.socket,
                          words.pid_file,
                          "--skip-networking",
                          "--innodb-buffer-pool-size=16M",
                          "--innodb-log-file-size=8M",
                          NULL};
    int status;

    words_of(box, &words);
    box->pid = launch(box, "mariadbd.log", argv);
    for (long waited = 0; waited < WAIT_S * 1000000L; waited += POLL_US) {
        if (waitpid(box->pid, &status, WNOHANG) == box->pid) {
            box->pid = 0;
            break;
        }
        if (greet(box))
            return true;
        usleep(POLL_US);
    }
    snprintf(why, 256, "mariadbd %s",
             box->pid ? "does not listen" : "is not installed, or does not run here");
    mariadb_box_stop(box, true);
    return false;
}

void mariadb_box_stop(struct mariadb_box *box, bool crash)
{
    if (!box->pid)
        return;
    kill(box->pid, crash ? SIGKILL : SIGTERM);
    wait_for(box->pid);
    box->pid = 0;
}

bool mariadb_box_open(struct mariadb_box *box, char why[256])
{
    struct berth_error err;

    memset(box, 0, sizeof(*box));
    folder_new(box->folder, sizeof(box->folder), "berth-maria");
    snprintf(box->url, sizeof(box->url), "mariadb://root@/berth?socket=%s/sock", box->folder);
    if (sql_check_url(box->url, &err) < 0)
        snprintf(why, 256, "%.200s", err.text);
    else if (install(box, why) && mariadb_box_start(box, why))
        return true;
    mariadb_box_close(box);
    return false;
}

void mariadb_box_close(struct mariadb_box *box)
{
    mariadb_box_stop(box, true);
    folder_remove(box->folder);
}
