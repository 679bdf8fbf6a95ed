/* SPDX-License-Identifier: GPL-2.0-or-later */
/* private_data - see private_data.h. slurm.conf is read, slurmctld is not asked: berthd must start
 * where that is down, and its unit has no network. */
#include "packer/conf/private_data.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/base/text.h"

#define CONF_MAX (4 << 20)
#define INCLUDE_DEPTH 4

/* Copies a word that ends at a blank or '#'. */
static void copy_word(const char *from, char *to, size_t size)
{
    from += strspn(from, " \t\"");
    snprintf(to, size, "%.*s", (int)strcspn(from, " \t\r\n#\""), from);
}

static int read_conf(const char *path, int depth, char *value, size_t size,
                     struct berth_error *err);

/* Reads what a line includes; its name is relative to the folder of the file it stands in. */
static int include(const char *path, const char *name, int depth, char *value, size_t size,
                   struct berth_error *err)
{
    char folder[PATH_MAX], full[2 * PATH_MAX];

    if (depth == INCLUDE_DEPTH)
        return berth_error_set(err, "%.300s: includes too deep", path);
    snprintf(folder, sizeof(folder), "%s", path);
    snprintf(full, sizeof(full), "%s%s%s", name[0] == '/' ? "" : dirname(folder),
             name[0] == '/' ? "" : "/", name);
    return read_conf(full, depth + 1, value, size, err);
}

static int read_line(const char *path, const char *line, int depth, char *value, size_t size,
                     struct berth_error *err)
{
    char name[PATH_MAX];

    line += strspn(line, " \t");
    if (strncasecmp(line, "include", 7) == 0 && (line[7] == ' ' || line[7] == '\t')) {
        copy_word(line + 7, name, sizeof(name));
        return include(path, name, depth, value, size, err);
    }
    if (strncasecmp(line, "PrivateData", 11) != 0 || line[11 + strspn(line + 11, " \t")] != '=')
        return 0;
    copy_word(strchr(line, '=') + 1, value, size);
    return 0;
}

/* Takes over what the file says last of PrivateData. */
static int read_conf(const char *path, int depth, char *value, size_t size, struct berth_error *err)
{
    struct berth_error why;
    char *text = file_read(path, CONF_MAX, NULL, &why), *save = NULL, *next;
    int rc = 0;

    if (!text)
        return berth_error_set(err, "%.300s: %.150s", path, why.text);
    while ((next = strstr(text, "\\\n"))) /* a line that goes on */
        memset(next, ' ', 2);
    for (char *line = strtok_r(text, "\n", &save); line && rc == 0;
         line = strtok_r(NULL, "\n", &save))
        rc = read_line(path, line, depth, value, size, err);
    free(text);
    return rc;
}

int private_data_of(const char *path, struct berth_error *err)
{
    static const char *const hiding[] = {"jobs", "nodes", "usage", "all"};
    char value[512] = "";

    if (read_conf(path, 0, value, sizeof(value), err) < 0)
        return -1;
    for (char *c = value; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    for (size_t i = 0; i < sizeof(hiding) / sizeof(hiding[0]); i++)
        if (text_lists(value, hiding[i]))
            return 1;
    return 0;
}

/* Returns the path of slurm.conf: that of berth.conf, of the environment, or one of the usual. */
static const char *conf_path(const struct conf *conf)
{
    static const char *const usual[] = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf",
                                        "/usr/local/etc/slurm.conf"};
    const char *path = conf->slurm_conf[0] ? conf->slurm_conf : getenv("SLURM_CONF");

    if (path && path[0])
        return path;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (access(usual[i], F_OK) == 0)
            return usual[i];
    return usual[0];
}

bool private_data_hides(const struct conf *conf)
{
    struct berth_error err;
    int hides;

    if (conf->private_data != CONF_PRIVATE_SLURM)
        return conf->private_data == CONF_PRIVATE_ON;
    hides = private_data_of(conf_path(conf), &err);
    if (hides < 0)
        log_info("users are told nothing of others' steps: PrivateData of Slurm is not known: %s",
                 err.text);
    return hides != 0;
}
