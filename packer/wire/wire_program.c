/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_program - see wire_program.h. Options are read as getopt_long(3) reads them with "+": those
 * of a wrapper end where its command begins. */
#include "packer/wire/wire_program.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "packer/wire/wire_program_table.h"

#define WORDS_MOST 65536 /* of a command line that are looked at */

/* ---- who starts others ---- */

const char *wire_program_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Is the name one of the words of the list, with a version behind it or none? */
static bool is_listed(const char *list, const char *name)
{
    for (const char *word = list; *word; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");

        if (strncmp(word, name, length) == 0 &&
            strspn(name + length, "0123456789.") == strlen(name + length))
            return true;
        word += length;
    }
    return false;
}

/* Returns what is known of a program of that path; NULL: it is one as any other. */
static const struct starter *find_starter(const char *path)
{
    for (size_t i = 0; i < nstarters; i++)
        if (is_listed(starters[i].names, wire_program_name(path)))
            return &starters[i];
    return NULL;
}

bool wire_program_starts_others(const char *path)
{
    return find_starter(path) != NULL;
}

#define COMM_MAX 15 /* bytes of a process's name */

bool wire_program_launches(const char *path)
{
    static const char *const names[] = {
        "mpirun",       "mpiexec",           "mpirun.openmpi", "mpiexec.openmpi",
        "mpirun.mpich", "mpiexec.mpich",     "mpiexec.hydra",  "orterun",
        "orted",        "prterun",           "prted",          "hydra_pmi_proxy",
        "pmi_proxy",    "hydra_bstrap_proxy"};
    const char *name = wire_program_name(path);
    size_t length = strlen(name) == COMM_MAX ? COMM_MAX : PATH_MAX;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i], length) == 0)
            return true;
    return false;
}

static bool is_interpreter(const char *path, unsigned flags, bool with)
{
    const struct starter *starter = find_starter(path);

    return starter && starter->kind == STARTER_INTERPRETER && !!(starter->flags & flags) == with;
}

bool wire_program_is_shell(const char *path)
{
    return is_interpreter(path, STARTER_BY_CPU, true);
}

bool wire_program_is_read(const char *path)
{
    return is_interpreter(path, STARTER_READ, true);
}

bool wire_program_interprets(const char *path)
{
    return is_interpreter(path, STARTER_BY_CPU, false);
}

/* ---- its command line ---- */

struct reading {
    int argc;
    char *const *argv;
    int at; /* the next word */
    const struct starter *starter;
    struct wire_program *program;
    bool code_first; /* the first operand is code */
};

static const char *word_at(const struct reading *reading, int i)
{
    return i < reading->argc ? reading->argv[i] : NULL;
}

/* Nobody knows what runs. Returns false. */
static bool give_up(struct reading *reading)
{
    reading->program->kind = WIRE_PROGRAM_UNKNOWN;
    reading->program->by_cpu = reading->starter->kind != STARTER_OTHER;
    return false;
}

/* The program is found. Returns false: there is no more to be read. */
static bool found(struct reading *reading, enum wire_program_kind kind, const char *option,
                  const char *what, int args)
{
    struct wire_program *program = reading->program;

    if (kind == WIRE_PROGRAM_SCRIPT && strcmp(what, "-") == 0)
        return give_up(reading); /* it comes by a pipe */
    program->kind = kind;
    program->option = option;
    program->what = what;
    program->args = args;
    program->by_cpu = kind == WIRE_PROGRAM_CODE && (reading->starter->flags & STARTER_BY_CPU) != 0;
    return false;
}

/* Finds an option of that many characters in the starter's list. Returns what stands behind its
 * name there, NULL where it is not listed. */
static const char *find_option(const struct starter *starter, const char *name, size_t length)
{
    for (const char *option = starter->options; *option; option += strspn(option, " ")) {
        size_t its = strcspn(option, " :*+!@/&^");

        if (*option == '+' && its == 0) /* "+x" is a name, too */
            its = 1 + strcspn(option + 1, " :*+!@/&^");
        if (its == length && strncmp(option, name, length) == 0)
            return option + its;
        option += strcspn(option, " ");
    }
    return NULL;
}

/* How the starter's list spells an option: the interpreter is given its script by it. The text is
 * not ended by a NUL there, so it is one of these. */
static const char *spelled(char meaning, const char *name)
{
    if (meaning == '!')
        return "-c";
    if (meaning == '@')
        return "-m";
    return strstr(name, "jar") ? "-jar" : "";
}

/* Takes an option that means this. `value`: what stands with it in its word, NULL: nothing does.
 * Returns whether the words behind it are still the starter's. */
