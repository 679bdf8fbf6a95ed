/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options - see options.h. Pure text: nothing here knows Slurm. */
#include "options.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 128
#define DEADLINE_MAX_MS 10000
#define SLOWDOWN_MAX_PCT 1000

struct word {
    const char *name;
    const char *value;        /* what stands behind "=", for people; NULL: the word stands alone */
    const char *const *names; /* the values there are, instead of `value` */
    size_t nnames;
    bool bare; /* it may stand alone, though it takes a value */
    bool site; /* allow of berth.conf has to name it: by default it does not */
    int (*set)(struct wire_options *options, const struct word *word, const char *value);
    size_t detail;       /* for set: a mode, or the offset of a flag */
    const char *against; /* the word that it contradicts; NULL: none */
    const char *help;
};

static int set_mode(struct wire_options *options, const struct word *word, const char *value)
{
    (void)value;
    options->mode = (enum wire_mode)word->detail;
    return 0;
}

static int set_flag(struct wire_options *options, const struct word *word, const char *value)
{
    (void)value;
    *(bool *)((char *)options + word->detail) = true;
    return 0;
}

/* Index of the value among the word's names, or -1. */
static int name_index(const struct word *word, const char *value)
{
    for (size_t i = 0; i < word->nnames; i++)
        if (strcmp(word->names[i], value) == 0)
            return (int)i;
    return -1;
}

static int set_policy(struct wire_options *options, const struct word *word, const char *value)
{
    int policy = name_index(word, value);

    if (policy < 0)
        return -1;
    options->policy = (enum wire_policy)policy;
    options->policy_given = true;
    return 0;
}

static int set_mem(struct wire_options *options, const struct word *word, const char *value)
{
    int mem = name_index(word, value);

    if (mem < 0)
        return -1;
    options->mem = (enum wire_mem)mem;
    options->mem_auto = options->mem == WIRE_MEM_AUTO;
    return 0;
}

/* Reads a number, 1 to `most`. Returns what follows, or NULL. */
static const char *parse_count(const char *text, uint32_t most, uint32_t *count)
{
    unsigned long number;
    char *rest;

    if (!isdigit((unsigned char)*text))
        return NULL;
    number = strtoul(text, &rest, 10);
    if (number < 1 || number > most)
        return NULL;
    *count = (uint32_t)number;
    return rest;
}

static int set_cores(struct wire_options *options, const struct word *word, const char *value)
{
    uint32_t min = 0, max = 0;
    const char *rest = parse_count(value, CPUS_MAX, &min);

    (void)word;
    max = min;
    if (rest && *rest == '-')
        rest = parse_count(rest + 1, CPUS_MAX, &max);
    if (!rest || *rest || max < min)
        return -1;
    options->cores_min = min;
    options->cores_max = max;
    return 0;
}

/* Reads a number of percent, 0 to `most`, with or without its sign. 0, or -1. */
static int parse_percent(const char *text, double most, double *percent)
{
    size_t digits = strspn(text, "0123456789.");
    char *rest;
    double number = strtod(text, &rest);

    if (digits == 0 || rest != text + digits || (*rest && strcmp(rest, "%") != 0) || number > most)
        return -1;
    *percent = number;
    return 0;
}

static int set_slowdown(struct wire_options *options, const struct word *word, const char *value)
{
    (void)word;
    return parse_percent(value, SLOWDOWN_MAX_PCT, &options->max_slowdown_pct);
}

static int set_size(struct wire_options *options, const struct word *word, const char *value)
{
    (void)word;
    if (value && parse_percent(value, WIRE_SIZE_LOSS_MOST, &options->size_loss_pct) < 0)
        return -1;
    options->size = true;
    return 0;
}

static const char *const threads_names[] = {"auto", "follow"};

static int set_threads(struct wire_options *options, const struct word *word, const char *value)
{
    int name = name_index(word, value);

    if (name < 0)
        return -1;
    options->threads_auto = name == 0;
    options->threads_follow = name == 1;
    return 0;
}

