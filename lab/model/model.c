/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model - `berthctl model NAME [FILE]`: one model as a filter, JSON in, JSON out. A model is one
 * line of the table, and a filter: models.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/nearest.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"
#include "packer/cli/options/options.h"
#include "packer/cli/options/terminal.h"
#include "lab/model/models.h"

struct model {
    const char *name;
    const struct ctl_filter *filter;
    const char *what, *in, *out; /* for --help: what it does, its input and its output */
};

#define PAIRS "{\"pairs\":[{\"a\":\"mcf\",\"b\":\"mcf\",\"score\",\"a_given_b\",\"b_given_a\"}]}"

static const struct model models[] = {
    {"di", &ctl_filter_di,
     "Distributed Intensity: spread the threads that miss most over packages, caches and cores\n"
     "(Blagodurov 2010, Algorithms 1 and 2). miss_pmi: cache misses per million instructions;\n"
     "equal ones keep their order. Cores are numbered depth first.",
     "{\"arity\":[packages, caches per package, cores per cache],\n"
     " \"threads\":[{\"name\":\"mcf\",\"miss_pmi\":21000}]}",
     "{\"cores\":{\"mcf\":0}}"},
    {"dio-power", &ctl_filter_dio_power,
     "The same on as few caches as keep devils apart; the others stay idle (Algorithms 3 and 4).\n"
     "break_even: the slowdown by clustering at which energy times time is as great as spread.",
     "as di, and \"thresholds\":{\"devil_miss_pmi\":2000}: who misses so often is a devil;\n"
     "\"order\":\"balanced\" (the weakest beside the strongest) or \"printed\" (Algorithm 4 to "
     "the\n"
     "letter); \"power\":{\"spread_w\",\"cluster_w\": above idle, \"idle_w\":0 to count that, too}",
     "as di, and with \"power\" \"break_even\""},
    {"isolate", &ctl_filter_isolate,
     "DI for threads of which some are prioritised: those of them that are sensitive get a domain\n"
     "without other devils (section 5.3). Devils are sensitive unless the input says otherwise.",
     "as dio-power, threads with \"prioritised\" and \"sensitive\", true or false;\n"
     "\"domain\":\"package\" or \"cache\", else what isolates most of them",
     "{\"cores\":{\"mcf\":0},\"isolated\":[\"mcf\"],\"domain\":\"package\"}"},
    {"missrate", &ctl_filter_missrate,
     "How badly each pair of programs shares a cache, by their miss rates: twice the product.",
     "{\"apps\":[{\"name\":\"mcf\",\"llc_mpki\":21}]}; without llc_mpki, sdp.misses", PAIRS},
    {"pain", &ctl_filter_pain,
     "The same by Pain (eq. 1 to 3): how sensitive is the one, how intensive the other?",
     "{\"apps\":[{\"name\":\"mcf\",\"sdp\":{\"hits\":[90,10],\"misses\":21000}}]}; hits by LRU\n"
     "position, the most recently used first, per million instructions",
     PAIRS},
    {"sdc", &ctl_filter_sdc,
     "The same by stack distance competition: the hits that each loses when profiles are merged.",
     "as pain, and \"machine\":{\"llc_ways\":16}, else the ways of the largest profile", PAIRS},
    {"animal", &ctl_filter_animal,
     "The same by the symbiosis table, 0 to 8, of turtles, sheep, rabbits and devils.",
     "as pain, and \"thresholds\":{\"devil_miss_pmi\":2000,\"turtle_access_pmi\":2000,\n"
     "\"rabbit_loss_pmi\":500}: misses that make a devil, accesses below which one is a turtle,\n"
     "hits lost with half of the ways that make a rabbit",
     "as pain, and \"classes\":{\"mcf\":\"devil\"}"},
    {"contend", &ctl_filter_contend,
     "By what fraction programs slow down beside each other: their footprints fill the cache,\n"
     "their traffic the way to memory. What is unknown is assumed, and said in notes.",
     "{\"apps\":[{\"name\",\"ipc\",\"llc_apki\",\"llc_mpki\",\"mem_gbps\",\"cores\",\"sdp\"}],\n"
     " \"machine\":{\"llc_bytes\",\"llc_ways\",\"line_bytes\",\"dram_gbps\",\"clock_ghz\",\n"
     "  \"port_gbps\",\"core_gbps\",\"dram_calibrated\":false,\"caches\":1,\n"
     "  \"own_prefetchers\":false,\n"
     "  \"clock\":{\"one_ghz\",\"half_ghz\",\"all_ghz\",\"cores\"}},\n"
     " \"groups\":[[\"mcf\",\"lbm\",\"lbm\"]],\"sibling\":false}; where known also "
     "llc_demand_mpki,\n"
     "llc_wb_apki, mem_read_gbps, mem_write_gbps, sdp_demand, sdp_prefetch, and clock_ghz, at "
     "which\n"
     "an app was counted. sibling: the pairs are on hardware threads of one core. clock: of a "
     "package\n"
     "with one, half and all of its cores busy",
     PAIRS
     "\nand \"groups\":[{\"apps\":[names],\"slowdown\":[fractions]}],\n"
     "\"clock\":[{\"app\",\"half\",\"all\"}] (what each loses by the clock, in no other figure), "
     "\"notes\":[text]"},
    {"matching", &ctl_filter_matching,
     "The perfect policy: who should share a cache with whom, so that the sum of what all suffer\n"
     "is least. degradation[i][j]: what i suffers beside j. group: cores of a cache (2 unless\n"
     "given); groups: caches (as few as hold all). Exact for group 2 and up to 16 programs;\n"
     "beyond, the best found within time_limit_s (10), and how far from the optimum it can be:\n"
     "gap, a fraction of the total.",
     "{\"apps\":[\"mcf\",\"lbm\",\"gcc\"],\"degradation\":[[0,2,1],[1,0,1],[0,0,0]],\"group\":2}",
     "{\"groups\":[[\"mcf\",\"gcc\"],[\"lbm\"]],\"total\":1}, and where it is not exact\n"
     "\"lower_bound\", \"gap\", \"status\":\"optimal\"|\"feasible\""},
    {"dramon", &ctl_filter_dramon,
     "DraMon: the bandwidth that 1 to N cores of a node draw from its memory (Wang 2015, chapter\n"
     "4). issue_rate_single: requests/s per channel of one core; brd: the probability of each "
     "bank\n"
     "reuse distance, 7/8 of 1 and 1/8 of 8 unless given; wtr, rtr: requests that switch from "
     "write\n"
     "to read and between ranks.",
     "{\"hardware\":{\"channels\",\"banks\",\"tRCD_ns\",\"tCAS_ns\",\"tRP_ns\",\"tBurst_ns\",\"tWR_"
     "ns\",\n"
     " \"tRTRS_ns\",\"tWTR_ns\",\"tCK_ns\",\"request_bytes\",\"auto_close\"},\n"
     " \"software\":{\"issue_rate_single\",\"hit\",\"miss\",\"conflict\",\"brd\":{\"1\":0.875,"
     "\"8\":0.125},\n"
     " \"read_ratio\",\"wtr\",\"rtr\",\"ranks\"},\"cores\":6}; from a trace also "
     "software.same_row,\n"
     "same_bank and other_channel: where a co-runner's requests go",
     "{\"curve\":[{\"cores\":1,\"gbps\",\"hit\",\"miss\",\"conflict\",\"latency_ns\"}]}"},
    {"flexthread", &ctl_filter_flexthread,
     "How many threads to create, that they spread evenly over cores_min (1) to cores cores and "
     "yet\n"
     "cost little to synchronise (eq. 6.4 to 6.8). imbalance, overhead: the fractions allowed\n"
     "(0.05); sync_hz: synchronisations of a thread per second, memory_ns and syscall_ns: what "
     "each\n"
     "takes; threads: judge this count instead. Where no count keeps both bounds, the one of "
     "least\n"
     "imbalance and overhead together; sums within noise (0.03) of it are equal, and of their "
     "counts\n"
     "the one that can be halved most often is taken (the paper's 256).",
     "{\"cores\":32,\"cores_min\":8,\"imbalance\":0.05,\"overhead\":0.05,\"sync_hz\":667,\n"
     " \"memory_ns\":200,\"syscall_ns\":2000}",
     "{\"t_min\",\"t_max\",\"threads\",\"imbalance\",\"worst_cores\",\"overhead\"}; a count that "
     "there\n"
     "is not is null"},
    {"numem", &ctl_filter_numem,
     "NuMem: the bandwidth of a program with allocation[i] cores on each node i of a NUMA "
     "machine,\n"
     "in GB/s (Wang 2015, eq. 5.11). local_demand[i]: what 0, 1, 2, ... cores ask of their own\n"
     "node; read_solo[j][i]: what a core of node i reads from node j; write_solo[j][i]: what a "
     "core\n"
     "of node j writes to node i; route[j][i]: its links [[j,x],[x,i]], where there are several.",
     "{\"nodes\":2,\"cores\":[6,6],\"alpha\":[8.1,8.1],\"beta\":[0.4,0.4],\"uni_max\":[[0,4.9],[4."
     "9,0]],\n"
     " \"bi_max\":[[0,8.5],[8.5,0]],\"route\":[[[],[]],[[],[]]],\"local_demand\":[[0,2,4,..],[..]],"
     "\n"
     " \"read_solo\":[[0,0.2],[0.2,0]],\"write_solo\":[[0,0],[0,0]],\"allocation\":[6,3]}",
     "{\"allocation\",\"bandwidth\",\"local\":[..],\"inter\":[[..]],\"constraint\":[names],"
     "\"status\",\"seconds\"}"},
    {"nucore", &ctl_filter_nucore,
     "NuCore: how many cores of each node give the greatest bandwidth, and no more than that "
     "needs\n"
     "(eq. 5.18): the optimum of 1000 * bandwidth - cores; of equal ones, cores on lower nodes. "
     "Or\n"
     "of several programs, the greatest sum of weight * speed.",
     "as numem, without allocation; also cores_min, cores_max, least:[..], time_limit_s (10). Or,\n"
     "instead of a program's fields, \"programs\":[{\"name\",its fields,\"weight\"}], "
     "\"fairness\":\n"
     "the least part of its speed alone that each must have",
     "as numem, and \"objective\",\"gap\"; of several "
     "\"programs\":[{\"name\",\"allocation\",...,\"speed\"}]"},
    {"reinforce", &ctl_filter_reinforce,
     "Thread Reinforcer: how many threads a program should have, by a few short runs (Pusukuri\n"
     "2012, Algorithm 1). What is above a threshold is high; an exit without one is closed. A\n"
     "count between two that are given is on the line between them: interpolated. ended:\n"
     "util, the CPUs are not used more; lock, with switches up to `cores` threads and migrations\n"
     "beyond; max, there are no more threads.",
     "{\"cores\":24,\"t_min\":8,\"t_max\":128,\"t_step\":8,\n"
     " \"thresholds\":{\"cpu_util_delta\",\"lock\",\"lock_delta\",\"vcx_delta\","
     "\"migr_delta\"},\n"
     " \"profiles\":[{\"threads\",\"cpu_util\",\"lock\",\"vcx\",\"migr\"}]}",
     "{\"threads\":63,\"tried\":[15,..,71],\"ended\":\"lock\"|\"util\"|\"max\",\n"
     " \"interpolated\":[23,39]}"},
    {"tranquil", &ctl_filter_tranquil,
     "Thread Tranquilizer: memory policy and time slice, pass by pass (Pusukuri 2012, Fig. 3.7), "
     "from\n"
     "bursts of up to 10 readings of misses and involuntary switches. Above the threshold (2000)\n"
     "interleaved memory and 100 ms are tried, else 20 ms; the next burst is the trial's. rule:\n"
     "significant, mean and deviation fall by more than chance; printed, they are lower.",
     "{\"bursts\":[{\"miss\":[..],\"icx\":[..]}],\"thresholds\":{\"miss_pmi\":2000},\n"
     " \"rule\":\"significant\"|\"printed\"}",
     "{\"after\":[{\"next\":\"trial\"|\"profile\",\"pass\",\"memory\",\"class\",\"slice_"
     "ms\",\n"
     " \"kept\",\"miss\":[mean and deviation before, after],\"icx\":[..]}]}"},
    {"faithful", &ctl_filter_faithful,
     "FaithFul scheduling: how long a thread keeps its CPU, by the factor 1 - max(miss_ratio, "
     "lock)\n"
     "(Pusukuri 2012, eq. 5.1 and Table 5.1). Of a series, what changes: a factor is compared "
     "with\n"
     "the one of the present quantum, and counts where it is more than 0.10 off.",
     "{\"miss_ratio\":0.2,\"lock\":0.84}, one may be missing; or \"samples\":[such objects]",
     "{\"scaling\":0.16,\"quantum_ms\":200}; or "
     "{\"changes\":[{\"sample\":0,\"scaling\",\"quantum_ms\"}]}"},
    {"shuffle", &ctl_filter_shuffle,
     "Thread Shuffling: threads that wait for locks alike stand in one package, groups next to "
     "each\n"
     "other in near packages, with the fewest moves (Pusukuri 2012, Algorithm 2). lock: the part "
     "of\n"
     "its time that a thread waits; without it, and bound, it stays. due: more than 0.05 is "
     "waited.",
     "{\"threads\":[{\"tid\":17,\"lock\":0.4,\"at\":0,\"bound\":false}],\n"
     " \"packages\":[{\"cores\":16}],\"distance\":[[..]]}",
     "{\"to\":{\"17\":1},\"moves\":1,\"order\":[0,2,3,1],\"lock\":0.4,\"due\":true}"},
    {"adapt", &ctl_filter_adapt,
     "ADAPT: programs that share cores, each on all of them or on a set of its own, whichever has "
     "the\n"
     "best mean of user time predicted from what they do alone (Pusukuri 2012, eq. 6.1 and 6.3). "
     "A\n"
     "history of intervals of 2 s changes that by the paper's three rules: uneven (alpha 6), fell\n"
     "(beta 4), promised (gamma 8). All but mpa (0 to 1) in percent.",
     "{\"cores\":64,\"programs\":[{\"threads\",\"sys\",\"lat\",\"lock\",\"mpa\"}]}, and "
     "where wanted\n"
     "\"configurations\":[[64,64],[32,32],..],\"present\":0,\"limits\":{\"mpa\",\"lock\"},\n"
     "\"coefficients\":{\"paap\":[6],\"pacc\":[3]},\n"
     "\"history\":[{\"usr\":[..],\"used\":[..],\"programs\": of another phase}]",
     "{\"configurations\",\"predicted\":[[..]],\"choice\":0,\"changed\":true,\"why\"}, with a\n"
     "history \"changes\", with limits \"policies\""},
    {"prefetch", &ctl_filter_prefetch,
     "Whether hardware prefetchers help a program: half a second with all of them on, half a "
     "second\n"
     "off, and on where it then does more than 2 % more (Wang 2015, section 7.4.2): instructions "
     "per\n"
     "CPU second (ips), or per joule (ipj) where both halves have that. A turn is a moment, in\n"
     "seconds, and the program's phase then: the first is tested, then each new phase, once in 60 "
     "s.",
     "{\"turns\":[{\"at\":0,\"phase\":1,\"on_ips\":1e9,\"off_ips\":9e8,\"on_ipj\",\"off_ipj\"}]}",
     "{\"after\":[{\"tested\":true,\"state\":\"on\"|\"off\"|\"waiting\",\"by\":\"ips\"|\"ipj\",\n"
     " \"ratio\":1.11}]}"},
    {"thermal", &ctl_filter_thermal,
     "Who leaves a core that is too hot (Wang 2015, section 7.4.1): at t1 for the coolest free "
     "core\n"
     "below t1, at t2 for the coolest below t2, never for one that was at t2 under it before; "
     "where\n"
     "none is free, in exchange with a program of the same kind. looks: the cores' degrees, every "
     "10\n"
     "s; on: the program on each core at first, null where it is free.",
     "{\"t1\":82,\"t2\":100,\"on\":[0,null,1],\"kinds\":[0,0],\"looks\":[[97,40,40],..]}",
     "{\"looks\":[{\"moves\":[{\"program\":0,\"core\":0,\"limit\":\"t1\",\"moved_to\":1,\n"
     " \"exchanged\":null}],\"on\":[null,0,1]}]}"},
    {"cohort", &ctl_filter_cohort,
     "Lock cohorting: threads of several nodes take turns with one lock, which is handed over "
     "within a\n"
     "node up to bound (64) times before the next node has it; 0: in the order in which they come\n"
     "(Vikranth 2018, section 6.4). Event by event, turns (1e6) in all. think_ns is a mean; "
     "local_ns\n"
     "(15.4) and remote_ns (38.4) are what taking it over costs within and between nodes.",
     "{\"threads\":[4,4] of each node,\"hold_ns\":50,\"think_ns\":100,\"local_ns\",\"remote_ns\",\n"
     " \"bound\",\"turns\",\"seed\":1}",
     "{\"per_second\",\"local\",\"remote\": hand-overs,\"worst_wait_ns\",\"most_turns\"}; "
     "most_turns: of the\n"
     "thread that had the most, by the mean"},
    {"locality", &ctl_filter_locality,
     "Object locality: the memory node that each task belongs to, by the shared objects that it "
     "uses\n"
     "and where those lie (Vikranth 2018, eq. 5.1 and 5.2): the one with the most of them. "
     "similarity:\n"
     "a row a task, a column a node, in the order in which they are named first.",
     "{\"tasks\":{\"t0\":[\"s0\"]},\"objects\":{\"s0\":\"n0\"}}; null, or no row: not touched yet",
     "{\"nodes\":[\"n0\"],\"similarity\":[[1]],\"node\":{\"t0\":\"n0\"}}; null: no node has any of "
     "it"},
    {"opticore", &ctl_filter_opticore,
     "OptiCore: in which phase a program is, window by window, by its misses and bytes per "
     "million\n"
     "instructions, and when it is profiled (Wang 2015, chapter 8): early in its life, then when "
     "a\n"
     "phase that nobody knows stays and the cost allows it. region: the number of the parallel "
     "region\n"
     "of OpenMP that had the window; each is a phase. 0: none had, or nobody says.",
     "{\"windows\":[{\"seconds\":1,\"instructions\":2e9,\"misses\",\"bytes\",\"region\":0}],\n"
     " \"rules\":{\"profile_s\":0.5,\"rest_s\":30,\"cost\":0.005,\"stay_s\":10,\"first_s\":5}}",
     "{\"profiles\",\"profiled_s\",\"phases\",\n"
     " \"after\":[{\"at_s\",\"state\":\"watching\",\"phase\":1,\"profiled\":false}]}"},
    {"steal", &ctl_filter_steal,
     "Workers that steal tasks from each other, event by event (Vikranth 2018, chapters 3 and 4): "
     "from\n"
     "anybody (random), from whose queue is long enough (threshold), of the own domain first "
     "(topology),\n"
     "one worker for all of its domain (shepherd, Porterfield 2012), by the thresholds as they are "
     "printed\n"
     "(literal). A task of a tree creates two others; flat ones are dealt by turns. ns: mean and\n"
     "deviation of a task. push_ns and pop_ns (100) are a queue's; capacity is C of eq. 3.3.",
     "{\"domains\":[[0,1],[2,3]],\"tasks\":{\"kind\":\"tree\"|\"flat\",\"n\":1000,\"ns\":[10000,"
     "3000]},\n"
     " \"latency_ns\":[[77,125],[125,77]],\"policy\":\"topology\",\"push_ns\",\"pop_ns\","
     "\"capacity\",\n"
     " \"seed\":1}",
     "{\"seconds\",\"work_s\": of all tasks,\"steals\": tasks from other queues,\"remote\": those "
     "from\n"
     "another domain,\"journeys\": attempts that brought any,\"misses\": attempts that found "
     "none}"},
    {"throttle", &ctl_filter_throttle,
     "Adaptive Scheduling: parallel loops of which a quarter of the threads rests while the memory "
     "is\n"
     "saturated, and none once it is idle (Porterfield 2012, section 3.1), event by event. A "
     "chunk\n"
     "takes work seconds; bandwidth is what a thread draws meanwhile, as a part of the memory's "
     "roof.\n"
     "Every dt_ms (10) the utilisation is the next of samples, or without samples what the "
     "program\n"
     "drew; hold (5) of them in a row make a state: 50 is the paper's lazy scheduler, 1 the "
     "aggressive.",
     "{\"threads\":32,\"samples\":[0.5,1,..],\"dt_ms\":10,\"saturated\":0.9,\"idle\":0.63,\"hold\":"
     "5,\n"
     " \"loop\":{\"chunks\":3200,\"work\":0.01,\"bandwidth\":0.05}}; or \"loops\":[such objects],\n"
     "which are gone through \"rounds\" (1) times",
     "{\"reduced\":1,\"idle_thread_s\",\"throttled_s\",\"seconds\"}"},
    {"edp", &ctl_filter_edp,
     "Energy-delay product: energy * time; and the paper's, per instruction (eq. 9). idle_w: what\n"
     "the machine draws idle; the paper's own figures are above that.",
     "{\"energy_j\":150,\"seconds\":10,\"instructions\":3e10}, and \"idle_w\"",
     "{\"edp\":1500,\"edp_paper\":5e-8}, and with idle_w \"edp_above_idle\" and\n"
     "\"edp_paper_above_idle\""},
};
#define MODELS (sizeof(models) / sizeof(models[0]))

