/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pin_program - see pin.h. Here: the program.
 *
 * An executable names the functions that it imports, and the libraries that it needs, in one table
 * of strings (DT_STRTAB); that is all that is looked at. A library that it loads by itself is not:
 * who can do that is taken for one that binds. An interpreter imports everything, so its script is
 * read instead, for the words by which scripts bind, and by which they start what does. */
#include "pin.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_MAX 4096           /* of a file, its headers */
#define STRINGS_MAX (4u << 20)  /* of DT_STRTAB */
#define SCRIPT_MAX (1u << 20)   /* of a script */
#define DYNAMIC_MAX (64u << 10) /* of PT_DYNAMIC */
#define SEGMENTS_MAX 64

struct word {
    const char *text; /* one that ends with '*' is the beginning of many */
    enum wire_pin pin;
};

/* What an executable imports or needs. */
static const struct word imports[] = {
    {"sched_setaffinity", WIRE_PIN_CALLS},
    {"sched_getaffinity", WIRE_PIN_CALLS},
    {"pthread_setaffinity_np", WIRE_PIN_CALLS},
    {"pthread_getaffinity_np", WIRE_PIN_CALLS},
    {"pthread_attr_setaffinity_np", WIRE_PIN_CALLS},
    {"pthread_attr_getaffinity_np", WIRE_PIN_CALLS},
    {"sched_getcpu", WIRE_PIN_CALLS},
    {"getcpu", WIRE_PIN_CALLS},
    {"sched_setattr", WIRE_PIN_CALLS},
    {"sched_setscheduler", WIRE_PIN_CALLS},
    {"pthread_setschedparam", WIRE_PIN_CALLS},
    {"syscall", WIRE_PIN_CALLS},
    {"ptrace", WIRE_PIN_CALLS},
    {"libnuma.so*", WIRE_PIN_CALLS},
    {"libhwloc.so*", WIRE_PIN_CALLS},
    {"liblikwid*", WIRE_PIN_CALLS},
    {"libmpi*", WIRE_PIN_CALLS}, /* binds its ranks when it begins */
    {"libcuda*", WIRE_PIN_DEVICE},
    {"libamdhip64*", WIRE_PIN_DEVICE},
    {"libhsa-runtime64*", WIRE_PIN_DEVICE},
    {"libze_loader*", WIRE_PIN_DEVICE},
    {"libOpenCL*", WIRE_PIN_DEVICE},
    {"execv", WIRE_PIN_STARTS},
    {"execve", WIRE_PIN_STARTS},
    {"execvp", WIRE_PIN_STARTS},
    {"execvpe", WIRE_PIN_STARTS},
    {"execl", WIRE_PIN_STARTS},
    {"execle", WIRE_PIN_STARTS},
    {"execlp", WIRE_PIN_STARTS},
    {"fexecve", WIRE_PIN_STARTS},
    {"posix_spawn*", WIRE_PIN_STARTS},
    {"system", WIRE_PIN_STARTS},
    {"popen", WIRE_PIN_STARTS},
    {"dlopen", WIRE_PIN_STARTS},
    {"dlmopen", WIRE_PIN_STARTS},
};

/* Wrappers and launchers that bind what they start. */
static const struct word wrappers[] = {
    {"numactl", WIRE_PIN_CALLS},  {"taskset", WIRE_PIN_CALLS},   {"chrt", WIRE_PIN_CALLS},
    {"mpirun*", WIRE_PIN_STARTS}, {"mpiexec*", WIRE_PIN_STARTS}, {"orterun", WIRE_PIN_STARTS},
    {"prterun", WIRE_PIN_STARTS}, {"srun", WIRE_PIN_STARTS},
};