static int set_throttle(struct wire_options *options, const struct word *word, const char *value)
{
    int name = value ? name_index(word, value) : WIRE_THROTTLE_BASELINE - 1;

    if (name < 0)
        return -1;
    options->throttle = (enum wire_throttle)(name + 1);
    return 0;
}

static int set_flex(struct wire_options *options, const struct word *word, const char *value)
{
    const char *rest = value ? parse_count(value, WIRE_FLEX_MOST, &options->flex_threads) : "";

    (void)word;
    if (!rest || *rest)
        return -1;
    options->flex = true;
    return 0;
}

static const char *const locks_names[] = {"cohort"};

static int set_locks(struct wire_options *options, const struct word *word, const char *value)
{
    if (name_index(word, value) < 0)
        return -1;
    options->locks_cohort = true;
    return 0;
}

static int set_prefetch(struct wire_options *options, const struct word *word, const char *value)
{
    int name = name_index(word, value);

    if (name < 0)
        return -1;
    options->prefetch = (enum wire_prefetch)(name + 1);
    return 0;
}

static int set_tag(struct wire_options *options, const struct word *word, const char *value)
{
    (void)word;
    if (!wire_tag_valid(value))
        return -1;
    strcpy(options->tag, value);
    return 0;
}

#define TEXT_OF(number) TEXT_OF_ITS_VALUE(number)
#define TEXT_OF_ITS_VALUE(number) #number

#define MODE(m) .set = set_mode, .detail = (m)
#define FLAG(f) .set = set_flag, .detail = offsetof(struct wire_options, f)

static const struct word words[] = {
    {"off", MODE(WIRE_MODE_OFF), .help = "leave the step where Slurm puts it"},
    {"auto", MODE(WIRE_MODE_AUTO),
     .help = "place it where it disturbs its neighbours least (this is what no LIST means)"},
    {"observe", MODE(WIRE_MODE_OBSERVE), .help = "decide and record, move nothing"},
    {"isolate", FLAG(isolate),
     .help = "prioritised: a cache domain of its own where it is sensitive"},
    {"edp", FLAG(edp), .help = "save energy: cluster unless that costs more speed than it saves"},
    {"size", .value = "PCT", .bare = true, .set = set_size,
     .help = "run on the fewest of the given cores that cost at most PCT (0 to 50, else 2) percent "
             "of its speed"},
    {"spread", FLAG(spread), .against = "pack",
     .help = "divide the cores of each task over last-level caches, whatever is predicted"},
    {"pack", FLAG(pack), .against = "spread",
     .help = "keep the cores of each task on as few last-level caches as they can have"},
    {"policy", .names = wire_policy_name, .nnames = WIRE_POLICIES, .set = set_policy,
     .help = "how places are compared"},
    {"cores", .value = "MIN-MAX", .set = set_cores,
     .help = "bounds for size, or one number of cores, 1 to " TEXT_OF(CPUS_MAX)},
    {"max-slowdown", .value = "PCT", .set = set_slowdown,
     .help = "percent (0 to 1000) of its time alone that it may take longer beside others"},
    {"mem", .names = wire_mem_name, .nnames = WIRE_MEMS, .set = set_mem,
     .help = "memory policy over the nodes near its cores"},
    {"threads", .names = threads_names, .nnames = 2, .set = set_threads,
     .help = "auto: OMP_NUM_THREADS by what berthctl threads has found, unless it is set; follow: "
             "OpenMP regions as its cores become fewer or more (this only where the site allows "
             "follow)"},
    {"throttle", .names = wire_throttle_name + 1, .nnames = WIRE_THROTTLES - 1, .bare = true,
     .set = set_throttle, .site = true,
     .help = "fewer threads in its OpenMP loops while its memory is saturated; without a value: "
             "baseline"},
    {"flex", .value = "N", .bare = true, .set = set_flex, .site = true,
     .help = "many threads (N, 1 to " TEXT_OF(
         WIRE_FLEX_MOST) "), whose barriers, mutexes and "
                         "condition variables are distributed over memory nodes"},
    {"locks", .names = locks_names, .nnames = 1, .set = set_locks, .site = true,
     .help = "mutexes are handed on within a memory node first, in bounds"},
    {"faithful", FLAG(faithful), .site = true,
     .help = "one time slice for all its threads, by how much they wait for locks and memory"},
    {"tranquil", FLAG(tranquil), .site = true,
     .help = "memory over its nodes and time slices, where it then runs faster and more evenly"},
    {"shuffle", FLAG(shuffle), .site = true,
     .help = "its threads into packages by how long they wait for locks"},
    {"adapt", FLAG(adapt), .site = true,
     .help = "with overlapping steps of the job that ask for it, too: all cores or a part each"},
    {"nocount", FLAG(nocount),
     .help = "leave the hardware counters to perf, PAPI, LIKWID or VTune"},
    {"nodevice", FLAG(nodevice),
     .help = "place it as if it had no GPU and no network adapter of its own"},
    {"prefetch", .names = wire_prefetch_name + 1, .nnames = WIRE_PREFETCHES - 1,
     .set = set_prefetch, .site = true,
     .help =
         "the hardware prefetchers of the cores that it has to itself: all on, all off, or as it "
         "gets more done"},
    {"tag", .value = "NAME", .set = set_tag,
     .help = "key of its profile: letters, digits, '.', '_', '-'; less than 64 of them"},
    {"require", FLAG(require), .help = "fail the step when no berthd answers"},
    {"verbose", FLAG(verbose), .help = "say on stderr where each task was placed"},
    {"help", .set = NULL, .help = "print this"},
};

