/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_args - the command line of `berthctl report`, which is sacct's as far as it goes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/nearest.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "packer/cli/find/job_raw.h"
#include "packer/cli/report/report.h"
#include "packer/report/node_list.h"
#include "packer/report/sacct_time.h"

static int no_memory(void)
{
    return ctl_fail("report", "%s", strerror(ENOMEM));
}

/* ---- lists ---- */

/* Appends a word, which is freed where that fails. 0, or -1. */
static int append(struct report_word_list *list, char *word)
{
    char **more = word ? reallocarray(list->word, list->n + 1, sizeof(*more)) : NULL;

    if (!more) {
        free(word);
        return -1;
    }
    list->word = more;
    list->word[list->n++] = word;
    return 0;
}

static int add_word(const struct ctl_option *option, const char *word, void *into)
{
    struct report_word_list *list = (void *)((char *)into + option->offset);

    return append(list, strdup(word)) < 0 ? no_memory() : -1;
}

/* Who names users after -a means them, as with sacct. */
static int add_user(const struct ctl_option *option, const char *word, void *into)
{
    ((struct report_args *)into)->all_users = false;
    return add_word(option, word, into);
}

static int add_nodes(const struct ctl_option *option, const char *list, void *into)
{
    struct report_args *args = into;
    struct berth_error err;
    char **name;
    size_t n, i;

    (void)option;
    if (node_list_expand(list, &name, &n, &err) < 0)
        return ctl_usage("report", "--nodelist: %s", err.text);
    for (i = 0; i < n && append(&args->nodes, name[i]) == 0; i++)
        ;
    for (size_t k = i + 1; k < n; k++)
        free(name[k]);
    free(name);
    return i < n ? no_memory() : -1;
}

static int add_job(const struct ctl_option *option, const char *word, void *into)
{
    struct report_args *args = into;
    struct job_id wanted, *more;
    struct berth_error err;

    (void)option;
    if (job_id_parse(word, &wanted) < 0)
        return ctl_usage("report",
                         "--jobs: 12, 12.0, 12.batch, 12_3, 12_3.0 or 12+1 expected, not '%.64s'",
                         word);
    if (wanted.part != JOB_ID_NONE && job_raw_ask_slurm(&wanted, &err) < 0)
        return ctl_fail("report", "%s: %s", word, err.text);
    more = reallocarray(args->job, args->jobs + 1, sizeof(*more));
    if (!more)
        return no_memory();
    args->job = more;
    args->job[args->jobs++] = wanted;
    return -1;
}

/* Takes one of Slurm's states, of which steps that have ended are in two, or one of berth's words.
 */
static int add_state(const struct ctl_option *option, const char *word, void *into)
{
    struct report_args *args = into;
    static const char *const slurm[][2] = {
        {"CD", "COMPLETED"}, {"F", "FAILED"},     {"BF", "BOOT_FAIL"},      {"CA", "CANCELLED"},
        {"DL", "DEADLINE"},  {"NF", "NODE_FAIL"}, {"OOM", "OUT_OF_MEMORY"}, {"PD", "PENDING"},
        {"PR", "PREEMPTED"}, {"R", "RUNNING"},    {"RQ", "REQUEUED"},       {"RS", "RESIZING"},
        {"RV", "REVOKED"},   {"S", "SUSPENDED"},  {"TO", "TIMEOUT"}};
    static const char *const berth[] = {"placed", "observed", "left"};

    struct nearest nearest = nearest_begin(word);
    char meant[NEAREST_SAY_MAX];

    (void)option;
    args->states = true;
    for (size_t i = 0; i < sizeof(slurm) / sizeof(slurm[0]); i++) {
        nearest_try(&nearest, slurm[i][1]);
        if (strcasecmp(word, slurm[i][0]) == 0 || strcasecmp(word, slurm[i][1]) == 0) {
            args->state[i < REPORT_STATE_OTHER ? i : REPORT_STATE_OTHER] = true;
            return -1;
        }
    }
    for (size_t i = 0; i < sizeof(berth) / sizeof(berth[0]); i++) {
        nearest_try(&nearest, berth[i]);
        if (strcasecmp(word, berth[i]) == 0)
            return append(&args->placed, strdup(berth[i])) < 0 ? no_memory() : -1;
    }
    return ctl_usage(
        "report",
        "--state: no such state: '%.64s'%s; completed, failed, another of Slurm's, placed, "
        "observed or left expected",
        word, nearest_say(&nearest, meant));
}

/* ---- the table ---- */

