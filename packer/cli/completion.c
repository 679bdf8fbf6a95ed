/* SPDX-License-Identifier: GPL-2.0-or-later */
/* completion - `berthctl completion SHELL`: prints the script by which a shell completes berthctl's
 * command line. It is made of the tables from which verbs read their options, so that it knows all
 * of them.
 *
 * Each shell is a row of functions that write one thing each: the beginning, a verb with its
 * options, the end. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/nearest.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/options.h"
#include "lab/model/models.h"
#include "probe/profile/profile.h"
#include "packer/cli/verbs.h"
#include "enum_table.h"

struct shell {
    const char *name;
    void (*begin)(void);
    void (*verb)(const struct ctl_options *options);
    void (*end)(void);
};

static const struct ctl_verb *verbs;

/* ---- what is proposed ---- */

enum proposal { NOTHING, FILES, JOBS, MODELS, COMMANDS, PROPOSALS };

/* What an option's value is, when it is none of a few words. */
static enum proposal value_of(const struct ctl_option *row)
{
    static const char *const file[] = {"FILE", "PATH", "DIR", "FOLDER", "DB", "XML|SYNTHETIC"};

    for (size_t i = 0; i < sizeof(file) / sizeof(file[0]); i++)
        if (strcmp(row->arg, file[i]) == 0)
            return FILES;
    return strcmp(row->name, "jobs") == 0 || strcmp(row->arg, "JOB") == 0 ? JOBS : NOTHING;
}

/* What the verb's arguments are. */
static enum proposal arguments_of(const struct ctl_options *options)
{
    static const struct {
        const char *word;
        enum proposal proposal;
    } known[] = {{"NAME [FILE]", MODELS}, {"COMMAND", COMMANDS}, {"JOB", JOBS}};
    const char *last = strrchr(options->synopsis, ' ');

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strstr(options->synopsis, known[i].word))
            return known[i].proposal;
    return last && strcmp(last, " [FILE]") == 0 ? FILES : NOTHING;
}

/* The rows that --help shows, and --help. */
static const struct ctl_option *row_of(const struct ctl_options *options, size_t i)
{
    static const struct ctl_option help = {.name = "help", .letter = 'h', .help = "what it takes"};

    return i < options->n ? &options->option[i] : &help;
}

static bool is_shown(const struct ctl_options *options, size_t i)
{
    return row_of(options, i)->help &&
           (i == options->n || strcmp(options->option[i].name, "help") != 0);
}

#define each_row(options, i)                                                                       \
    for (size_t i = 0; i <= (options)->n; i++)                                                     \
        if (is_shown(options, i))

/* The text with `special` characters behind a backslash, and its line breaks as blanks; a quote
 * cannot stand between quotes at all. */
static void put_escaped(const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            putchar('\\');
        fputs(*text == '\n' ? " " : *text == '\'' ? "'\\''" : (char[]){*text, '\0'}, stdout);
    }
}

static void put_words(const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        printf("%s%s", i ? " " : "", words[i]);
}

static void put_models(void)
{
    for (size_t i = 0; ctl_model_name(i); i++)
        printf("%s%s", i ? " " : "", ctl_model_name(i));
}

static void put_stored(const char *between)
{
    for (size_t i = 0; profile_stored_word(i); i++)
        printf("%s%s", i ? between : "", profile_stored_word(i));
}

/* ---- bash ---- */

static void bash_begin(void)
{
    puts("# bash completion of berthctl (berthctl completion bash)\n"
         "_berthctl() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} "
         "verb=${COMP_WORDS[1]}\n"
         "    local options= propose=\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        mapfile -t COMPREPLY < <(compgen -W '", stdout);
    for (size_t i = 0; verbs[i].name; i++)
        printf("%s ", verbs[i].name);
    fputs("help --help --version' -- \"$cur\")\n        return\n    fi\n    case "
          "$verb.${COMP_WORDS[2]} in\n    ",
          stdout);
    for (size_t i = 0; profile_stored_word(i); i++)
        printf("%sprofile.%s", i ? " | " : "", profile_stored_word(i));
    puts(") [ \"$COMP_CWORD\" -eq 2 ] || verb=\"profile ${COMP_WORDS[2]}\" ;;\n    esac\n    case "
         "$verb in");
}

static const char *const TABLE(bash_propose, PROPOSALS) = {
    ROW(NOTHING) = "",     ROW(FILES) = "files",       ROW(JOBS) = "jobs",
    ROW(MODELS) = "files", ROW(COMMANDS) = "commands",
};
TABLE_COMPLETE(bash_propose);