/* What scripts bind by, or start what may. Any part of a word counts. */
static const struct word script_words[] = {
    {"affinity", WIRE_PIN_CALLS},        {"getcpu", WIRE_PIN_CALLS},
    {"Cpus_allowed", WIRE_PIN_CALLS},    {"cpuset", WIRE_PIN_CALLS},
    {"taskset", WIRE_PIN_CALLS},         {"numactl", WIRE_PIN_CALLS},
    {"hwloc", WIRE_PIN_CALLS},           {"likwid", WIRE_PIN_CALLS},
    {"OMP_PROC_BIND", WIRE_PIN_CALLS},   {"OMP_PLACES", WIRE_PIN_CALLS},
    {"CPU_AFFINITY", WIRE_PIN_CALLS},    {"I_MPI_PIN", WIRE_PIN_CALLS},
    {"ctypes", WIRE_PIN_CALLS},          {"syscall", WIRE_PIN_CALLS},
    {"mpi4py", WIRE_PIN_CALLS},          {"Rmpi", WIRE_PIN_CALLS},
    {"mpirun", WIRE_PIN_STARTS},         {"mpiexec", WIRE_PIN_STARTS},
    {"subprocess", WIRE_PIN_STARTS},     {"system", WIRE_PIN_STARTS},
    {"popen", WIRE_PIN_STARTS},          {"exec", WIRE_PIN_STARTS},
    {"spawn", WIRE_PIN_STARTS},          {"`", WIRE_PIN_STARTS},
    {"ProcessBuilder", WIRE_PIN_STARTS},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct pin say(enum wire_pin pin, const char *by, size_t length)
{
    struct pin said = {pin, ""};

    snprintf(said.by, sizeof(said.by), "%.*s",
             (int)(length < sizeof(said.by) ? length : sizeof(said.by) - 1), by);
    return said;
}

static const struct pin nothing = {WIRE_PIN_NONE, ""};

static bool is(const char *name, const char *text)
{
    size_t length = strlen(text);

    return text[length - 1] == '*' ? strncmp(name, text, length - 1) == 0 : strcmp(name, text) == 0;
}

/* Reads up to `most` bytes of a file from an offset, with a NUL behind them. The caller frees it;
 * NULL: it cannot be read. */
static char *read_at(int fd, off_t offset, size_t most, size_t *got)
{
    char *text = malloc(most + 1);
    ssize_t n;

    *got = 0;
    while (text && *got < most &&
           (n = pread(fd, text + *got, most - *got, offset + (off_t)*got)) > 0)
        *got += (size_t)n;
    if (text)
        text[*got] = '\0';
    return text;
}

/* ---- scripts ---- */

/* Looks for the words in a text of so many bytes, and in an argument. */
static struct pin pin_of_text(const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT(script_words); i++) {
        const char *word = script_words[i].text;

        if (memmem(text, length, word, strlen(word)))
            return say(script_words[i].pin, word, strlen(word));
    }
    return nothing;
}

static struct pin pin_of_script(int fd)
{
    size_t length;
    char *text = read_at(fd, 0, SCRIPT_MAX, &length);
    struct pin pin = text ? pin_of_text(text, length) : say(WIRE_PIN_UNREAD, "", 0);

    free(text);
    return pin;
}

static int open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* An interpreter's arguments: code, options, and files that it reads. */
static struct pin pin_of_arguments(int argc, char *const *argv)
{
    struct pin pin = nothing;

    for (int i = 1; i < argc && argv[i] && pin.pin == WIRE_PIN_NONE; i++) {
        int fd = argv[i][0] == '-' ? -1 : open_file(argv[i]);

        pin = pin_of_text(argv[i], strlen(argv[i]));
        if (pin.pin == WIRE_PIN_NONE && fd >= 0)
            pin = pin_of_script(fd);
        if (fd >= 0)
            close(fd);
    }
    return pin;
}

/* Finds the interpreter of a file that begins with "#!": the first word, or behind env the next. */
static void read_interpreter(const char *head, char name[WIRE_PIN_MAX])
{
    const char *at = head + 2 + strspn(head + 2, " \t");
    char path[256];

    snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, " \t\n"), at);
    if (strcmp(wire_program_name(path), "env") == 0) {
        at += strcspn(at, " \t\n");
        at += strspn(at, " \t");
        snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, " \t\n"), at);
    }
    snprintf(name, WIRE_PIN_MAX, "%.*s", WIRE_PIN_MAX - 1, wire_program_name(path));
}

static struct pin pin_of_hash_bang(int fd, const char *head)
{
    char name[WIRE_PIN_MAX];

    read_interpreter(head, name);
    return wire_program_is_read(name) ? pin_of_script(fd)
                                      : say(WIRE_PIN_STARTS, name, sizeof(name));
}

/* ---- executables ---- */

struct elf {
    int fd;
    Elf64_Phdr segment[SEGMENTS_MAX];
    size_t segments;
};

/* Returns where in the file the address is; -1: nowhere. */
static off_t offset_of(const struct elf *elf, uint64_t address)
{
    for (size_t i = 0; i < elf->segments; i++) {
        const Elf64_Phdr *segment = &elf->segment[i];

        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz)
            return (off_t)(segment->p_offset + (address - segment->p_vaddr));
    }
    return -1;
}

