/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_conf - see slurm_conf.h. */
#include "packer/slurm/slurm_conf.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "packer/base/file.h"

#define CONF_MAX (4 << 20)
#define INCLUDE_DEPTH 4

struct reading {
    const char *key;
    slurm_conf_line *visit; /* of each line that begins with the key */
    void *arg;
    char cluster[64]; /* ClusterName, as far as it was read */
};

/* What a value is copied to. */
struct copy {
    const char *key;
    char *value; /* [size] */
    size_t size;
};

/* Copies a word that ends at a blank or '#'. */
static void copy_word(const char *from, char *to, size_t size)
{
    from += strspn(from, " \t\"");
    snprintf(to, size, "%.*s", (int)strcspn(from, " \t\r\n#\""), from);
}

static int read_conf(struct reading *reading, const char *path, int depth, struct berth_error *err);

/* Writes the path of an included file: its name is relative to the folder of the file it stands in,
 * and has the cluster's name for "%c". */
static void included_path(const struct reading *reading, const char *path, const char *name,
                          char full[2 * PATH_MAX])
{
    const char *cluster = strstr(name, "%c");
    int before = cluster ? (int)(cluster - name) : (int)strlen(name);
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s", path);
    snprintf(full, 2 * PATH_MAX, "%s%s%.*s%s%s", name[0] == '/' ? "" : dirname(folder),
             name[0] == '/' ? "" : "/", before, name, cluster ? reading->cluster : "",
             cluster ? cluster + 2 : "");
}

static int include(struct reading *reading, const char *path, const char *name, int depth,
                   struct berth_error *err)
{
    char full[2 * PATH_MAX];

    if (depth == INCLUDE_DEPTH)
        return berth_error_set(err, "%.300s: includes too deep", path);
    included_path(reading, path, name, full);
    return read_conf(reading, full, depth + 1, err);
}

static bool has_key(const char *line, const char *key)
{
    size_t length = strlen(key);

    return strncasecmp(line, key, length) == 0 &&
           line[length + strspn(line + length, " \t")] == '=';
}

static void take_value(const char *line, void *arg)
{
    const struct copy *copy = arg;

    copy_word(strchr(line, '=') + 1, copy->value, copy->size);
}

void slurm_conf_inside(const char *line, const char *key, char *value, size_t size)
{
    const char *comment = strchrnul(line, '#'), *at = line;

    while ((at = strcasestr(at, key)) && at < comment) {
        bool begins = at == line || at[-1] == ' ' || at[-1] == '\t';
        char word[32];

        at += strlen(key);
        copy_word(*at == '=' ? at + 1 : "", word, sizeof(word));
        if (begins && word[0] && strcmp(word, "0") != 0)
            snprintf(value, size, "%s", word);
    }
}

static int read_line(struct reading *reading, const char *path, const char *line, int depth,
                     struct berth_error *err)
{
    char name[PATH_MAX];

    line += strspn(line, " \t");
    if (strncasecmp(line, "include", 7) == 0 && (line[7] == ' ' || line[7] == '\t')) {
        copy_word(line + 7, name, sizeof(name));
        return include(reading, path, name, depth, err);
    }
    if (has_key(line, "ClusterName"))
        copy_word(strchr(line, '=') + 1, reading->cluster, sizeof(reading->cluster));
    if (!reading->key || has_key(line, reading->key))
        reading->visit(line, reading->arg);
    return 0;
}

static int read_conf(struct reading *reading, const char *path, int depth, struct berth_error *err)
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
        rc = read_line(reading, path, line, depth, err);
    free(text);
    return rc;
}

int slurm_conf_each(const char *path, const char *key, slurm_conf_line *visit, void *arg,
                    struct berth_error *err)
{
    struct reading reading = {.key = key, .visit = visit, .arg = arg};

    return read_conf(&reading, path, 0, err);
}

int slurm_conf_value(const char *path, const char *key, char *value, size_t size,
                     struct berth_error *err)
{
    struct copy copy = {key, value, size};

    return slurm_conf_each(path, key, take_value, &copy, err);
}

static void take_inside(const char *line, void *arg)
{
    const struct copy *copy = arg;

    slurm_conf_inside(line, copy->key, copy->value, copy->size);
}

int slurm_conf_anywhere(const char *path, const char *key, char *value, size_t size,
                        struct berth_error *err)
{
    struct copy copy = {key, value, size};

    return slurm_conf_each(path, NULL, take_inside, &copy, err);
}

const char *slurm_conf_path(const struct conf *conf)
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