static void bash_value(const struct ctl_option *row)
{
    printf("        --%s", row->name);
    if (row->letter)
        printf(" | -%c", row->letter);
    fputs(") propose='", stdout);
    if (row->words)
        put_words(row->words);
    else
        fputs(bash_propose[value_of(row)], stdout);
    puts("' options=. ;;");
}

static void bash_verb(const struct ctl_options *options)
{
    enum proposal takes = arguments_of(options);

    printf("    '%s')\n        options='", options->verb);
    each_row(options, i) printf("--%s ", row_of(options, i)->name);
    printf("' propose='%s", bash_propose[takes]);
    if (takes == MODELS)
        fputs(" ", stdout), put_models();
    if (takes == COMMANDS)
        fputs(" ", stdout), put_stored(" ");
    puts("'\n        case $prev in");
    each_row(options, i) if (row_of(options, i)->arg) bash_value(row_of(options, i));
    puts("        esac\n        ;;");
}

static void bash_end(void)
{
    puts(
        "    esac\n"
        "    [ \"$options\" = . ] && options= || case $cur in -*) propose= ;; *) options= ;; esac\n"
        "    case \" $propose \" in *' files '*) compopt -o default 2>/dev/null ;; esac\n"
        "    case \" $propose \" in *' commands '*) [ -z \"$cur\" ] || mapfile -t COMPREPLY < "
        "<(compgen -c -- "
        "\"$cur\") ;; esac\n"
        "    case \" $propose \" in\n"
        "    *' jobs '*) propose=\"$propose $(squeue -h -u \"$(id -un)\" -o %i 2>/dev/null)\" ;;\n"
        "    esac\n"
        "    propose=${propose/files/} propose=${propose/jobs/} propose=${propose/commands/}\n"
        "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$options $propose\" -- "
        "\"$cur\")\n"
        "}\n"
        "complete -F _berthctl berthctl");
}

/* ---- zsh ---- */

static void zsh_begin(void)
{
    puts("#compdef berthctl\n"
         "# zsh completion of berthctl (berthctl completion zsh)\n"
         "_berthctl_jobs() {\n"
         "    compadd -- ${(f)\"$(squeue -h -u $(id -un) -o %i 2>/dev/null)\"}\n"
         "}\n"
         "_berthctl() {\n"
         "    local -a verbs\n"
         "    local verb=$words[2]\n"
         "    verbs=(");
    for (size_t i = 0; verbs[i].name; i++) {
        printf("        '%s:", verbs[i].name);
        put_escaped(verbs[i].help, ":\\");
        puts("'");
    }
    puts("    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe verb verbs\n"
         "        return\n"
         "    fi\n"
         "    shift words\n"
         "    (( CURRENT-- ))");
    fputs("    if [[ $verb == profile && $words[2] == (", stdout);
    put_stored("|");
    puts(") ]] && (( CURRENT > 2 )); then\n"
         "        verb=\"profile $words[2]\"\n"
         "        shift words\n"
         "        (( CURRENT-- ))\n"
         "    fi\n"
         "    case $verb in");
}

static const char *const TABLE(zsh_action, PROPOSALS) = {
    ROW(NOTHING) = " ",
    ROW(FILES) = "_files",
    ROW(JOBS) = "_berthctl_jobs",
    ROW(MODELS) = "_files",
    ROW(COMMANDS) = "_command_names -e",
};
TABLE_COMPLETE(zsh_action);

static void zsh_row(const struct ctl_option *row)
{
    const char *equals = row->arg ? "=" : "";

    fputs("            '", stdout);
    if (row->letter)
        printf("(-%c --%s)'{-%c,--%s%s}'[", row->letter, row->name, row->letter, row->name, equals);
    else
        printf("--%s%s[", row->name, equals);
    put_escaped(row->help, "[]:\\");
    putchar(']');
    if (row->arg) {
        putchar(':');
        put_escaped(row->arg, "[]:\\");
        putchar(':');
        if (row->words)
            putchar('('), put_words(row->words), putchar(')');
        else
            fputs(zsh_action[value_of(row)], stdout);
    }
    puts("' \\");
}

static void zsh_verb(const struct ctl_options *options)
{
    enum proposal takes = arguments_of(options);

    printf("    '%s')\n        _arguments \\\n", options->verb);
    each_row(options, i) zsh_row(row_of(options, i));
    if (takes == MODELS)
        fputs("            '1:model:(", stdout), put_models(), puts(")' '2:FILE:_files'");
    else if (takes == COMMANDS)
        fputs("            '1: :{_alternative \"stored:verb:(", stdout), put_stored(" "),
            puts(")\" \"commands:command:_command_names -e\"}' '*:: :_normal'");
    else
        printf("            '*:argument:%s'\n", zsh_action[takes]);
    puts("        ;;");
}

