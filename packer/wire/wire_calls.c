/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_calls - see wire_calls.h */
#include "packer/wire/wire_calls.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_MAX 4096           /* of a file, its headers */
#define STRINGS_MAX (4u << 20)  /* of DT_STRTAB */
#define DYNAMIC_MAX (64u << 10) /* of PT_DYNAMIC */
#define SEGMENTS_MAX 64

/* Who is concerned. */
#define PROGRAM (1u << WIRE_CALLER_PROGRAM)
#define RANK (1u << WIRE_CALLER_RANK)
#define ANY (PROGRAM | RANK)

struct import {
    const char *text; /* one that ends with '*' is the beginning of many */
    enum wire_pin pin;
    unsigned callers;
};

/* What an executable imports or needs. */
static const struct import imports[] = {
    {"sched_setaffinity", WIRE_PIN_CALLS, ANY},
    {"sched_getaffinity", WIRE_PIN_CALLS, ANY},
    {"pthread_setaffinity_np", WIRE_PIN_CALLS, ANY},
    {"pthread_getaffinity_np", WIRE_PIN_CALLS, ANY},
    {"pthread_attr_setaffinity_np", WIRE_PIN_CALLS, ANY},
    {"pthread_attr_getaffinity_np", WIRE_PIN_CALLS, ANY},
    {"sched_getcpu", WIRE_PIN_CALLS, ANY},
    {"getcpu", WIRE_PIN_CALLS, ANY},
    {"sched_setattr", WIRE_PIN_CALLS, ANY},
    {"sched_setscheduler", WIRE_PIN_CALLS, ANY},
    {"pthread_setschedparam", WIRE_PIN_CALLS, ANY},
    {"syscall", WIRE_PIN_CALLS, ANY},
    {"ptrace", WIRE_PIN_CALLS, ANY},
    {"libnuma.so*", WIRE_PIN_CALLS, ANY},
    {"libhwloc.so*", WIRE_PIN_CALLS, ANY},
    {"liblikwid*", WIRE_PIN_CALLS, ANY},
    {"libmpi*", WIRE_PIN_CALLS, PROGRAM},  /* binds its ranks when it begins */
    {"libgomp.so*", WIRE_PIN_CALLS, RANK}, /* by OMP_PROC_BIND and the like */
    {"libomp.so*", WIRE_PIN_CALLS, RANK},
    {"libiomp5.so*", WIRE_PIN_CALLS, RANK},
    {"libcuda*", WIRE_PIN_DEVICE, ANY},
    {"libamdhip64*", WIRE_PIN_DEVICE, ANY},
    {"libhsa-runtime64*", WIRE_PIN_DEVICE, ANY},
    {"libze_loader*", WIRE_PIN_DEVICE, ANY},
    {"libOpenCL*", WIRE_PIN_DEVICE, ANY},
    {"execv", WIRE_PIN_STARTS, ANY},
    {"execve", WIRE_PIN_STARTS, ANY},
    {"execvp", WIRE_PIN_STARTS, ANY},
    {"execvpe", WIRE_PIN_STARTS, ANY},
    {"execl", WIRE_PIN_STARTS, ANY},
    {"execle", WIRE_PIN_STARTS, ANY},
    {"execlp", WIRE_PIN_STARTS, ANY},
    {"fexecve", WIRE_PIN_STARTS, ANY},
    {"posix_spawn*", WIRE_PIN_STARTS, ANY},
    {"system", WIRE_PIN_STARTS, ANY},
    {"popen", WIRE_PIN_STARTS, ANY},
    {"dlopen", WIRE_PIN_STARTS, ANY},
    {"dlmopen", WIRE_PIN_STARTS, ANY},
};

static struct wire_calls say(enum wire_pin pin, const char *by)
{
    struct wire_calls said = {pin, ""};

    snprintf(said.by, sizeof(said.by), "%.*s", (int)sizeof(said.by) - 1, by);
    return said;
}

static bool is(const char *name, const char *text)
{
    size_t length = strlen(text);

    return text[length - 1] == '*' ? strncmp(name, text, length - 1) == 0 : strcmp(name, text) == 0;
}

char *wire_calls_read_at(int fd, long offset, size_t most, size_t *got)
{
    char *text = malloc(most + 1);
    ssize_t n;

    *got = 0;
    while (text && *got < most &&
           (n = pread(fd, text + *got, most - *got, (off_t)offset + (off_t)*got)) > 0)
        *got += (size_t)n;
    if (text)
        text[*got] = '\0';
    return text;
}

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
        entry = (Elf64_Dyn *)(void *)wire_calls_read_at(elf->fd, (long)elf->segment[i].p_offset,
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

static struct wire_calls calls_of_strings(const char *text, size_t length, enum wire_caller caller)
{
    for (const char *name = text + 1; name < text + length; name += strlen(name) + 1)
        for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++)
            if (imports[i].callers & 1u << caller && is(name, imports[i].text))
                return say(imports[i].pin, name);
    return say(WIRE_PIN_NONE, "");
}

static bool is_executable(const char *head, size_t length)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)head;

    return length >= sizeof(*header) && memcmp(head, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_phentsize == sizeof(Elf64_Phdr) &&
           header->e_phnum <= SEGMENTS_MAX && header->e_phoff <= length &&
           header->e_phnum * sizeof(Elf64_Phdr) <= length - header->e_phoff;
}

static struct wire_calls calls_of_executable(int fd, const char *head, enum wire_caller caller)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)head;
    struct elf elf = {.fd = fd, .segments = header->e_phnum};
    uint64_t address, size;
    struct wire_calls calls;
    off_t offset;
    char *text;
    size_t got;

    memcpy(elf.segment, head + header->e_phoff, elf.segments * sizeof(Elf64_Phdr));
    if (!find_strings(&elf, &address, &size) || size > STRINGS_MAX ||
        (offset = offset_of(&elf, address)) < 0)
        return say(WIRE_PIN_UNREAD, ""); /* linked statically, for one */
    text = wire_calls_read_at(fd, (long)offset, size, &got);
    calls = text && got == size ? calls_of_strings(text, got, caller) : say(WIRE_PIN_UNREAD, "");
    free(text);
    return calls;
}

struct wire_calls wire_calls_read(int fd, enum wire_caller caller)
{
    struct wire_calls calls = {WIRE_PIN_UNREAD, ""};
    size_t length;
    char *head = wire_calls_read_at(fd, 0, HEAD_MAX, &length);

    if (head && is_executable(head, length))
        calls = calls_of_executable(fd, head, caller);
    free(head);
    return calls;
}
