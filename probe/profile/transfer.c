/* SPDX-License-Identifier: GPL-2.0-or-later */
/* transfer - `berthctl profile export` and `import`: the profile store as JSON lines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"
#include "probe/profile/store.h"

/* Gathers the rows of the keys that were asked for, or of all, in memory. 0, or 1 after saying why
 * not. */
static int gather(const struct profile_verb *verb, FILE *out)
{
    char key[PROFILE_KEY_MAX];
    struct berth_error err;

    if (verb->nargs == 0 && profiles_export(verb->store, NULL, out, &err) < 0)
        return ctl_fail("profile", "%s", err.text);
    for (int i = 0; i < verb->nargs; i++) {
        if (profile_verb_key(verb, verb->arg[i], key) != 0)
            return 1;
        if (profiles_export(verb->store, key, out, &err) < 0)
            return ctl_fail("profile", "%s", err.text);
    }
    return 0;
}

/* Writes all of the text, or says why not: a file that was begun on a full disk is removed. */
static int write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "we");
    struct stat st;
    size_t wrote;
    int saved;

    if (!file)
        return ctl_fail("profile", "%s: %m", path);
    if (fstat(fileno(file), &st) < 0)
        st.st_mode = 0;
    wrote = fwrite(text, 1, length, file);
    saved = wrote < length ? errno : 0;
    if (fclose(file) == 0 && !saved)
        return 0;
    saved = saved ? saved : errno;
    if (S_ISREG(st.st_mode))
        remove(path);
    return ctl_fail("profile", "%s: %s", path, strerror(saved));
}

int profile_verb_export(struct profile_verb *verb)
{
    char *text = NULL;
    size_t length;
    FILE *out;
    int rc;

    if (!verb->output)
        return gather(verb, verb->out);
    out = open_memstream(&text, &length);
    if (!out)
        return ctl_fail("profile", "%m");
    rc = gather(verb, out);
    if (fclose(out) != 0 && rc == 0)
        rc = ctl_fail("profile", "%m");
    if (rc == 0)
        rc = write_file(verb->output, text, length);
    free(text);
    return rc;
}

int profile_verb_import(struct profile_verb *verb)
{
    const char *file = verb->nargs ? verb->arg[0] : NULL;
    struct profiles_imported imported;
    struct berth_error err;
    size_t length;
    char *text = ctl_input_text(file, &length, &err);
    int rc;

    if (!text)
        return ctl_fail("profile", "%s: %s", ctl_input_name(file), err.text);
    if (length == 0)
        ctl_fail("profile", "%s: it is empty, nothing is taken from it", ctl_input_name(file));
    rc = ctl_store_import(&verb->access, text, length, verb->replace, &imported, &err);
    free(text);
    if (rc < 0 && strncmp(err.text, "line ", 5) == 0)
        return ctl_fail("profile", "%s: %s", ctl_input_name(file), err.text);
    if (rc < 0)
        return ctl_fail("profile", "%s", err.text);
    if (verb->json) {
        struct json_object *object = json_object_new_object();

        json_add_u64(object, "taken", imported.taken);
        json_add_u64(object, "kept", imported.kept);
        profile_verb_json(verb, object);
    } else {
        fprintf(verb->out, "%zu rows taken, %zu kept as they were\n", imported.taken,
                imported.kept);
    }
    return 0;
}
