/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_page - see day_page.h */
#include "tests/bench/day_page.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define CORE_W 5.0 /* of a core at work, more than idle: a model, which the page names */
#define SEATS_A_ROW 2

struct day_tally day_page_sum(const struct day_tally *day, size_t days)
{
    struct day_tally sum = {0};

    for (size_t d = 0; d < days; d++) {
        sum.jobs += day[d].jobs;
        sum.alone_s += day[d].alone_s;
        sum.took_s += day[d].took_s;
        sum.wait_s += day[d].wait_s;
        for (enum day_where w = 0; w < DAY_WHERES; w++)
            sum.work_s[w] += day[d].work_s[w];
    }
    return sum;
}

/* ---- three sentences ---- */

static double longer_percent(const struct day_tally *all)
{
    return 100 * (all->took_s / all->alone_s - 1);
}

static double kwh(double core_s)
{
    return CORE_W * core_s / 3.6e6;
}

static void print_sentences(const struct day_page *page)
{
    const struct day_tally *slurm = &page->slurm.all, *berth = &page->berth.all;

    printf("Slowdown: beside each other programs took %.1f %% longer than alone,\n"
           "          with berth %.1f %%.\n",
           longer_percent(slurm), longer_percent(berth));
    printf("Queue:    a job waited %.0f s for its cores on average, with berth %.0f s.\n",
           slurm->wait_s / slurm->jobs, berth->wait_s / berth->jobs);
    printf("Energy:   the cores at work took %.2f kWh, with berth %.2f kWh,\n"
           "          by a model of %g W a core: nothing was metered.\n",
           kwh(page->slurm.core_s), kwh(page->berth.core_s), CORE_W);
}

/* ---- the drawing ---- */

/* Prints the seats of a cache from `from` on, as many as a row has room for; those that are not
 * there are blank. */
static void print_seats(const struct day_page *page, const struct day_scene *scene,
                        enum day_where where, size_t llc, size_t from)
{
    size_t seen = 0, shown = 0;

    for (size_t i = 0; i < scene->n && shown < SEATS_A_ROW; i++) {
        const struct day_seat *seat = &scene->seat[i];

        if (seat->llc[where] != llc || seen++ < from)
            continue;
        printf("  %-9.9s %3.0f %%", page->sim->truth->apps.name[seat->app],
               fmin(100 * seat->slowdown[where], 999));
        shown++;
    }
    for (; shown < SEATS_A_ROW; shown++)
        printf("  %-9s %5s", shown + from == 0 ? "(free)" : "", "");
}

static size_t seats_on(const struct day_scene *scene, enum day_where where, size_t llc)
{
    size_t n = 0;

    for (size_t i = 0; i < scene->n; i++)
        n += scene->seat[i].llc[where] == llc;
    return n;
}

static void print_cache(const struct day_page *page, const struct day_scene *scene, size_t llc)
{
    size_t home = seats_on(scene, DAY_HOME, llc), stand = seats_on(scene, DAY_STAND, llc);
    size_t seats = home > stand ? home : stand, from = 0;

    do {
        if (from == 0)
            printf("cache %-2zu", llc);
        else
            printf("%8s", "");
        print_seats(page, scene, DAY_HOME, llc, from);
        printf(" |");
        print_seats(page, scene, DAY_STAND, llc, from);
        putchar('\n');
        from += SEATS_A_ROW;
    } while (from < seats);
}

static void print_scene(const struct day_page *page, const struct day_scene *scene)
{
    int minutes = (int)(scene->at / DAY_NS / 60);

    printf("\nThe node at %d:%02d, when berth gained about what it gains all day: who shares a\n"
           "cache, and how much longer than alone each takes there.\n\n",
           minutes / 60 % 24, minutes % 60);
    printf("%8s  %-32s |  %s\n", "", "as Slurm put the jobs", "as berth put the same jobs");
    for (size_t llc = 0; llc < page->sim->topo->llcs; llc++)
        print_cache(page, scene, llc);
    printf("%8s  %-9s %5.1f %%%15s |  %-9s %5.1f %%\n", "", "work lost",
           100 * scene->lost[DAY_HOME], "", "work lost", 100 * scene->lost[DAY_STAND]);
}

void day_page_print(const struct day_page *page)
{
    const struct day_scene *scene = day_scenes_usual(&page->scenes, &page->berth.all);

    printf("%.0f jobs on a node of %zu cores and %zu caches:\n\n", page->berth.all.jobs,
           page->sim->topo->cores, page->sim->topo->llcs);
    print_sentences(page);
    if (scene)
        print_scene(page, scene);
}
