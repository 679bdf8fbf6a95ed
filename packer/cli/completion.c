/* SPDX-License-Identifier: GPL-2.0-or-later */
/* completion - `berthctl completion SHELL` prints a script by which a shell asks `berthctl complete
 * WORD..`, which --help does not show, what the last of these words may be. That is read from the
 * tables of the verbs' options, so that it knows all of them.
 *
 * It prints a word and its help a line, with a tab between them; or one of the words below, which
 * the shell has to find by itself. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/nearest.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "lab/model/models.h"
#include "probe/profile/profile.h"
#include "packer/cli/verbs.h"

#define FILES ":files"
#define JOBS ":jobs"
#define COMMANDS ":commands"

static const struct shell {
    const char *name, *script;
} shells[] = {
    {"bash",
     "# bash completion of berthctl (berthctl completion bash)\n"
     "_berthctl() {\n"
     "    local word words= cur=${COMP_WORDS[COMP_CWORD]}\n"
     "    COMPREPLY=()\n"
     "    while IFS=$'\\t' read -r word _; do\n"
     "        case $word in\n"
     "        " FILES ") compopt -o default 2>/dev/null ;;\n"
     "        " COMMANDS
     ") [ -z \"$cur\" ] || mapfile -t COMPREPLY < <(compgen -c -- \"$cur\") ;;\n"
     "        " JOBS ") words=\"$words $(squeue -h -u \"$(id -un)\" -o %i 2>/dev/null)\" ;;\n"
     "        *) words=\"$words $word\" ;;\n"
     "        esac\n"
     "    done < <(berthctl complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
     "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
     "}\n"
     "complete -F _berthctl berthctl\n"},
    {"zsh",
     "#compdef berthctl\n"
     "# zsh completion of berthctl (berthctl completion zsh)\n"
     "_berthctl() {\n"
     "    local line\n"
     "    local -a found\n"
     "    for line in \"${(@f)$(berthctl complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
     "        case $line in\n"
     "        " FILES ") _files ;;\n"
     "        " COMMANDS ") _command_names -e ;;\n"
     "        " JOBS ") compadd -- ${(f)\"$(squeue -h -u $(id -un) -o %i 2>/dev/null)\"} ;;\n"
     "        *) found+=(\"${${line//:/\\\\:}/$'\\t'/:}\") ;;\n"
     "        esac\n"
     "    done\n"
     "    _describe berthctl found\n"
     "}\n"
     "_berthctl \"$@\"\n"},
    {"fish", "# fish completion of berthctl (berthctl completion fish)\n"
             "function __berthctl_complete\n"
             "    set -l words (commandline -opc) (commandline -ct)\n"
             "    for line in (berthctl complete $words[2..] 2>/dev/null)\n"
             "        switch $line\n"
             "            case " FILES "\n"
             "                __fish_complete_path (commandline -ct)\n"
             "            case " COMMANDS "\n"
             "                complete -C (commandline -ct)\n"
             "            case " JOBS "\n"
             "                squeue -h -u (id -un) -o %i 2>/dev/null\n"
             "            case '*'\n"
             "                echo $line\n"
             "        end\n"
             "    end\n"
             "end\n"
             "complete -c berthctl -f -a '(__berthctl_complete)'\n"},
};

/* ---- what is proposed ---- */

/* The text of a help, in which a line ends, on one line. */
static void put_word(const char *dashes, const char *word, const char *help)
{
    printf("%s%s\t", dashes, word);
    for (; help && *help; help++)
        putchar(*help == '\n' ? ' ' : *help);
    putchar('\n');
}

static void put_words(const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        put_word("", words[i], "");
}

/* What an option's value is: one of a few words, a file, a job, or nothing that is known. */
static void put_values(const struct ctl_option *row)
{
    static const char *const file[] = {"FILE", "PATH", "DIR", "FOLDER", "DB", "XML|SYNTHETIC"};

    if (row->words)
        put_words(row->words);
    else if (strcmp(row->name, "jobs") == 0 || strcmp(row->arg, "JOB") == 0)
        puts(JOBS);
    for (size_t i = 0; !row->words && i < sizeof(file) / sizeof(file[0]); i++)
        if (strcmp(row->arg, file[i]) == 0)
            puts(FILES);
}

