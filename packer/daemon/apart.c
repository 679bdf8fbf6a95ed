/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apart - see apart.h */
#include "packer/daemon/apart.h"

#include <errno.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/base/log.h"
#include "packer/daemon/privileges.h"
#include "packer/enforce/enforce.h"
#include "packer/hand/ask.h"
#include "packer/system/urgency.h"
#include "packer/wire/wire.h"

#define ARGS_MAX 64
#define DEPTH_MAX 16 /* folders that are open at once */

/* ---- folders ---- */

static struct passwd *new_owner; /* nftw() has no argument for it */

/* What root has there becomes the user's; a second name of a file may be anybody's, anywhere. */
static int give(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)where;
    if (type == FTW_NS || st->st_uid != 0 || (!S_ISDIR(st->st_mode) && st->st_nlink != 1))
        return 0;
    return lchown(path, new_owner->pw_uid, new_owner->pw_gid);
}

static int give_folder(const char *path, struct passwd *user, struct berth_error *err)
{
    new_owner = user;
    if (file_folder(path, 0755) == 0 && nftw(path, give, DEPTH_MAX, FTW_PHYS | FTW_MOUNT) == 0)
        return 0;
    return berth_error_set(err, "%s cannot be given to %s: %s", path, user->pw_name,
                           strerror(errno));
}

#define STATE LOCALSTATEDIR "/lib/berth"

/* Folders of files that are elsewhere are the site's, which gives them itself. */
static int give_folders(const struct conf *conf, struct passwd *user, struct berth_error *err)
{
    const char *const profiles = conf->profile_db;

    if (strncmp(profiles, STATE "/", sizeof(STATE)) == 0 && give_folder(STATE, user, err) < 0)
        return -1;
    if (give_folder(conf->state_dir, user, err) < 0)
        return -1;
    return give_folder(conf->ledger_queue, user, err);
}

/* ---- the program ---- */

/* In the folder of this program where there is one: in a build folder. */
static void find_hand(char path[PATH_MAX + 16])
{
    char own[PATH_MAX];

    strcpy(path, PKGLIBEXECDIR "/berth-hand");
    if (!realpath("/proc/self/exe", own))
        return;
    *strrchr(own, '/') = '\0';
    snprintf(path, PATH_MAX + 16, "%s/berth-hand", own);
    if (access(path, X_OK) < 0)
        strcpy(path, PKGLIBEXECDIR "/berth-hand");
}

struct command {
    const char *arg[ARGS_MAX];
    size_t n;
    char hand[PATH_MAX + 16], self[PATH_MAX], uid[16], gid[16];
    char plugin[sizeof(((struct conf *)NULL)->socket) + sizeof(WIRE_PLUGIN_SUFFIX)];
};

static void add(struct command *command, const char *arg)
{
    if (command->n < ARGS_MAX)
        command->arg[command->n++] = arg;
}

static void add_two(struct command *command, const char *option, const char *value)
{
    add(command, option);
    add(command, value);
}

/* berth-hand with what root has configured, and behind it berthd as it was called. */
static int make_command(struct command *command, const struct conf *conf,
                        const struct enforce *enforce, char **argv, struct berth_error *err)
{
    ssize_t length = readlink("/proc/self/exe", command->self, sizeof(command->self) - 1);

    if (length < 0)
        return berth_error_set(err, "/proc/self/exe: %s", strerror(errno));
    command->self[length] = '\0';
    find_hand(command->hand);
    snprintf(command->plugin, sizeof(command->plugin), "%s" WIRE_PLUGIN_SUFFIX, conf->socket);
    add(command, command->hand);
    add_two(command, "--cgroup-root", conf->cgroup_root);
    add_two(command, "--tree", conf->cgroup_name);
    add_two(command, "--plugin-socket", command->plugin);
    add_two(command, "--uid", command->uid);
    add_two(command, "--gid", command->gid);
    if (enforce->way->jobs == slurm_jobs_cgroup2)
        add(command, "--unified");
    if (enforce->rebinds)
        add(command, "--rebinds");
    if (conf->idle != CONF_IDLE_OFF)
        add(command, "--idle");
    add_two(command, "--", command->self);
    for (size_t i = 1; argv[i]; i++)
        add(command, argv[i]);
    if (command->n == ARGS_MAX)
        return berth_error_set(err, "too many arguments");
    return 0;
}

static int look_at_machine(struct command *command, const struct conf *conf, char **argv,
                           struct berth_error *err)
{
    struct enforce enforce;
    struct rootfs root;
    int rc = rootfs_open(&root, "/", err);

    if (rc < 0)
        return -1;
    rc = enforce_open(&enforce, &root, conf->cgroup_root, conf_enforcement_name[conf->enforcement],
                      err);
    if (rc == 0) {
        rc = make_command(command, conf, &enforce, argv, err);
        enforce_close(&enforce);
    }
    if (rc == 0 && capabilities_keep(privileges_needed(conf, &root), err) < 0)
        rc = -1;
    rootfs_close(&root);
    return rc;
}

static bool is_root(const struct conf *conf)
{
    return strcmp(conf->user, "root") == 0;
}

static struct passwd *find_user(const struct conf *conf, struct berth_error *err)
{
    struct passwd *user = getpwnam(conf->user);

    if (user && user->pw_uid != 0)
        return user;
    berth_error_set(err, "user: %s: %s", conf->user,
                    user ? "is root by another name" : "there is no such user");
    return NULL;
}

int apart_check(const struct conf *conf, struct berth_error *err)
{
    return is_root(conf) || find_user(conf, err) ? 0 : -1;
}

int apart_start(const struct conf *conf, char **argv, struct berth_error *err)
{
    static struct command command;
    struct passwd *user;

    if (is_root(conf) || hand_is_apart() || geteuid() != 0)
        return 0;
    user = find_user(conf, err);
    if (!user)
        return -1;
    snprintf(command.uid, sizeof(command.uid), "%u", (unsigned)user->pw_uid);
    snprintf(command.gid, sizeof(command.gid), "%u", (unsigned)user->pw_gid);
    if (give_folders(conf, user, err) < 0)
        return -1;
    if (initgroups(user->pw_name, user->pw_gid) < 0)
        return berth_error_set(err, "user: %s: its groups: %s", conf->user, strerror(errno));
    if (urgency_raise(err) < 0)
        log_warn("%s", err->text);
    if (look_at_machine(&command, conf, argv, err) < 0)
        return -1;
    execv(command.arg[0], (char **)(uintptr_t)command.arg);
    return berth_error_set(err, "%s: %s", command.hand, strerror(errno));
}