#define WORDS (sizeof(words) / sizeof(words[0]))
#define WORD_OFF 0u

/* Append printf-style to text[size]; what does not fit is cut off. */
static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

static void append_names(char *text, size_t size, const struct word *word, const char *separator)
{
    for (size_t i = 0; i < word->nnames; i++)
        append(text, size, "%s%s", i ? separator : "", word->names[i]);
}

/* Append the word with its values: "mem=auto|local|interleave|bind". */
static void append_word(char *text, size_t size, const struct word *word)
{
    append(text, size, "%s", word->name);
    if (word->value || word->names)
        append(text, size, "%s=%s", word->bare ? "[" : "", word->value ? word->value : "");
    append_names(text, size, word, "|");
    append(text, size, "%s", word->bare ? "]" : "");
}

void options_usage(char *text, size_t size)
{
    text[0] = '\0';
    append(text, size,
           "place the step where it disturbs its neighbours least; LIST, comma separated:");
    for (size_t i = 0; i < WORDS; i++) {
        append(text, size, "%s ", i ? "," : "");
        append_word(text, size, &words[i]);
    }
}

#define SITE_ALLOWS " (only where the site allows it: allow of berth.conf)"

void options_help(FILE *out)
{
    fprintf(out, "--%s[=LIST], comma separated words:\n", OPTIONS_NAME);
    for (size_t i = 0; i < WORDS; i++) {
        char text[WORD_MAX] = "";

        append_word(text, sizeof(text), &words[i]);
        if (strlen(text) > 20)
            fprintf(out, "  %s\n  %-20s", text, "");
        else
            fprintf(out, "  %-20s", text);
        fprintf(out, "  %s%s\n", words[i].help, words[i].site ? SITE_ALLOWS : "");
    }
}

/* ---- errors: one line, printable whatever the user typed ---- */

static int wrong(struct berth_error *err, const char *word, const char *why)
{
    char clean[WORD_MAX];
    size_t i;

    for (i = 0; word[i] && i + 1 < sizeof(clean); i++)
        clean[i] = isprint((unsigned char)word[i]) ? word[i] : '?';
    clean[i] = '\0';
    return berth_error_set(err, "--%s: '%s' %s", OPTIONS_NAME, clean, why);
}

/* Begins a line about the word with what may be meant by it, "(size?) ". */
static void append_meant(char *why, size_t size, const struct nearest *nearest)
{
    if (nearest->best)
        append(why, size, "(%s?) ", nearest->best);
}