/* Finds the table of strings in the dynamic section; false: there is none, or no library either. */
static bool find_strings(const struct elf *elf, uint64_t *address, uint64_t *size)
{
    bool needs = false;
    Elf64_Dyn *entry;
    size_t got = 0;

    *address = *size = 0;
    for (size_t i = 0; i < elf->segments; i++) {
        if (elf->segment[i].p_type != PT_DYNAMIC || elf->segment[i].p_filesz > DYNAMIC_MAX)
            continue;
        entry = (Elf64_Dyn *)(void *)read_at(elf->fd, (off_t)elf->segment[i].p_offset,
                                             elf->segment[i].p_filesz, &got);
        for (size_t at = 0; entry && at < got / sizeof(*entry); at++) {
            needs |= entry[at].d_tag == DT_NEEDED;
            *address = entry[at].d_tag == DT_STRTAB ? entry[at].d_un.d_ptr : *address;
            *size = entry[at].d_tag == DT_STRSZ ? entry[at].d_un.d_val : *size;
        }
        free(entry);
    }
    return needs && *address && *size;
}

static struct pin pin_of_strings(const char *text, size_t length)
{
    for (const char *name = text + 1; name < text + length; name += strlen(name) + 1)
        for (size_t i = 0; i < COUNT(imports); i++)
            if (is(name, imports[i].text))
                return say(imports[i].pin, name, strlen(name));
    return nothing;
}

static struct pin pin_of_executable(int fd, const char *head, size_t length)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)head;
    struct elf elf = {.fd = fd};
    uint64_t address, size;
    struct pin pin;
    off_t offset;
    char *text;
    size_t got;

    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr) ||
        header->e_phnum > SEGMENTS_MAX || header->e_phoff > length ||
        header->e_phnum * sizeof(Elf64_Phdr) > length - header->e_phoff)
        return say(WIRE_PIN_UNREAD, "", 0);
    elf.segments = header->e_phnum;
    memcpy(elf.segment, head + header->e_phoff, elf.segments * sizeof(Elf64_Phdr));
    if (!find_strings(&elf, &address, &size) || size > STRINGS_MAX ||
        (offset = offset_of(&elf, address)) < 0)
        return say(WIRE_PIN_UNREAD, "", 0); /* linked statically, for one */
    text = read_at(fd, offset, size, &got);
    pin = text && got == size ? pin_of_strings(text, got) : say(WIRE_PIN_UNREAD, "", 0);
    free(text);
    return pin;
}

/* ---- a program ---- */

/* The words before the program: wrappers, their options, and variables that env sets. */
static struct pin pin_of_wrappers(int words, char *const *argv)
{
    for (int i = 0; i < words; i++) {
        char *const one[] = {argv[i], NULL};
        struct pin pin = pin_of_environment(one);

        if (pin.pin != WIRE_PIN_NONE)
            return pin;
        for (size_t row = 0; row < COUNT(wrappers); row++)
            if (is(wire_program_name(argv[i]), wrappers[row].text))
                return say(wrappers[row].pin, wire_program_name(argv[i]), SIZE_MAX);
    }
    return nothing;
}

static struct pin pin_of_file(const struct wire_program *program, int fd, const char *path,
                              int argc, char *const *argv)
{
    struct pin pin = {WIRE_PIN_UNREAD, ""};
    size_t length;
    char *head = read_at(fd, 0, HEAD_MAX, &length);

    if (head && length > 2 && memcmp(head, "#!", 2) == 0)
        pin = pin_of_hash_bang(fd, head);
    else if (wire_program_is_read(path))
        pin = pin_of_arguments(argc, argv);
    else if (wire_program_is_shell(path) || program->kind != WIRE_PROGRAM_FILE)
        pin = say(WIRE_PIN_STARTS, wire_program_name(path), SIZE_MAX);
    else if (head && length >= sizeof(Elf64_Ehdr) && memcmp(head, ELFMAG, SELFMAG) == 0)
        pin = pin_of_executable(fd, head, length);
    free(head);
    return pin;
}

struct pin pin_of_program(const struct wire_program *program, const char *path, int argc,
                          char *const *argv)
{
    struct pin pin = pin_of_wrappers(program->at, argv);
    int fd;

    if (pin.pin != WIRE_PIN_NONE)
        return pin;
    fd = open_file(path);
    if (fd < 0)
        return say(WIRE_PIN_UNREAD, "", 0);
    pin = pin_of_file(program, fd, path, argc, argv);
    close(fd);
    return pin;
}