/* Lines of text, the first one behind its title, indented. */
static void put_lines(const char *title, const char *text)
{
    int width = *title ? 5 : 0;
    char *lines = NULL;
    size_t size;
    FILE *out = open_memstream(&lines, &size);

    while (out && *text) {
        size_t length = strcspn(text, "\n");

        fprintf(out, "      %-*s%.*s\n", width, title, (int)length, text);
        text += length + (text[length] == '\n');
        title = "";
    }
    if (out && fclose(out) == 0)
        ctl_put_text(stdout, lines, ctl_columns());
    free(lines);
}

struct args {
    bool json, help;
};

static const struct ctl_option option_rows[] = {
    {"json", 0, NULL, "for the sake of all verbs; the output is JSON anyway",
     CTL_FLAG(struct args, json)},
    {"help", 'h', NULL, "this text; behind NAME, that model's part of it",
     CTL_FLAG(struct args, help)},
};
static const struct ctl_options options = {
    .verb = "model",
    .synopsis = "NAME [FILE]",
    .about =
        "Run one model as a filter: a JSON object in (from FILE, or stdin), a JSON object out.",
    CTL_OPTIONS(option_rows),
    .most = 2,
    .takes = "NAME and one FILE only",
};

/* Prints how that model is used, or (NULL) all of them. Returns the exit status. */
static int help(const struct model *model)
{
    struct ctl_options wanted = options;
    char synopsis[64];

    snprintf(synopsis, sizeof(synopsis), "%s [FILE]", model ? model->name : "NAME");
    wanted.synopsis = synopsis;
    ctl_options_help(&wanted);
    for (size_t i = 0; i < MODELS; i++) {
        if (model && model != &models[i])
            continue;
        printf("\n  %s\n", models[i].name);
        put_lines("", models[i].what);
        put_lines("in", models[i].in);
        put_lines("out", models[i].out);
    }
    return 0;
}

