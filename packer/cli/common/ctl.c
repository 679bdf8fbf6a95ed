/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl - see ctl.h */
#include "packer/cli/common/ctl.h"

#include "packer/base/text.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int ctl_print_json(struct json_object *value)
{
    int flags = isatty(STDOUT_FILENO) ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED
                                      : JSON_C_TO_STRING_PLAIN;
    const char *text =
        json_object_to_json_string_ext(value, flags | JSON_C_TO_STRING_NOSLASHESCAPE);

    if (text) {
        text_put_json(stdout, text);
        putchar('\n');
    }
    json_object_put(value);
    if (!text)
        return ctl_fail("stdout", "the answer is too long for a JSON text");
    if (fflush(stdout) != 0 || ferror(stdout))
        return ctl_fail("stdout", "%m");
    return 0;
}

int ctl_conf(const char *path, struct conf *conf, struct berth_error *err)
{
    conf_init(conf);
    conf->for_tests = path != NULL;
    if (!path && access(CONF_DEFAULT_PATH, F_OK) != 0)
        return 0;
    return conf_read(conf, path ? path : CONF_DEFAULT_PATH, err);
}

int ctl_signals(int more)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    if (more)
        sigaddset(&set, more);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
