/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_course - what is kept of a step's life for people: a bounded number of points over any time,
 * and who came, left, and when it was moved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "packer/observe/course.h"

/* Adds windows of 10 s, whose speed is their number. */
static void live(struct course *course, size_t windows)
{
    for (size_t i = 0; i < windows; i++)
        course_add(course, &(struct course_point){.from_s = 10 * (double)i,
                                                  .to_s = 10 * (double)(i + 1),
                                                  .instructions_s = (double)i,
                                                  .cpu = 2});
}

/* The points cover all of the time in equal parts, and their means are those of the windows. */
static void assert_whole(const struct course *course, size_t windows, double every_s)
{
    double sum = 0;

    for (size_t i = 0; i < course->n; i++) {
        const struct course_point *point = &course->point[i];

        assert_true(point->from_s == (i ? course->point[i - 1].to_s : 0));
        if (i + 1 < course->n)
            assert_true(point->to_s - point->from_s == every_s);
        assert_true(point->cpu == 2);
        sum += point->instructions_s * (point->to_s - point->from_s);
    }
    assert_true(course->point[course->n - 1].to_s == 10 * (double)windows);
    assert_true(fabs(sum - 10 * (double)windows * (double)(windows - 1) / 2) <= 1e-6 * sum);
}

static void test_points(void **state)
{
    const struct {
        size_t windows, points;
        double every_s;
    } cases[] = {
        {1, 1, 10},
        {COURSE_POINTS, COURSE_POINTS, 10},
        {COURSE_POINTS + 1, COURSE_POINTS / 2 + 1, 20},
        {2 * COURSE_POINTS, COURSE_POINTS, 20},
        {2 * COURSE_POINTS + 1, COURSE_POINTS / 2 + 1, 40},
        {100000, 49, 20480}, /* 11 days */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct course course = {0};

        live(&course, cases[i].windows);
        assert_int_equal(course.n, cases[i].points);
        assert_whole(&course, cases[i].windows, cases[i].every_s);
    }
}

/* A time in which nothing was counted is in no point's length, and what is not known stays so. */
static void test_unknown(void **state)
{
    struct course course = {.every_s = 20};

    (void)state;
    course_add(&course,
               &(struct course_point){.from_s = 1, .to_s = 11, .instructions_s = NAN, .cpu = 1});
    course_add(&course,
               &(struct course_point){.from_s = 11, .to_s = 21, .instructions_s = 5, .cpu = 3});
    assert_int_equal(course.n, 1);
    assert_true(isnan(course.point[0].instructions_s));
    assert_true(course.point[0].cpu == 2);
}

static struct course_other other(uint32_t job, const char *program)
{
    struct course_other one = {.id = {job, 0}, .uid = 1000};

    strcpy(one.program, program);
    return one;
}

/* Who is there at the first look has not come; then each difference is an event. */
static void test_looks(void **state)
{
    const struct course_other first[] = {other(1, "a"), other(2, "b")};
    const struct course_other then[] = {other(2, "b"), other(3, "c")};
    struct course course = {0};
    const struct course_event *event;

    (void)state;
    course_look(&course, 10, first, 2);
    assert_null(course_event(&course, 0));
    course_look(&course, 20, then, 2);
    course_look(&course, 30, then, 2);
    course_look(&course, 40, NULL, 0);
    event = course_event(&course, 0);
    assert_int_equal(event->kind, COURSE_WENT);
    assert_string_equal(event->other.program, "a");
    event = course_event(&course, 1);
    assert_int_equal(event->kind, COURSE_CAME);
    assert_string_equal(event->other.program, "c");
    assert_true(event->at_s == 20);
    assert_int_equal(course_event(&course, 2)->other.id.job, 2);
    assert_int_equal(course_event(&course, 3)->other.id.job, 3);
    assert_null(course_event(&course, 4));
}

/* Only the last events are kept, the oldest first. */
static void test_ring(void **state)
{
    struct course course = {0};

    (void)state;
    for (size_t i = 0; i < COURSE_EVENTS + 3; i++)
        course_happened(&course, &(struct course_event){.at_s = (float)i, .kind = COURSE_MOVED});
    for (size_t i = 0; i < COURSE_EVENTS; i++)
        assert_true(course_event(&course, i)->at_s == (float)(i + 3));
    assert_null(course_event(&course, COURSE_EVENTS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_ring),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