static bool take_option(struct reading *reading, const char *meaning, const char *name,
                        const char *value)
{
    const enum wire_program_kind kind = *meaning == '!'   ? WIRE_PROGRAM_CODE
                                        : *meaning == '@' ? WIRE_PROGRAM_MODULE
                                                          : WIRE_PROGRAM_SCRIPT;

    if (*meaning == '^')
        return give_up(reading);
    if (*meaning == '&')
        reading->code_first = true;
    if (meaning[0] == ':' && meaning[1] == ':')
        reading->at++;
    if (!*meaning || !strchr(":+!@/", *meaning))
        return true;
    if (!value)
        value = word_at(reading, reading->at++);
    if (!value)
        return give_up(reading);
    if (*meaning == '+')
        reading->program->where = value;
    return *meaning == ':' || *meaning == '+' ||
           found(reading, kind, spelled(*meaning, name), value, reading->at);
}

/* Reads a word that is one option: "--name", "--name=value"; where options are words, "-name". */
static bool read_long(struct reading *reading, const char *word)
{
    const bool words = reading->starter->flags & STARTER_WORDS;
    const char *name = words && word[1] == '-' ? word + 1 : word, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const char *meaning = find_option(reading->starter, name, length);

    reading->at++;
    if (meaning)
        return take_option(reading, meaning, name, equals ? equals + 1 : NULL);
    return (equals && word[1] == '-') || (reading->starter->flags & STARTER_LAX) ||
           give_up(reading);
}

/* Reads a word of options of one letter each. */
static bool read_short(struct reading *reading, const char *word)
{
    char name[3] = {word[0], 0, 0};

    reading->at++;
    for (const char *letter = word + 1; *letter; letter++) {
        const char *meaning;
        bool valued;

        name[1] = *letter;
        meaning = find_option(reading->starter, name, 2);
        if (!meaning)
            return (reading->starter->flags & STARTER_LAX) || give_up(reading);
        if (*meaning == '*')
            return true;
        valued = *meaning && strchr(":+!@/", *meaning);
        if (!take_option(reading, meaning, name, valued && letter[1] ? letter + 1 : NULL))
            return false;
        if (valued)
            return true;
    }
    return true;
}

/* Reads the starter's options. Returns false where the program is found, or never will be. */
static bool read_options(struct reading *reading)
{
    const struct starter *starter = reading->starter;
    const char *word;
    bool more = true;

    while (more && (word = word_at(reading, reading->at))) {
        if (strcmp(word, "--") == 0) {
            reading->at++;
            break;
        }
        if (word[0] == '-' && !word[1] && !find_option(starter, word, 1))
            break;
        if (word[0] != '-' && !(word[0] == '+' && (starter->flags & STARTER_PLUS)))
            break;
        if (!word[1])
            reading->at++;
        else if ((word[0] == '-' && word[1] == '-') || (starter->flags & STARTER_WORDS))
            more = read_long(reading, word);
        else
            more = read_short(reading, word);
    }
    return more;
}

/* Skips NAME=VALUE. With another PATH the command is searched for elsewhere. */
static bool skip_assignments(struct reading *reading)
{
    const char *word;

    while ((word = word_at(reading, reading->at)) && strchr(word, '=')) {
        if (strncmp(word, "PATH=", 5) == 0)
            return give_up(reading);
        reading->at++;
    }
    return true;
}

/* Says whether a word ":" parts the command from others. */
static bool has_several(const struct reading *reading)
{
    const char *word;

    for (int i = reading->at; (word = word_at(reading, i)); i++)
        if (strcmp(word, ":") == 0)
            return true;
    return false;
}

/* Goes on to the command that a wrapper or launcher starts. */
static bool read_command(struct reading *reading)
{
    const struct starter *starter = reading->starter;

    for (unsigned i = 0; i < starter->operands; i++)
        if (word_at(reading, reading->at))
            reading->at++;
    if ((starter->flags & STARTER_ASSIGNS) && !skip_assignments(reading))
        return false;
    if (!word_at(reading, reading->at) || ((starter->flags & STARTER_MANY) && has_several(reading)))
        return give_up(reading);
    reading->program->at = reading->at++;
    return true;
}

/* Takes an interpreter's first operand for what it runs. */
static bool read_operand(struct reading *reading)
{
    const unsigned flags = reading->starter->flags;
    const char *word = word_at(reading, reading->at);
    const char *dot = word ? strrchr(word, '.') : NULL;
    int args = reading->at + 1;

    if (!word || (flags & STARTER_LAX && !(flags & STARTER_CLASS)) || *word == '@')
        return give_up(reading);
    if (reading->code_first)
        return found(reading, WIRE_PROGRAM_CODE, "-c", word, args);
    if ((flags & STARTER_CLASS) && !(dot && strcmp(dot, ".java") == 0))
        return found(reading, WIRE_PROGRAM_MODULE, "", word, args);
    return found(reading, WIRE_PROGRAM_SCRIPT, "", word, args);
}

