// SPDX-License-Identifier: GPL-2.0-or-later
// tbb - runs loops of oneTBB while the number of its threads should change with a blackboard.
//
//   tbb THREADS WORD
//
// The program allows THREADS threads. WORD: "play" runs loops until there is no blackboard beside
// the page; "end" does so until fewer threads are allowed, and ends as it is then; "throw" has an
// exception thrown out of a loop, and caught. Printed are the numbers of threads that were allowed,
// one after the other, as they changed from loop to loop; and "wrong .." where an iteration was not
// done once, or more threads were in a loop than were allowed from before its beginning to its end.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <unistd.h>

using Control = tbb::global_control;

static const long items = 400;
static std::atomic<long> done, inside, most_inside;

static long allowed()
{
    return static_cast<long>(Control::active_value(Control::max_allowed_parallelism));
}

static void item(long i)
{
    long now = ++inside, before = most_inside;

    while (now > before && !most_inside.compare_exchange_weak(before, now))
        ;
    usleep(500);
    done += i;
    --inside;
}

static void loop()
{
    done = most_inside = 0;
    tbb::parallel_for(tbb::blocked_range<long>(0, items, 1), [](const auto &range) {
        for (long i = range.begin(); i < range.end(); i++)
            item(i);
    });
}

// Runs a loop that has a limit from its beginning on: the loop before had it, too.
static void check(long before, long after)
{
    if (done != items * (items - 1) / 2)
        std::printf("wrong sum %ld\n", done.load());
    if (before == after && most_inside > after)
        std::printf("wrong: %ld inside of %ld\n", most_inside.load(), after);
}

static bool is_there(const std::string &path)
{
    return access(path.c_str(), F_OK) == 0;
}

static void play(const std::string &board, long threads, bool end)
{
    long said = 0, before = 0;

    while (is_there(board) && !(end && said && said < threads)) {
        long first = allowed();

        loop();
        check(before == first ? first : -1, allowed());
        before = allowed();
        if (before != said)
            std::printf("%ld ", before);
        said = before;
    }
}

static void throw_out()
{
    try {
        tbb::parallel_for(0L, items, [](long i) {
            if (i == 7)
                throw std::runtime_error("seven");
        });
    } catch (const std::runtime_error &error) {
        std::printf("%s ", error.what());
    }
}

int main(int argc, char **argv)
{
    std::string board = getenv("BERTH_RT_PAGE"), word = argc > 2 ? argv[2] : "";
    long threads = argc > 1 ? std::atol(argv[1]) : 1;
    Control control(Control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    tbb::task_arena arena(static_cast<int>(threads));

    board = board.substr(0, board.rfind('/')) + "/blackboard";
    arena.execute([&] {
        if (word == "throw")
            throw_out();
        else
            play(board, threads, word == "end");
    });
    return 0;
}
