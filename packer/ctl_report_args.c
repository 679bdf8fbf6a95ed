/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_report_args - the command line of `berthctl report`, which is sacct's as far as it goes. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "ctl_report.h"
#include "report_nodes.h"
#include "report_time.h"

static const char usage[] =
    "usage: berthctl report [OPTION...]\n\n"
    "What steps cost that have ended: energy, energy-delay product, slowdown avoided. Options and\n"
    "times are sacct's; without any, your own steps (root: all) since midnight.\n\n"
    "  -j, --jobs LIST       jobs, steps, array tasks: 12,13.batch,14_3\n"
    "  -u, --user LIST       users, by name or number\n"
    "  -a, --allusers        of all users\n"
    "  -A, --accounts LIST   accounts\n"
    "  -r, --partition LIST  partitions\n"
    "  -N, --nodelist LIST   nodes: n1,n[3-5]\n"
    "  -s, --state LIST      completed (CD), failed (F); placed, observed, left by berth\n"
    "  -S, --starttime TIME  steps that ran after it\n"
    "  -E, --endtime TIME    and before it\n"
    "  -X, --allocations     a line for each job, none for its steps\n"
    "      --per-node        a line for each node of a step\n"
    "      --by WHAT         totals by user, account, job, day, partition or node\n"
    "  -o, --format LIST     FIELD[%[-]WIDTH],...; -e, --helpformat lists the fields\n"
    "  -b, --brief           --format=JobID,State,ExitCode,Energy\n"
    "      --units UNIT      energy in auto, J, kJ, MJ, kWh or MWh\n"
    "  -n, --noheader        no line above the rows\n"
    "  -p, --parsable        fields with a '|' after each; -P, --parsable2: between them\n"
    "      --delimiter TEXT  and this instead of '|'\n"
    "      --csv             comma-separated, figures in the units that the header names\n"
    "      --json            one JSON object\n"
    "      --html FILE       one page with charts, for a browser; - is stdout\n"
    "      --ledger URL      sqlite:PATH or mariadb://HOST/NAME; else what berth.conf says\n"
    "      --defaults FILE   option file with MariaDB's user and password\n"
    "      --config FILE     berth.conf\n";

enum {
    OPTION_BY = 256,
    OPTION_CONFIG,
    OPTION_CSV,
    OPTION_DEFAULTS,
    OPTION_DELIMITER,
    OPTION_HTML,
    OPTION_JSON,
    OPTION_LEDGER,
    OPTION_PER_NODE,
    OPTION_UNITS
};