/* Returns the model of that name; NULL where there is none, and `known` lists those that are. */
static const struct model *find_model(const char *name, char *known, size_t size)
{
    size_t used = 0;

    known[0] = '\0';
    for (size_t i = 0; i < MODELS; i++) {
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
        if (used < size)
            used +=
                (size_t)snprintf(known + used, size - used, "%s%s", i ? ", " : "", models[i].name);
    }
    return NULL;
}

struct json_object *ctl_filter_run(const struct ctl_filter *filter, struct json_object *input,
                                   struct berth_error *err)
{
    struct json_object *output = NULL;
    void *in;

    if (filter->whole)
        return filter->whole(input, err);
    in = malloc(filter->size);
    if (!in) {
        berth_no_memory(err);
        return NULL;
    }
    memcpy(in, filter->unset, filter->size);
    if (json_read(input, filter->fields, in, err) == 0) {
        output = json_object_new_object();
        if (filter->answer(in, output, err) < 0) {
            json_object_put(output);
            output = NULL;
        }
    }
    json_clear(filter->fields, in);
    free(in);
    return output;
}

static int filter_file(const struct model *model, const char *path)
{
    struct json_object *input, *output;
    struct berth_error err;
    char what[64];

    input = ctl_input_read(path, &err);
    if (!input)
        return ctl_fail(ctl_input_name(path), "%s", err.text);
    output = ctl_filter_run(model->filter, input, &err);
    ctl_input_tell_unread(ctl_input_name(path), input, output != NULL);
    json_object_put(input);
    if (output)
        return ctl_print_json(output);
    snprintf(what, sizeof(what), "model %s", model->name);
    return ctl_fail(what, "%s", err.text);
}

const char *ctl_model_name(size_t i)
{
    return i < MODELS ? models[i].name : NULL;
}

static const char *say_meant(const char *typed, char meant[NEAREST_SAY_MAX])
{
    struct nearest nearest = nearest_begin(typed);

    for (size_t i = 0; i < MODELS; i++)
        nearest_try(&nearest, models[i].name);
    return nearest_say(&nearest, meant);
}

int ctl_model(int argc, char **argv)
{
    const struct model *model;
    struct args args = {0};
    char known[512], meant[NEAREST_SAY_MAX];
    int status = ctl_options_read(&options, argc, argv, &args);

    if (status >= 0)
        return status;
    model = find_model(optind < argc ? argv[optind] : "", known, sizeof(known));
    if (optind == argc && args.help)
        return help(NULL);
    if (optind == argc)
        return ctl_usage("model", "no model named; one of: %s", known);
    if (!model)
        return ctl_usage("model", "%s: no such model%s; one of: %s", argv[optind],
                         say_meant(argv[optind], meant), known);
    return args.help ? help(model) : filter_file(model, argv[optind + 1]);
}
