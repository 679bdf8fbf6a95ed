/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pin_python - see pin_impl.h. What a script of Python imports is known, is a file beside it, which
 * is read as the script is, or is not known.
 *
 * Statements are looked for in the text, not parsed: a line of a long string that begins with
 * "import" counts, too. What a script builds its names from while it runs is not seen. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/wire/wire_calls.h"
#include "packer/wire/wire_env.h"
#include "packer/wire/wire_object.h"
#include "pin_impl.h"

#define FILES_MAX 256 /* that are read for one script */
#define DEPTH_MAX 8   /* of a package's folders */
#define NAME_LENGTH_MAX 128

/* Modules of Python's own that bind nothing and start nothing, where no other word says it. */
static const char standard[] =
    " __future__ __main__ abc argparse array ast asyncio atexit base64 binascii bisect builtins "
    "bz2 "
    "calendar cmath codecs collections colorsys concurrent configparser contextlib contextvars "
    "copy copyreg csv dataclasses datetime dbm decimal difflib email encodings enum errno "
    "faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc getopt getpass "
    "gettext glob graphlib grp gzip hashlib heapq hmac html http inspect io ipaddress itertools "
    "json keyword linecache locale logging lzma marshal math mimetypes mmap multiprocessing "
    "numbers operator optparse os pathlib pickle platform posixpath pprint pwd queue random re "
    "reprlib resource sched secrets select selectors shelve shlex shutil signal socket "
    "socketserver sqlite3 ssl stat statistics string struct sys sysconfig tarfile tempfile "
    "textwrap threading time timeit token tokenize tomllib traceback tracemalloc types typing "
    "unicodedata unittest urllib uuid warnings wave weakref xml zipfile zlib zoneinfo ";

/* Others that bind nothing, as long as no OpenMP of LLVM's is installed beside them. */
static const char numeric[] =
    " numpy scipy pandas matplotlib sympy networkx h5py netCDF4 tqdm yaml PIL ";

/* What is to be read: texts whose words and imports count. */
struct reading {
    const char *root; /* the folder in which modules are looked for first */
    bool numeric_stays;
    char *path[FILES_MAX]; /* malloc'd */
    size_t paths;
};

static bool is_listed(const char *list, const char *name)
{
    char word[NAME_LENGTH_MAX + 3];

    snprintf(word, sizeof(word), " %s ", name);
    return strstr(list, word) != NULL;
}

/* ---- files beside the script ---- */

/* Notes a file. Returns false where there is no room for it. */
static bool reading_add(struct reading *reading, const char *path)
{
    for (size_t i = 0; i < reading->paths; i++)
        if (strcmp(reading->path[i], path) == 0)
            return true;
    if (reading->paths == FILES_MAX || !(reading->path[reading->paths] = strdup(path)))
        return false;
    reading->paths++;
    return true;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), its = strlen(end);

    return length > its && strcmp(name + length - its, end) == 0;
}

/* Notes the files of a package's folder and of those below it. Returns how many; -1: there are too
 * many, or one is no script. `path` is a place for paths, and is the folder's. */
static int add_folder(struct reading *reading, char path[PATH_MAX], int depth)
{
    DIR *folder = depth > DEPTH_MAX ? NULL : opendir(path);
    size_t length = strlen(path);
    struct dirent *entry;
    int files = 0, below = 0;

    while (folder && files >= 0 && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "__pycache__") == 0)
            continue;
        snprintf(path + length, PATH_MAX - length, "/%s", entry->d_name);
        if (ends_with(path, ".py"))
            below = reading_add(reading, path) ? 1 : -1;
        else if (ends_with(path, ".so") || ends_with(path, ".pyc"))
            below = -1;
        else
            below = entry->d_type != DT_REG ? add_folder(reading, path, depth + 1) : 0;
        files = below < 0 ? -1 : files + below;
    }
    path[length] = '\0';
    if (folder)
        closedir(folder);
    return depth > DEPTH_MAX ? -1 : files;
}

/* Looks for a module in the root. Returns how many files of it are to be read, as add_folder(). */
static int add_module(struct reading *reading, const char *name)
{
    char *path = malloc(PATH_MAX);
    int files = 0, fd;

    if (!path)
        return -1;
    snprintf(path, PATH_MAX, "%s/%s.py", reading->root, name);
    fd = wire_calls_open(path);
    if (fd >= 0) {
        close(fd);
        files = reading_add(reading, path) ? 1 : -1;
    } else {
        snprintf(path, PATH_MAX, "%s/%s", reading->root, name);
        files = add_folder(reading, path, 0);
    }
    free(path);
    return files;
}

/* ---- statements ---- */

/* What it says that a module is imported. A relative one is of a package, all of which is read. */
static struct pin pin_of_module(struct reading *reading, const char *at, size_t length)
{
    char name[NAME_LENGTH_MAX + 1];
    int files;

    if (length == 0 || *at == '.')
        return pin_nothing;
    if (length > NAME_LENGTH_MAX)
        return pin_say(WIRE_PIN_STARTS, at, length);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ". "), at);
    name[length < strlen(name) ? length : strlen(name)] = '\0';
    files = add_module(reading, name);
    if (files > 0 || (files == 0 && is_listed(standard, name)) ||
        (files == 0 && is_listed(numeric, name) && !reading->numeric_stays))
        return pin_nothing;
    return pin_say(WIRE_PIN_STARTS, name, strlen(name));
}