static const struct option options[] = {
    {"accounts", required_argument, NULL, 'A'},
    {"allocations", no_argument, NULL, 'X'},
    {"allusers", no_argument, NULL, 'a'},
    {"brief", no_argument, NULL, 'b'},
    {"by", required_argument, NULL, OPTION_BY},
    {"config", required_argument, NULL, OPTION_CONFIG},
    {"csv", no_argument, NULL, OPTION_CSV},
    {"defaults", required_argument, NULL, OPTION_DEFAULTS},
    {"delimiter", required_argument, NULL, OPTION_DELIMITER},
    {"endtime", required_argument, NULL, 'E'},
    {"format", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {"helpformat", no_argument, NULL, 'e'},
    {"html", required_argument, NULL, OPTION_HTML},
    {"jobs", required_argument, NULL, 'j'},
    {"json", no_argument, NULL, OPTION_JSON},
    {"ledger", required_argument, NULL, OPTION_LEDGER},
    {"nodelist", required_argument, NULL, 'N'},
    {"noheader", no_argument, NULL, 'n'},
    {"parsable", no_argument, NULL, 'p'},
    {"parsable2", no_argument, NULL, 'P'},
    {"partition", required_argument, NULL, 'r'},
    {"per-node", no_argument, NULL, OPTION_PER_NODE},
    {"starttime", required_argument, NULL, 'S'},
    {"state", required_argument, NULL, 's'},
    {"uid", required_argument, NULL, 'u'},
    {"units", required_argument, NULL, OPTION_UNITS},
    {"user", required_argument, NULL, 'u'},
    {0},
};

static int no_memory(void)
{
    return ctl_fail("report", "%s", strerror(ENOMEM));
}

/* ---- lists ---- */

/* Append a word. 0, or -1. */
static int append(struct report_words_list *list, char *word)
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

/* Each word between the commas, for fn, which returns -1 to go on or an exit status. */
static int each(const char *option, const char *list,
                int (*fn)(struct report_args *args, const char *word), struct report_args *args)
{
    char *copy = strdup(list), *rest = copy, *word;
    int status = -1;
    bool any = false;

    if (!copy)
        return no_memory();
    while (status < 0 && (word = strsep(&rest, ","))) {
        if (!*word)
            continue;
        any = true;
        status = fn(args, word);
    }
    free(copy);
    return status < 0 && !any ? ctl_usage("report", "%s: a list expected", option) : status;
}

#define LIST_FUNCTION(name, list)                                                                  \
    static int name(struct report_args *args, const char *word)                                    \
    {                                                                                              \
        return append(&args->list, strdup(word)) < 0 ? no_memory() : -1;                           \
    }
LIST_FUNCTION(add_user, users)
LIST_FUNCTION(add_account, accounts)
LIST_FUNCTION(add_partition, partitions)

static int add_nodes(struct report_args *args, const char *list)
{
    struct berth_error err;
    char **name;
    size_t n, i;

    if (report_nodes_expand(list, &name, &n, &err) < 0)
        return ctl_usage("report", "--nodelist: %s", err.text);
    for (i = 0; i < n && append(&args->nodes, name[i]) == 0; i++)
        ;
    for (size_t k = i + 1; k < n; k++)
        free(name[k]);
    free(name);
    return i < n ? no_memory() : -1;
}

/* "12_3.batch" */
static int parse_job(const char *word, struct report_wanted *wanted)
{
    const char *under = strchr(word, '_');
    char text[64], *end;
    unsigned long task;

    wanted->task = UINT32_MAX;
    if (!under)
        return wire_step_parse(word, &wanted->id);
    errno = 0;
    task = strtoul(under + 1, &end, 10);
    if (under[1] < '0' || under[1] > '9' || errno || task >= UINT32_MAX || strlen(word) > 60)
        return -1;
    snprintf(text, sizeof(text), "%.*s%s", (int)(under - word), word, end);
    wanted->task = (uint32_t)task;
    return wire_step_parse(text, &wanted->id);
}

static int add_job(struct report_args *args, const char *word)
{
    struct report_wanted wanted, *more;

    if (parse_job(word, &wanted) < 0)
        return ctl_usage("report",
                         "--jobs: 12, 12.0, 12.batch, 12_3 or 12_3.0 expected, not '%.64s'", word);
    more = reallocarray(args->job, args->jobs + 1, sizeof(*more));
    if (!more)
        return no_memory();
    args->job = more;
    args->job[args->jobs++] = wanted;
    return -1;
}

/* Slurm's states, of which steps that have ended are in two, and berth's words. */
static int add_state(struct report_args *args, const char *word)
{
    static const char *const slurm[][2] = {
        {"CD", "COMPLETED"}, {"F", "FAILED"},     {"BF", "BOOT_FAIL"},      {"CA", "CANCELLED"},
        {"DL", "DEADLINE"},  {"NF", "NODE_FAIL"}, {"OOM", "OUT_OF_MEMORY"}, {"PD", "PENDING"},
        {"PR", "PREEMPTED"}, {"R", "RUNNING"},    {"RQ", "REQUEUED"},       {"RS", "RESIZING"},
        {"RV", "REVOKED"},   {"S", "SUSPENDED"},  {"TO", "TIMEOUT"}};
    static const char *const berth[] = {"placed", "observed", "left"};

    args->states = true;
    for (size_t i = 0; i < sizeof(slurm) / sizeof(slurm[0]); i++)
        if (strcasecmp(word, slurm[i][0]) == 0 || strcasecmp(word, slurm[i][1]) == 0) {
            args->state[i < REPORT_STATE_OTHER ? i : REPORT_STATE_OTHER] = true;
            return -1;
        }
    for (size_t i = 0; i < sizeof(berth) / sizeof(berth[0]); i++)
        if (strcasecmp(word, berth[i]) == 0)
            return append(&args->placed, strdup(berth[i])) < 0 ? no_memory() : -1;
    return ctl_usage("report", "--state: no such state: '%.64s'", word);
}

/* ---- the other options ---- */

static int read_time(const char *option, const char *text, struct report_args *args, int64_t *at,
                     bool *given)
{
    struct berth_error err;

    if (report_time_parse(text, args->now, at, &err) < 0)
        return ctl_usage("report", "%s: %s", option, err.text);
    *given = true;
    return -1;
}

/* One of the n words; the error lists them. */
static int read_word(const char *option, const char *text, const char *const *words, size_t n,
                     int *out)
{
    char list[128] = "";

    for (size_t i = 0; i < n; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out = (int)i;
            return -1;
        }
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "", words[i]);
    }
    return ctl_usage("report", "%s: one of %s expected, not '%.64s'", option, list, text);
}

static int read_by(const char *text, struct report_args *args)
{
    static const char *const words[] = {"user", "account", "partition", "node", "day", "job"};
    int word = 0, status = read_word("--by", text, words, 6, &word);

    if (status >= 0)
        return status;
    args->by_given = word < 5;
    args->by = word < 5 ? (enum report_by)(REPORT_BY_USER + word) : REPORT_BY_NOTHING;
    args->jobs_only = args->jobs_only || word == 5;
    return -1;
}