/* Reads what argv[at] starts. Returns whether that is a command, which then is argv[at]. */
static bool look_through(struct reading *reading)
{
    struct wire_program *program = reading->program;
    const char *path = reading->argv[program->at];

    reading->starter =
        strncmp(path, "./", 2) == 0 && !strchr(path + 2, '/') ? NULL : find_starter(path);
    if (!reading->starter) {
        program->args = reading->at;
        return false;
    }
    reading->code_first = reading->starter->flags & STARTER_CODE;
    if (reading->starter->kind == STARTER_CLOSED || reading->starter->kind == STARTER_OTHER)
        return give_up(reading);
    if (!read_options(reading))
        return false;
    return reading->starter->kind == STARTER_INTERPRETER ? read_operand(reading)
                                                         : read_command(reading);
}

void wire_program_read(int argc, char *const *argv, struct wire_program *program)
{
    struct reading reading = {
        .argc = argc < WORDS_MOST ? argc : WORDS_MOST, .argv = argv, .at = 1, .program = program};
    int n = 0;

    while (n < reading.argc && argv[n])
        n++;
    reading.argc = n;
    *program = (struct wire_program){.kind = WIRE_PROGRAM_FILE, .option = "", .args = 1};
    while (look_through(&reading))
        ;
    if (program->kind == WIRE_PROGRAM_UNKNOWN)
        program->args = 1;
}

void wire_program_shape(const struct wire_program *program, int argc, char *const *argv,
                        char shape[WIRE_SHAPE_MAX])
{
    wire_args_shape(argc - (program->args - 1), argv + (program->args - 1), shape);
}

/* ---- what it is called ---- */

/* Mixes texts into one hash, written as wire_program_hash() writes it. */
static void mix(const char *const *text, size_t n, char hash[WIRE_HASH_MAX])
{
    XXH3_state_t *state = XXH3_createState();
    XXH128_hash_t digest;

    hash[0] = '\0';
    if (!state)
        return;
    XXH3_128bits_reset(state);
    for (size_t i = 0; i < n; i++)
        XXH3_128bits_update(state, text[i], strlen(text[i]) + 1);
    digest = XXH3_128bits_digest(state);
    snprintf(hash, WIRE_HASH_MAX, "%016llx%016llx", (unsigned long long)digest.high64,
             (unsigned long long)digest.low64);
    XXH3_freeState(state);
}

/* Writes 16 bits of the hash of code, in which its numbers do not count. As in a shape, more would
 * tell what is nobody's business: code may hold a password. */
static void code_text(const char *code, char text[8])
{
    XXH3_state_t *state = XXH3_createState();

    text[0] = '\0';
    if (!state)
        return;
    XXH3_64bits_reset(state);
    for (size_t n; *code; code += n + strspn(code + n, "0123456789")) {
        n = strcspn(code, "0123456789");
        XXH3_64bits_update(state, code, n);
        XXH3_64bits_update(state, "#", 1);
    }
    snprintf(text, 8, "%04x", (unsigned)(XXH3_64bits_digest(state) & 0xffff));
    XXH3_freeState(state);
}

/* The hash of what an interpreter of that hash runs. */
static void mix_what(const struct wire_program *program, const char *script,
                     char hash[WIRE_HASH_MAX])
{
    char its[WIRE_HASH_MAX], own[WIRE_HASH_MAX] = "", code[8] = "";

    snprintf(its, sizeof(its), "%s", hash);
    hash[0] = '\0';
    if (program->kind == WIRE_PROGRAM_SCRIPT && (!script || wire_program_hash(script, own) < 0))
        return;
    if (program->kind == WIRE_PROGRAM_CODE)
        code_text(program->what, code);
    mix((const char *const[]){its, own, code, program->where ? program->where : ""}, 4, hash);
}

/* What it is called: what an interpreter runs stands behind its path. Returns the length. */
static int name_it(const struct wire_program *program, const char *path, const char *script,
                   char exe[PATH_MAX])
{
    const char *what = "";

    if (program->kind == WIRE_PROGRAM_SCRIPT)
        what = script ? script : wire_program_name(program->what);
    else if (program->kind == WIRE_PROGRAM_MODULE)
        what = program->what;
    return snprintf(exe, PATH_MAX, "%s%s%s%s%s", path, program->option[0] ? " " : "",
                    program->option, what[0] ? " " : "", what);
}

void wire_program_identify(const struct wire_program *program, const char *path, const char *script,
                           char exe[PATH_MAX], char hash[WIRE_HASH_MAX])
{
    int length = name_it(program, path, script, exe);

    hash[0] = '\0';
    if (length < 0 || length >= PATH_MAX)
        snprintf(exe, PATH_MAX, "%s", path);
    else if (program->kind != WIRE_PROGRAM_UNKNOWN && wire_program_hash(path, hash) < 0)
        hash[0] = '\0';
    if (hash[0] && program->kind != WIRE_PROGRAM_FILE)
        mix_what(program, script, hash);
}
