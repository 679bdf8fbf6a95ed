/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/confined/unit.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    YES_NO, /* bool */
    LIST,   /* struct words */
    TEXT,   /* const char * */
    ONLY,   /* bool, set by the one value that is known: that is `value` */
    PASSED, /* says nothing of what the service may do */
};

struct directive {
    const char *name;
    enum kind kind;
    size_t offset;
    const char *value;
};

#define AT(member) offsetof(struct unit, member)

static const struct directive directives[] = {
    {"CapabilityBoundingSet", LIST, AT(capabilities), NULL},
    {"DeviceAllow", PASSED, 0, NULL},
    {"DevicePolicy", PASSED, 0, NULL},
    {"Environment", PASSED, 0, NULL},
    {"ExecReload", PASSED, 0, NULL},
    {"ExecStart", PASSED, 0, NULL},
    {"LimitNOFILE", TEXT, AT(files), NULL},
    {"LockPersonality", YES_NO, AT(lock_personality), NULL},
    {"MemoryDenyWriteExecute", YES_NO, AT(no_written_code), NULL},
    {"MemoryMax", TEXT, AT(memory), NULL},
    {"NoNewPrivileges", YES_NO, AT(no_new_privileges), NULL},
    {"NotifyAccess", PASSED, 0, NULL},
    {"PrivateDevices", YES_NO, AT(private_devices), NULL},
    {"PrivateIPC", YES_NO, AT(private_ipc), NULL},
    {"PrivateNetwork", YES_NO, AT(private_network), NULL},
    {"PrivateTmp", YES_NO, AT(private_tmp), NULL},
    {"ProtectClock", YES_NO, AT(protect_clock), NULL},
    {"ProtectControlGroups", YES_NO, AT(protect_cgroups), NULL},
    {"ProtectHome", YES_NO, AT(protect_home), NULL},
    {"ProtectHostname", YES_NO, AT(protect_hostname), NULL},
    {"ProtectKernelLogs", YES_NO, AT(protect_logs), NULL},
    {"ProtectKernelModules", YES_NO, AT(protect_modules), NULL},
    {"ProtectKernelTunables", YES_NO, AT(protect_tunables), NULL},
    {"ProtectSystem", ONLY, AT(strict_system), "strict"},
    {"ReadWritePaths", LIST, AT(writable), NULL},
    {"Restart", PASSED, 0, NULL},
    {"RestartSec", PASSED, 0, NULL},
    {"RestrictAddressFamilies", LIST, AT(families), NULL},
    {"RestrictNamespaces", YES_NO, AT(no_namespaces), NULL},
    {"RestrictRealtime", YES_NO, AT(no_realtime), NULL},
    {"RestrictSUIDSGID", YES_NO, AT(no_setuid_files), NULL},
    {"RuntimeDirectory", LIST, AT(runtime), NULL},
    {"RuntimeDirectoryPreserve", PASSED, 0, NULL},
    {"StateDirectory", LIST, AT(state), NULL},
    {"SystemCallArchitectures", ONLY, AT(native_calls), "native"},
    {"SystemCallErrorNumber", ONLY, AT(no_new_privileges), "EPERM"},
    {"SystemCallFilter", LIST, AT(calls), NULL},
    {"TasksMax", TEXT, AT(tasks), NULL},
    {"TimeoutStartSec", PASSED, 0, NULL},
    {"TimeoutStopSec", PASSED, 0, NULL},
    {"Type", PASSED, 0, NULL},
    {"UMask", TEXT, AT(umask), NULL},
    {"WatchdogSec", PASSED, 0, NULL},
    {"WatchdogSignal", PASSED, 0, NULL},
};

static const struct directive *find(const char *name)
{
    for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++)
        if (strcmp(directives[i].name, name) == 0)
            return &directives[i];
    return NULL;
}

static void *copy(const char *text)
{
    char *mine = strdup(text);

    if (!mine)
        err(2, "out of memory");
    return mine;
}

/* A "~" before the first word is before each of them. */
static void add_words(struct words *words, const char *value)
{
    bool but = value[0] == '~';
    char *text = copy(value + but), *save, *word, *marked;

    words->given = true;
    if (!value[0])
        words->n = 0;
    for (word = strtok_r(text, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
        if (words->n == WORDS_MAX)
            errx(2, "too many words: %s", word);
        if (but && asprintf(&marked, "~%s", word) < 0)
            err(2, "out of memory");
        words->word[words->n++] = but ? marked : word;
    }
    if (but) /* else the words are parts of it */
        free(text);
}

static bool yes(const char *value, const char *where)
{
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        errx(2, "%s: neither yes nor no: %s", where, value);
    return strcmp(value, "yes") == 0;
}

static void take(struct unit *unit, const struct directive *directive, const char *value,
                 const char *where)
{
    void *member = (char *)unit + directive->offset;

    switch (directive->kind) {
    case YES_NO:
        *(bool *)member = yes(value, where);
        break;
    case LIST:
        add_words(member, value);
        break;
    case TEXT:
        *(const char **)member = copy(value);
        break;
    case ONLY:
        if (strcmp(value, directive->value) != 0)
            errx(2, "%s: only %s is known here, not %s", where, directive->value, value);
        *(bool *)member = true;
        break;
    case PASSED:
        break;
    }
}

static void read_line(struct unit *unit, char *line, const char *path, int number)
{
    char where[512], *equals = strchr(line, '=');
    const struct directive *directive;

    if (!equals)
        errx(2, "%s:%d: no directive: %s", path, number, line);
    *equals = '\0';
    directive = find(line);
    if (!directive)
        errx(2, "%s:%d: %s is not known here: see tests/confined/unit.c", path, number, line);
    snprintf(where, sizeof(where), "%s:%d: %s", path, number, line);
    take(unit, directive, equals + 1 + strspn(equals + 1, " \t"), where);
}

void unit_read(struct unit *unit, const char *path)
{
    FILE *file = fopen(path, "re");
    bool service = false;
    size_t size = 0;
    char *line = NULL;
    ssize_t length;

    if (!file)
        err(2, "%s", path);
    for (int number = 1; (length = getline(&line, &size, file)) > 0; number++) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        if (line[0] == '[')
            service = strcmp(line, "[Service]") == 0;
        else if (service && line[0] && line[0] != '#' && line[0] != ';')
            read_line(unit, line, path, number);
    }
    free(line);
    fclose(file);
}