static int read_units(const char *text, struct report_args *args)
{
    int unit = 0, status = read_word("--units", text, report_unit_name, REPORT_UNITS, &unit);

    args->unit = (enum report_unit)unit;
    return status;
}

static int shape(struct report_args *args, enum report_shape wanted)
{
    if (args->shape != REPORT_SHAPE_TABLE && args->shape != wanted)
        return ctl_usage("report", "one of --parsable, --parsable2, --csv and --json only");
    args->shape = wanted;
    return -1;
}

static int take_list(int option, struct report_args *args)
{
    switch (option) {
    case 'j':
        return each("--jobs", optarg, add_job, args);
    case 'u':
        return each("--user", optarg, add_user, args);
    case 'A':
        return each("--accounts", optarg, add_account, args);
    case 'r':
        return each("--partition", optarg, add_partition, args);
    case 's':
        return each("--state", optarg, add_state, args);
    default:
        return add_nodes(args, optarg);
    }
}

static int take_flag(int option, struct report_args *args)
{
    switch (option) {
    case 'a':
        args->all_users = true;
        return -1;
    case 'X':
        args->jobs_only = true;
        return -1;
    case 'b':
        args->format = "JobID,State,ExitCode,Energy";
        return -1;
    case 'n':
        args->no_header = true;
        return -1;
    case 'p':
        return shape(args, REPORT_SHAPE_PARSABLE);
    case 'P':
        return shape(args, REPORT_SHAPE_PARSABLE2);
    case OPTION_CSV:
        return shape(args, REPORT_SHAPE_CSV);
    case OPTION_JSON:
        return shape(args, REPORT_SHAPE_JSON);
    default:
        args->per_node = true;
        return -1;
    }
}

static int take_text(int option, struct report_args *args)
{
    const char **text = option == 'o'                ? &args->format
                        : option == OPTION_DELIMITER ? &args->delimiter
                        : option == OPTION_HTML      ? &args->html
                        : option == OPTION_LEDGER    ? &args->ledger
                        : option == OPTION_DEFAULTS  ? &args->defaults
                                                     : &args->config;

    *text = optarg;
    return -1;
}

static int take(int option, char **argv, struct report_args *args)
{
    switch (option) {
    case 'h':
        fputs(usage, stdout);
        return 0;
    case 'e':
        report_fields_print(stdout);
        return 0;
    case ':':
        return ctl_usage("report", "%s: a value is missing", argv[optind - 1]);
    case '?':
        return ctl_usage("report", "%s: no such option", argv[optind - 1]);
    case 'S':
        return read_time("--starttime", optarg, args, &args->since, &args->since_given);
    case 'E':
        return read_time("--endtime", optarg, args, &args->until, &args->until_given);
    case OPTION_BY:
        return read_by(optarg, args);
    case OPTION_UNITS:
        return read_units(optarg, args);
    default:
        if (strchr("juArsN", option) && option < 256)
            return take_list(option, args);
        return optarg ? take_text(option, args) : take_flag(option, args);
    }
}

/* sacct's default time window: DEFAULT TIME WINDOW of sacct(1). */
static int conclude_window(struct report_args *args)
{
    if (!args->since_given && args->jobs == 0)
        args->since = args->states ? args->now : report_time_midnight(args->now);
    if (!args->until_given)
        args->until = args->states && args->since ? args->since : args->now;
    if (args->since > args->until)
        return ctl_usage("report", "--starttime is after --endtime");
    if (args->until == args->since || args->until == args->now)
        args->until++; /* this second too */
    return -1;
}

/* Whose steps: what was asked for, else one's own; of certain jobs or nodes, and for root, all. */
static int conclude_users(struct report_args *args)
{
    char uid[16];

    if (args->all_users) {
        for (size_t i = 0; i < args->users.n; i++)
            free(args->users.word[i]);
        args->users.n = 0;
    }
    if (args->all_users || args->users.n || args->jobs || args->nodes.n || getuid() == 0)
        return -1;
    snprintf(uid, sizeof(uid), "%u", (unsigned)getuid());
    return add_user(args, uid);
}

int ctl_report_args(int argc, char **argv, struct report_args *args)
{
    int option, status = -1;

    *args = (struct report_args){.delimiter = "|", .now = time(NULL)};
    opterr = 0;
    while (status < 0 &&
           (option = getopt_long(argc, argv, ":aA:beE:hj:nN:o:pPr:s:S:u:X", options, NULL)) != -1)
        status = take(option, argv, args);
    if (status >= 0)
        return status;
    if (optind < argc)
        return ctl_usage("report", "takes no argument: %s", argv[optind]);
    if (args->html && args->shape != REPORT_SHAPE_TABLE)
        return ctl_usage("report", "--html is a page by itself: no --csv, --json or --parsable");
    status = conclude_window(args);
    return status < 0 ? conclude_users(args) : status;
}

static void clear_list(struct report_words_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->word[i]);
    free(list->word);
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
