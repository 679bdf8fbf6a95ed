/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_journal_memory - memory that runs out at any allocation of an entry leaves no half of it in
 * the journal: it is there whole, or not at all and the caller is told.
 *
 * The allocator of this program refuses one allocation, or all from one on; a child makes the
 * entry, as a berthd that ends there leaves the same file. */
#include "tests/unit/common/fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/steps/journal.h"

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
#define OWN_ALLOCATOR 0 /* the sanitizer's is what programs get */
static long allocations, refused_at;
static bool refused_on;
#else
#define OWN_ALLOCATOR 1
static long allocations, refused_at; /* 0: none is refused */
static bool refused_on;              /* all from that one on */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static bool refuse(void)
{
    allocations++;
    if (refused_at == 0 || (refused_on ? allocations < refused_at : allocations != refused_at))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return refuse() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return refuse() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return refuse() ? NULL : __libc_realloc(old, size);
}
#endif

/* ---- one entry ---- */

static int make_start(struct packer *packer)
{
    return journal_start(packer, registry_find(packer->steps, (struct wire_step_id){1, 0}), NULL);
}

static int make_end(struct packer *packer)
{
    return journal_end(packer, (struct wire_step_id){1, 0}, NULL);
}

static int make_stand(struct packer *packer)
{
    return journal_stand(packer, packer->state->pool, NULL);
}

static int make_manage(struct packer *packer)
{
    return journal_manage(packer, NULL);
}

static int make_compact(struct packer *packer)
{
    return journal_compact(packer, true, NULL);
}

enum outcome { DONE, REFUSED, DIED };

/* Makes the entry in a child, whose allocation number `at` is refused (0: none), or all from it on.
 */
static enum outcome make(struct fixture *f, int (*entry)(struct packer *), long at, bool on,
                         long *took)
{
    int pipe_fd[2], status;
    pid_t child;

    assert_int_equal(pipe(pipe_fd), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int rc;

        freopen("/dev/null", "w", stderr); /* json-c's assertions */
        signal(SIGABRT, SIG_DFL);          /* cmocka has taken these */
        signal(SIGSEGV, SIG_DFL);
        allocations = 0, refused_on = on, refused_at = at;
        rc = entry(&f->packer);
        refused_at = 0;
        if (write(pipe_fd[1], &allocations, sizeof(allocations)) < 0)
            _exit(2);
        _exit(rc == 0 ? 0 : 1);
    }
    close(pipe_fd[1]);
    if (read(pipe_fd[0], took, sizeof(*took)) != sizeof(*took))
        *took = 0;
    close(pipe_fd[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        return DIED;
    return WEXITSTATUS(status) == 0 ? DONE : REFUSED;
}

/* Returns the text of the journal; the caller frees it. */
static char *journal_text(struct fixture *f)
{
    char path[256], *text;
    size_t length;

    snprintf(path, sizeof(path), "%s/journal", f->dir);
    text = file_read(path, SIZE_MAX, &length, NULL);
    assert_non_null(text);
    return text;
}

/* Two steps, one of them sized, on each other's cores; so many bytes stand in the journal. */
static struct fixture *open_full(void)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct step *step = fixture_put(f, 1, 0, "0-3", 5, (const char *const[]){"0", "2-3", NULL});

    strcpy(step->body.leaf, "slurm/uid_1/job_1/step_0");
    step->body.task[1].sized = step->body.task[1].home;
    strcpy(step->enacted.reason, "because");
    step->started_at = 1700000000;
    step->started_ms = 1700000000250;
    step->started_mono_s = 12.25;
    for (size_t core = 0; core < 4; core++)
        pool_join(f->packer.state->pool, core);
    assert_int_equal(journal_stand(&f->packer, f->packer.state->pool, NULL), 0);
    return f;
}

static void refuse_each(int (*entry)(struct packer *), bool on)
{
    struct fixture *f = open_full();
    char *before = journal_text(f), *whole;
    long n, took;

    assert_int_equal(make(f, entry, 0, false, &n), DONE);
    assert_true(n > 0);
    whole = journal_text(f);
    fixture_close(f);
    for (long at = 1; at <= n; at++) {
        enum outcome outcome;
        char *after;

        f = open_full();
        outcome = make(f, entry, at, on, &took);
        after = journal_text(f);
        if (strcmp(after, before) != 0 && strcmp(after, whole) != 0)
            fail_msg("allocation %ld of %ld: '%s', of '%s'", at, n, after, whole);
        if (outcome == DONE)
            assert_string_equal(after, whole);
        if (outcome == REFUSED)
            assert_string_equal(after, before);
        free(after);
        fixture_close(f);
    }
    free(before);
    free(whole);
}

static void test_entries(void **state)
{
    static int (*const entries[])(struct packer *) = {make_start, make_end, make_stand, make_manage,
                                                      make_compact};

    (void)state;
    if (!OWN_ALLOCATOR)
        skip();
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        refuse_each(entries[i], false);
        refuse_each(entries[i], true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_entries)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