static void zsh_end(void)
{
    puts("    esac\n"
         "}\n"
         "_berthctl \"$@\"");
}

/* ---- fish ---- */

static void fish_begin(void)
{
    puts("# fish completion of berthctl (berthctl completion fish)\n"
         "complete -c berthctl -f");
    for (size_t i = 0; verbs[i].name; i++) {
        printf("complete -c berthctl -n __fish_use_subcommand -a %s -d '", verbs[i].name);
        put_escaped(verbs[i].help, "\\");
        puts("'");
    }
}

/* The beginning of a line that counts behind this verb. */
static void fish_put(const struct ctl_options *options)
{
    const char *second = strchr(options->verb, ' ');

    printf("complete -c berthctl -n '__fish_seen_subcommand_from %.*s",
           (int)strcspn(options->verb, " "), options->verb);
    if (second)
        printf("; and __fish_seen_subcommand_from %s", second + 1);
    fputs("'", stdout);
}

static void fish_row(const struct ctl_options *options, const struct ctl_option *row)
{
    fish_put(options);
    printf(" -l %s", row->name);
    if (row->letter)
        printf(" -s %c", row->letter);
    if (row->arg && row->words)
        fputs(" -x -a '", stdout), put_words(row->words), putchar('\'');
    else if (row->arg)
        fputs(value_of(row) == FILES  ? " -r -F"
              : value_of(row) == JOBS ? " -x -a '(squeue -h -u (id -un) -o %i 2>/dev/null)'"
                                      : " -x",
              stdout);
    fputs(" -d '", stdout);
    put_escaped(row->help, "\\");
    puts("'");
}

static void fish_verb(const struct ctl_options *options)
{
    enum proposal takes = arguments_of(options);

    each_row(options, i) fish_row(options, row_of(options, i));
    if (takes == NOTHING)
        return;
    fish_put(options);
    if (takes == FILES)
        puts(" -F");
    else if (takes == JOBS)
        puts(" -a '(squeue -h -u (id -un) -o %i 2>/dev/null)'");
    else if (takes == MODELS)
        fputs(" -F -a '", stdout), put_models(), puts("'");
    else
        fputs(" -F -a '", stdout), put_stored(" "), puts("'");
}

static void fish_end(void)
{
}

/* ---- the verb ---- */

static const struct shell shells[] = {{"bash", bash_begin, bash_verb, bash_end},
                                      {"zsh", zsh_begin, zsh_verb, zsh_end},
                                      {"fish", fish_begin, fish_verb, fish_end}};

static const struct ctl_options options = {
    .verb = "completion",
    .synopsis = "bash | zsh | fish",
    .about =
        "Print the script by which a shell completes berthctl's command line: packages install\n"
        "it. To have it in a shell of your own: source <(berthctl completion bash)",
    .least = 1,
    .most = 1,
    .takes = "one of bash, zsh, fish",
};

static void on_table(const struct ctl_options *table, void *arg)
{
    const struct shell *shell = arg;

    shell->verb(table);
}

/* Has each verb hand its table over. */
static void visit_verbs(const struct shell *shell)
{
    ctl_options_visit(on_table, (void *)shell);
    for (size_t i = 0; verbs[i].name; i++)
        verbs[i].run(1, (char *[]){(char *)verbs[i].name, NULL});
    for (size_t i = 0; profile_stored_word(i); i++)
        profile_stored(1, (char *[]){(char *)profile_stored_word(i), NULL});
    ctl_options_visit(NULL, NULL);
}

int ctl_completion(const struct ctl_verb *all, int argc, char **argv)
{
    int status = ctl_options_read(&options, argc, argv, NULL);
    struct nearest nearest;
    char meant[NEAREST_SAY_MAX];

    if (status >= 0)
        return status;
    verbs = all;
    nearest = nearest_begin(argv[optind]);
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        nearest_try(&nearest, shells[i].name);
        if (strcmp(argv[optind], shells[i].name) == 0) {
            shells[i].begin();
            visit_verbs(&shells[i]);
            shells[i].end();
            return 0;
        }
    }
    return ctl_usage("completion", "%s: no such shell%s; one of: bash, zsh, fish", argv[optind],
                     nearest_say(&nearest, meant));
}