static int wrong_word(struct berth_error *err, const char *word)
{
    char why[400] = "", name[WORD_MAX];
    struct nearest nearest;

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
    nearest = nearest_begin(name);
    for (size_t i = 0; i < WORDS; i++)
        nearest_try(&nearest, words[i].name);
    append_meant(why, sizeof(why), &nearest);
    append(why, sizeof(why), "is not one of");
    for (size_t i = 0; i < WORDS; i++)
        append(why, sizeof(why), "%s %s%s", i ? "," : "", words[i].name,
               (words[i].value || words[i].names) && !words[i].bare ? "=" : "");
    return wrong(err, word, why);
}

/* Begins with what may be meant by the value. */
static void append_value_meant(char *why, size_t size, const char *text, const struct word *word)
{
    const char *value = strchr(text, '=');
    struct nearest nearest = nearest_begin(value ? value + 1 : "");

    for (size_t i = 0; i < word->nnames; i++)
        nearest_try(&nearest, word->names[i]);
    append_meant(why, size, &nearest);
}

static int wrong_value(struct berth_error *err, const char *text, const struct word *word)
{
    char why[400] = "";

    if (word->names) {
        append_value_meant(why, sizeof(why), text, word);
        append(why, sizeof(why), "is wrong, %s= takes one of ", word->name);
        append_names(why, sizeof(why), word, ", ");
    } else if (word->value) {
        append(why, sizeof(why), "is wrong, right is %s=%s: %s", word->name, word->value,
               word->help);
    } else {
        append(why, sizeof(why), "is wrong, '%s' takes no value", word->name);
    }
    return wrong(err, text, why);
}

/* ---- the parser ---- */

struct parse {
    struct wire_options options;
    unsigned given;          /* bit i: words[i] was given */
    const struct word *mode; /* the mode that was given */
};

static const struct word *word_find(const char *text, size_t length)
{
    for (size_t i = 0; i < WORDS; i++)
        if (strlen(words[i].name) == length && memcmp(words[i].name, text, length) == 0)
            return &words[i];
    return NULL;
}

/* Returns the bit of a word that there is. */
static unsigned word_bit(const char *name)
{
    return 1u << (word_find(name, strlen(name)) - words);
}

/* Does the word agree with those before it? */
static int check_word(struct parse *parse, const struct word *word, const char *text,
                      struct berth_error *err)
{
    unsigned bit = 1u << (word - words);
    char why[WORD_MAX];

    if (parse->given & bit)
        return wrong(err, text, "is given twice");
    if (word->set == set_mode && parse->mode) {
        snprintf(why, sizeof(why), "contradicts '%s'", parse->mode->name);
        return wrong(err, text, why);
    }
    if (word->against && (parse->given & word_bit(word->against))) {
        snprintf(why, sizeof(why), "contradicts '%s'", word->against);
        return wrong(err, text, why);
    }
    parse->given |= bit;
    if ((parse->given & 1u << WORD_OFF) && parse->given != 1u << WORD_OFF)
        return wrong(err, text, word == &words[WORD_OFF] ? "stands alone" : "contradicts 'off'");
    if (word->set == set_mode)
        parse->mode = word;
    return 0;
}

/* Take one word, "NAME" or "NAME=VALUE". 0, 1 for help, or -1. */
static int parse_word(struct parse *parse, const char *text, struct berth_error *err)
{
    size_t length = strcspn(text, "=");
    const struct word *word = word_find(text, length);
    bool valued = text[length] == '=';

    if (!word)
        return wrong_word(err, text);
    if (valued != (word->value || word->names) && (valued || !word->bare))
        return wrong_value(err, text, word);
    if (!word->set)
        return 1;
    if (check_word(parse, word, text, err) < 0)
        return -1;
    if (word->set(&parse->options, word, valued ? text + length + 1 : NULL) < 0)
        return wrong_value(err, text, word);
    return 0;
}