static bool is_name(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || letter == '.';
}

/* Skips blanks, and line ends behind a backslash. */
static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t' || (*at == '\\' && at[1] == '\n'))
        at += *at == '\\' ? 2 : 1;
    return at;
}

/* The names behind an "import". */
static struct pin pin_of_list(struct reading *reading, const char *at)
{
    struct pin pin = pin_nothing;

    do {
        size_t length = 0;

        at = skip_blanks(at);
        while (is_name(at[length]))
            length++;
        pin = pin_of_module(reading, at, length);
        at += strcspn(at, ",;#\n");
    } while (*at++ == ',' && pin.pin == WIRE_PIN_NONE);
    return pin;
}

/* Does a statement begin here? Behind blanks, that is, and before them a line, ';' or ':'. */
static bool begins_statement(const char *text, const char *at)
{
    while (at > text && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    return at == text || strchr("\n;:", at[-1]);
}

/* What the "import" at this place says, which stands behind the names, or behind "from NAME". */
static struct pin pin_of_statement(struct reading *reading, const char *text, const char *at)
{
    const char *end = at, *name;

    if (begins_statement(text, at))
        return pin_of_list(reading, at + strlen("import"));
    while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    for (name = end; name > text && is_name(name[-1]);)
        name--;
    for (at = name; at > text && (at[-1] == ' ' || at[-1] == '\t');)
        at--;
    if (at - text >= 4 && strncmp(at - 4, "from", 4) == 0 && begins_statement(text, at - 4))
        return pin_of_module(reading, name, (size_t)(end - name));
    return pin_nothing;
}

/* What a text imports. A NUL in it says that it is none. */
static struct pin pin_of_imports(struct reading *reading, const char *text, size_t length)
{
    struct pin pin = pin_nothing;
    const char *at = text;

    if (strlen(text) < length)
        return pin_say(WIRE_PIN_STARTS, "python", SIZE_MAX);
    while (pin.pin == WIRE_PIN_NONE && (at = strstr(at, "import"))) {
        const char *next = at + strlen("import");

        if ((at == text || !is_name(at[-1])) && (!is_name(*next) || *next == '.'))
            pin = pin_of_statement(reading, text, at);
        at = next;
    }
    return pin;
}

/* Reads what was noted, and what that imports. */
static struct pin pin_of_noted(struct reading *reading)
{
    struct pin pin = pin_nothing;

    for (size_t i = 0; i < reading->paths && pin.pin == WIRE_PIN_NONE; i++) {
        int fd = wire_calls_open(reading->path[i]);
        size_t length = 0;
        char *text = fd < 0 ? NULL : wire_object_read_at(fd, 0, PIN_SCRIPT_MAX, &length);

        pin = text ? pin_of_words(text, length) : pin_say(WIRE_PIN_UNREAD, "", 0);
        if (pin.pin == WIRE_PIN_NONE)
            pin = pin_of_imports(reading, text, length);
        free(text);
        if (fd >= 0)
            close(fd);
    }
    return pin;
}

/* ---- what is installed ---- */

/* Is there an OpenMP of LLVM's in the folder, which numpy may load with the MKL? */
static bool has_openmp(const char *folder, size_t length)
{
    static const char *const name[] = {"libiomp5.so", "libomp.so"};
    static char path[PATH_MAX]; /* a stack may be small here */
    bool found = false;

    for (size_t i = 0; folder && i < COUNT(name); i++) {
        snprintf(path, sizeof(path), "%.*s/lib/%s", (int)length, folder, name[i]);
        found |= access(path, F_OK) == 0;
    }
    return found;
}

/* Is it in the folder of the interpreter, or in that of the environment of packages in use? */
static bool numeric_stays(const char *interpreter, char *const *env)
{
    static const char *const variable[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    const char *bin = strstr(interpreter, "/bin/");
    bool found = bin && has_openmp(interpreter, (size_t)(bin - interpreter));

    for (size_t i = 0; i < COUNT(variable); i++)
        found |= has_openmp(wire_env_find(env, variable[i]), PATH_MAX / 2);
    return found && !wire_env_says(env, "KMP_AFFINITY", "disabled");
}

struct pin pin_of_python(const struct wire_program *program, const char *interpreter,
                         const char *script, char *const *env)
{
    struct reading *reading = calloc(1, sizeof(*reading));
    static char root[PATH_MAX];
    struct pin pin = {WIRE_PIN_UNREAD, ""};

    snprintf(root, sizeof(root), "%.*s.", script ? (int)(wire_program_name(script) - script) : 0,
             script ? script : "");
    if (reading) {
        reading->root = root;
        reading->numeric_stays = numeric_stays(interpreter, env);
        if (script)
            pin = reading_add(reading, script) ? pin_nothing : pin;
        else if (program->kind == WIRE_PROGRAM_CODE)
            pin = pin_of_imports(reading, program->what, strlen(program->what));
        else if (add_module(reading, program->what) > 0)
            pin = pin_nothing;
        else
            pin = pin_say(WIRE_PIN_STARTS, program->what, SIZE_MAX);
        if (pin.pin == WIRE_PIN_NONE)
            pin = pin_of_noted(reading);
    }
    for (size_t i = 0; reading && i < reading->paths; i++)
        free(reading->path[i]);
    free(reading);
    return pin;
}