/* The options that --help shows, and --help. */
static void put_options(const struct ctl_options *options)
{
    put_word("--", "help", "what it takes");
    for (size_t i = 0; i < options->n; i++)
        if (options->option[i].help && strcmp(options->option[i].name, "help") != 0)
            put_word("--", options->option[i].name, options->option[i].help);
}

static void put_arguments(const struct ctl_options *options)
{
    const char *last = strrchr(options->synopsis, ' ');

    if (strstr(options->synopsis, "NAME [FILE]")) {
        for (size_t i = 0; ctl_model_name(i); i++)
            put_word("", ctl_model_name(i), "");
        puts(FILES);
    } else if (strstr(options->synopsis, "COMMAND")) {
        for (size_t i = 0; profile_stored_word(i); i++)
            put_word("", profile_stored_word(i), "");
        puts(COMMANDS);
    } else if (strstr(options->synopsis, "JOB"))
        puts(JOBS);
    else if (last && strcmp(last, " [FILE]") == 0)
        puts(FILES);
    else if (strcmp(options->verb, "completion") == 0)
        for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
            put_word("", shells[i].name, "");
}

/* The option that a word names, and that takes a value; NULL: none. */
static const struct ctl_option *option_of(const struct ctl_options *options, const char *word)
{
    for (size_t i = 0; i < options->n; i++) {
        const struct ctl_option *row = &options->option[i];

        if (row->arg && ((strncmp(word, "--", 2) == 0 && strcmp(word + 2, row->name) == 0) ||
                         (row->letter && strcmp(word, (char[]){'-', row->letter, '\0'}) == 0)))
            return row;
    }
    return NULL;
}

/* The last two words of the command line. */
struct typed {
    const char *before, *last;
};

static void on_table(const struct ctl_options *options, void *arg)
{
    const struct typed *typed = arg;
    const struct ctl_option *row = option_of(options, typed->before);

    if (row)
        put_values(row);
    else if (typed->last[0] == '-')
        put_options(options);
    else
        put_arguments(options);
}

static void put_verbs(const struct ctl_verb *verbs)
{
    for (; verbs->name; verbs++)
        put_word("", verbs->name, verbs->help);
    put_word("", "help", "what a verb takes");
    put_word("--", "help", "what verbs there are");
    put_word("--", "version", "berth's version");
}

/* Says whether the word is one of those that profile has for what is stored. */
static bool is_stored(const char *word)
{
    for (size_t i = 0; profile_stored_word(i); i++)
        if (strcmp(profile_stored_word(i), word) == 0)
            return true;
    return false;
}

int ctl_complete(const struct ctl_verb *verbs, int argc, char **argv)
{
    struct typed typed = {argc > 1 ? argv[argc - 2] : "", argc > 1 ? argv[argc - 1] : ""};
    const struct ctl_verb *verb = verbs;

    if (argc < 3 || (argc == 3 && strcmp(argv[1], "help") == 0)) {
        put_verbs(verbs);
        return 0;
    }
    while (verb->name && strcmp(verb->name, argv[1]) != 0)
        verb++;
    ctl_options_visit(on_table, &typed);
    if (argc > 3 && strcmp(argv[1], "profile") == 0 && is_stored(argv[2]))
        profile_stored(1, (char *[]){argv[2], NULL});
    else if (verb->name)
        verb->run(1, (char *[]){argv[1], NULL});
    ctl_options_visit(NULL, NULL);
    return 0;
}

/* ---- the scripts ---- */

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

int ctl_completion(int argc, char **argv)
{
    int status = ctl_options_read(&options, argc, argv, NULL);
    struct nearest nearest;
    char meant[NEAREST_SAY_MAX];

    if (status >= 0)
        return status;
    nearest = nearest_begin(argv[optind]);
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        nearest_try(&nearest, shells[i].name);
        if (strcmp(argv[optind], shells[i].name) == 0)
            return fputs(shells[i].script, stdout) < 0;
    }
    return ctl_usage("completion", "%s: no such shell%s; one of: bash, zsh, fish", argv[optind],
                     nearest_say(&nearest, meant));
}