int options_parse(const char *list, struct wire_options *options, struct berth_error *err)
{
    struct parse parse = {0};
    const char *at = list;
    int rc = 0;

    wire_options_init(&parse.options);
    parse.options.mode = WIRE_MODE_AUTO;
    /* Some versions of Slurm hand on a missing argument as the text "(null)". */
    if (at && (!*at || strcmp(at, "(null)") == 0))
        at = NULL;
    while (rc == 0 && at) {
        int length = (int)strcspn(at, ",");
        char text[WORD_MAX];

        snprintf(text, sizeof(text), "%.*s", length, at);
        rc = parse_word(&parse, text, err);
        at = at[length] ? at + length + 1 : NULL;
    }
    if (rc == 0)
        *options = parse.options;
    return rc;
}

void options_vain(const struct wire_options *options, char *text, size_t size)
{
    const struct {
        bool asked;
        const char *word;
    } changes[] = {{options->mem != WIRE_MEM_AUTO, "mem="},
                   {options->threads_auto, "threads=auto"},
                   {options->threads_follow, "threads=follow"},
                   {options->throttle != WIRE_THROTTLE_OFF, "throttle"},
                   {options->flex, "flex"},
                   {options->locks_cohort, "locks=cohort"},
                   {options->faithful, "faithful"},
                   {options->tranquil, "tranquil"},
                   {options->shuffle, "shuffle"},
                   {options->adapt, "adapt"},
                   {options->prefetch != WIRE_PREFETCH_NONE, "prefetch="}};

    text[0] = '\0';
    if (options->cores_max > 0 && !options->size)
        append(text, size, "; cores= has no effect without size");
    if (options->edp && options->policy_given)
        append(text, size, "; edp has no effect beside policy=");
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        if (changes[i].asked && options->mode == WIRE_MODE_OBSERVE)
            append(text, size, "; %s has no effect with observe, which changes nothing",
                   changes[i].word);
    if (options->tranquil && options->faithful && options->mode != WIRE_MODE_OBSERVE)
        append(text, size, "; tranquil has no effect beside faithful");
    if (text[0])
        memmove(text, text + 2, strlen(text + 2) + 1);
}

/* ---- plugstack.conf ---- */

void options_site_init(struct options_site *site)
{
    memset(site, 0, sizeof(*site));
    snprintf(site->socket, sizeof(site->socket), "%s", WIRE_SOCKET_DEFAULT);
    site->deadline_ms = OPTIONS_DEADLINE_MS;
    wire_options_init(&site->options);
}

static int site_socket(const char *value, struct options_site *site, struct berth_error *err)
{
    if (value[0] != '/' || strlen(value) >= sizeof(site->socket))
        return berth_error_set(err, "socket=%s: an absolute path of at most %zu bytes expected",
                               value, sizeof(site->socket) - 1);
    snprintf(site->socket, sizeof(site->socket), "%s", value);
    return 0;
}

/* "50ms", "0.05s" or "50" (ms). */
static int site_deadline(const char *value, struct options_site *site, struct berth_error *err)
{
    char *unit;
    double number = strtod(value, &unit);

    if (strcmp(unit, "s") == 0)
        number *= 1000;
    else if (*unit && strcmp(unit, "ms") != 0)
        unit = (char *)value;
    if (unit == value || !(number >= 1 && number <= DEADLINE_MAX_MS))
        return berth_error_set(err, "deadline=%s: 1ms to %dms expected", value, DEADLINE_MAX_MS);
    site->deadline_ms = (unsigned)number;
    return 0;
}

static int site_default(const char *value, struct options_site *site, struct berth_error *err)
{
    struct wire_options options;
    int rc = options_parse(value, &options, err);

    if (rc > 0)
        return berth_error_set(err, "default=%s: help is no default", value);
    if (rc == 0)
        site->options = options;
    return rc;
}

int options_site_parse(const char *argument, struct options_site *site, struct berth_error *err)
{
    static const struct {
        const char *key;
        int (*set)(const char *value, struct options_site *site, struct berth_error *err);
    } keys[] = {{"socket=", site_socket}, {"deadline=", site_deadline}, {"default=", site_default}};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strncmp(argument, keys[i].key, strlen(keys[i].key)) == 0)
            return keys[i].set(argument + strlen(keys[i].key), site, err);
    return berth_error_set(err, "'%s' is not one of socket=, deadline=, default=", argument);
}