static int take_time(const struct ctl_option *option, const char *text, void *into)
{
    struct report_args *args = into;
    bool since = option->letter == 'S';
    struct berth_error err;

    if (sacct_time_parse(text, args->now, since ? &args->since : &args->until, &err) < 0)
        return ctl_usage("report", "--%s: %s", option->name, err.text);
    *(since ? &args->since_given : &args->until_given) = true;
    return -1;
}

static int take_brief(const struct ctl_option *option, const char *value, void *into)
{
    (void)option, (void)value;
    ((struct report_args *)into)->format = "JobID,State,ExitCode,Energy";
    return -1;
}

static int take_helpformat(const struct ctl_option *option, const char *value, void *into)
{
    (void)option, (void)value, (void)into;
    report_fields_print(stdout);
    return 0;
}

static const char *const by_words[] = {"user", "account", "partition", "node",
                                       "day",  "month",   "job",       NULL};

/* Takes a word of --by: the job is a row of its own, and stands alone. */
static int add_key(const struct ctl_option *option, const char *word, void *into)
{
    struct report_args *args = into;
    struct nearest nearest = nearest_begin(word);
    char meant[NEAREST_SAY_MAX];

    (void)option;
    if (strcasecmp(word, "job") == 0) {
        args->by_job = true;
        return -1;
    }
    for (enum report_by by = REPORT_BY_USER; by < REPORT_BYS; by++) {
        nearest_try(&nearest, report_by_name[by]);
        if (strcasecmp(word, report_by_name[by]) != 0)
            continue;
        if (report_keys_have(&args->by, by))
            return ctl_usage("report", "--by: '%s' stands there twice", word);
        if (args->keys == REPORT_KEYS_MOST)
            return ctl_usage("report", "--by: %d words at most", REPORT_KEYS_MOST);
        args->by.by[args->keys++] = by;
        return -1;
    }
    return ctl_usage("report",
                     "--by: words of user, account, partition, node, day, month, or job alone, "
                     "expected, not '%.64s'%s",
                     word, nearest_say(&nearest, meant));
}

static const struct ctl_option option_rows[] = {
    {"jobs", 'j', "LIST", "jobs, steps, array tasks: 12,13.batch,14_3",
     CTL_LIST(struct report_args, job, add_job)},
    {"user", 'u', "LIST", "users, by name or number",
     CTL_LIST(struct report_args, users, add_user)},
    {"uid", 0, "LIST", NULL, CTL_LIST(struct report_args, users, add_user)},
    {"allusers", 'a', NULL, "of all users", CTL_FLAG(struct report_args, all_users)},
    {"accounts", 'A', "LIST", "accounts", CTL_LIST(struct report_args, accounts, add_word)},
    {"partition", 'r', "LIST", "partitions", CTL_LIST(struct report_args, partitions, add_word)},
    {"nodelist", 'N', "LIST", "nodes: n1,n[3-5]", CTL_CALL(add_nodes)},
    {"state", 's', "LIST", "completed (CD), failed (F); placed, observed, left by berth",
     CTL_LIST(struct report_args, state, add_state)},
    {"starttime", 'S', "TIME", "steps that ran after it", CTL_CALL(take_time)},
    {"endtime", 'E', "TIME", "and before it", CTL_CALL(take_time)},
    {"allocations", 'X', NULL, "a line for each job, none for its steps",
     CTL_FLAG(struct report_args, jobs_only)},
    {"per-node", 0, NULL, "a line for each node of a step", CTL_FLAG(struct report_args, per_node)},
    {"by", 0, "LIST", "totals by user, account, partition, node, day, month, or by job",
     CTL_LIST(struct report_args, by, add_key), .words = by_words},
    {"divide", 0, NULL, "bill of a step what it took within --starttime, --endtime, day or month",
     CTL_FLAG(struct report_args, divide)},
    {"format", 'o', "LIST", "FIELD[%[-]WIDTH],...", CTL_TEXT(struct report_args, format)},
    {"helpformat", 'e', NULL, "list the fields", CTL_CALL(take_helpformat)},
    {"brief", 'b', NULL, "--format=JobID,State,ExitCode,Energy", CTL_CALL(take_brief)},
    {"units", 0, "UNIT", "energy in auto, J, kJ, MJ, kWh or MWh",
     CTL_WORD(struct report_args, unit, report_unit_name)},
    {"noheader", 'n', NULL, "no line above the rows", CTL_FLAG(struct report_args, no_header)},
    {"parsable", 'p', NULL, "fields with a '|' after each",
     CTL_ONE(struct report_args, shape, REPORT_SHAPE_PARSABLE)},
    {"parsable2", 'P', NULL, "fields with a '|' between them",
     CTL_ONE(struct report_args, shape, REPORT_SHAPE_PARSABLE2)},
    {"delimiter", 0, "TEXT", "and this instead of '|'", CTL_TEXT(struct report_args, delimiter)},
    {"csv", 0, NULL, "comma-separated, figures in the units that the header names",
     CTL_ONE(struct report_args, shape, REPORT_SHAPE_CSV)},
    {"json", 0, NULL, "one JSON object", CTL_ONE(struct report_args, shape, REPORT_SHAPE_JSON)},
    {"benefit", 0, NULL, "does it help? slowdown, core-hours and energy saved or savable",
     CTL_FLAG(struct report_args, benefit)},
    {"variation", 0, NULL, "do the runs of a program vary less where berth put them?",
     CTL_FLAG(struct report_args, variation)},
    {"html", 0, "FILE", "one page with charts, for a browser; - is stdout",
     CTL_TEXT(struct report_args, html)},
    {"ledger", 0, "URL", "sqlite:PATH or mariadb://HOST/NAME; else what berth.conf says",
     CTL_TEXT(struct report_args, ledger)},
    {"defaults", 0, "FILE", "option file with MariaDB's user and password",
     CTL_TEXT(struct report_args, defaults)},
    {"config", 0, "FILE", "berth.conf", CTL_TEXT(struct report_args, config)},
};
static const struct ctl_options options = {
    .verb = "report",
    .synopsis = "[OPTION...]",
    .about =
        "What steps cost that have ended: energy, energy-delay product, slowdown avoided. Options\n"
        "and times are sacct's; without any, your own steps (root: all) since midnight.",
    CTL_OPTIONS(option_rows),
};

