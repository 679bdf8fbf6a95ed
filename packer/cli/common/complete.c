/* SPDX-License-Identifier: GPL-2.0-or-later */
/* complete - what a word of a command line may be, for a shell that asks (completion.c). It is read
 * from the tables of the verbs' options, so that it knows all of them.
 *
 * It prints a word and its help a line, with a tab between them; or one of the words of complete.h,
 * which the shell has to find by itself. */
#include "packer/cli/common/complete.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "packer/cli/common/verb.h"
#include "packer/cli/options/options.h"

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
        puts(COMPLETE_JOBS);
    for (size_t i = 0; !row->words && i < sizeof(file) / sizeof(file[0]); i++)
        if (strcmp(row->arg, file[i]) == 0)
            puts(COMPLETE_FILES);
}

/* The options that --help shows, and --help. */
static void put_options(const struct ctl_options *options)
{
    put_word("--", "help", "what it takes");
    for (size_t i = 0; i < options->n; i++)
        if (options->option[i].help && strcmp(options->option[i].name, "help") != 0)
            put_word("--", options->option[i].name, options->option[i].help);
}

/* What stands behind the options: words of the verb's own, and what the synopsis ends with. */
static void put_arguments(const struct ctl_options *options, const struct ctl_verb *verb)
{
    const char *last = strrchr(options->synopsis, ' ');

    for (size_t i = 0; verb && verb->word && verb->word(i); i++)
        put_word("", verb->word(i), "");
    if (strstr(options->synopsis, "COMMAND"))
        puts(COMPLETE_COMMANDS);
    else if (strstr(options->synopsis, "JOB"))
        puts(COMPLETE_JOBS);
    else if (last && strcmp(last, " [FILE]") == 0)
        puts(COMPLETE_FILES);
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

/* The last two words of the command line, and the verb whose own words may follow. */
struct typed {
    const char *before, *last;
    const struct ctl_verb *verb;
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
        put_arguments(options, typed->verb);
}

static void put_verbs(const struct ctl_verb *verbs)
{
    for (; verbs->name; verbs++)
        put_word("", verbs->name, verbs->help);
    put_word("", "help", "what a verb takes");
    put_word("--", "help", "what verbs there are");
    put_word("--", "version", "berth's version");
}

static bool has_word(const struct ctl_verb *verb, const char *word)
{
    for (size_t i = 0; verb->word && verb->word(i); i++)
        if (strcmp(verb->word(i), word) == 0)
            return true;
    return false;
}

/* Has the verb, or the word of it that is typed, show its table of options. */
static void visit_options(const struct ctl_verb *verb, int argc, char **argv)
{
    struct typed typed = {argv[argc - 2], argv[argc - 1], verb};
    bool words = argc > 3 && verb->run_word && has_word(verb, argv[2]);

    if (words)
        typed.verb = NULL;
    ctl_options_visit(on_table, &typed);
    if (words)
        verb->run_word(1, (char *[]){argv[2], NULL});
    else
        verb->run(1, (char *[]){argv[1], NULL});
    ctl_options_visit(NULL, NULL);
}

int ctl_complete(const struct ctl_verb *verbs, int argc, char **argv)
{
    const struct ctl_verb *verb;

    if (argc < 3 || (argc == 3 && strcmp(argv[1], "help") == 0)) {
        put_verbs(verbs);
        return 0;
    }
    verb = ctl_verb_find(verbs, argv[1]);
    if (verb && verb->part)
        return ctl_verb_run(verb, argc, argv);
    if (verb)
        visit_options(verb, argc, argv);
    return 0;
}