/* ---- what follows from them ---- */

static void clear_list(struct report_word_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->word[i]);
    free(list->word);
    *list = (struct report_word_list){0};
}

/* Completes the time window as sacct does (DEFAULT TIME WINDOW of sacct(1)), but that it
 * lasts until now with -s, too. */
static int conclude_window(struct report_args *args)
{
    if (!args->since_given && args->jobs == 0)
        args->since = args->states ? args->now : sacct_time_midnight(args->now);
    if (!args->until_given)
        args->until = args->now; /* sacct -s has it end where it begins: nobody wants that */
    if (args->since > args->until)
        return ctl_usage("report", "--starttime is after --endtime");
    if (args->until == args->since || args->until == args->now)
        args->until++; /* this second too */
    return -1;
}

/* Completes whose steps are meant: those that were asked for, else one's own; of certain jobs or
 * nodes, and for root, all. */
static int conclude_users(struct report_args *args)
{
    char uid[16];

    if (args->all_users)
        clear_list(&args->users);
    if (args->all_users || args->users.n || args->jobs || args->nodes.n || getuid() == 0)
        return -1;
    args->own = true;
    snprintf(uid, sizeof(uid), "%u", (unsigned)getuid());
    return append(&args->users, strdup(uid)) < 0 ? no_memory() : -1;
}

int ctl_report_args(int argc, char **argv, struct report_args *args)
{
    int status;

    *args = (struct report_args){.delimiter = "|", .now = time(NULL)};
    status = ctl_options_read(&options, argc, argv, args);
    if (status >= 0)
        return status;
    if (args->by_job && args->keys)
        return ctl_usage("report", "--by: job stands alone: each is a row of its own");
    args->by_given = args->keys > 0;
    args->jobs_only = args->jobs_only || args->by_job;
    if (args->html && args->shape != REPORT_SHAPE_TABLE)
        return ctl_usage("report", "--html is a page by itself: no --csv, --json or --parsable");
    args->benefit = args->benefit || args->variation;
    if (args->benefit &&
        (args->html || args->by_given || args->format || args->per_node || args->jobs_only ||
         args->divide || (args->shape != REPORT_SHAPE_TABLE && args->shape != REPORT_SHAPE_JSON)))
        return ctl_usage("report",
                         "%s is a page by itself: of its looks only --json can be chosen%s",
                         args->variation ? "--variation" : "--benefit",
                         args->variation ? "" : " (--html has it, too)");
    status = conclude_window(args);
    return status < 0 ? conclude_users(args) : status;
}

void ctl_report_args_clear(struct report_args *args)
{
    clear_list(&args->users);
    clear_list(&args->accounts);
    clear_list(&args->partitions);
    clear_list(&args->nodes);
    clear_list(&args->placed);
    free(args->job);
}
