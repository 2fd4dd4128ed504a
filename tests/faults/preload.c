// Preloaded into a program, makes one of its allocations fail, or one and all that follow, as the file tells that
// NETPROF_FAULTS names. Only allocations of programs called netprof... count, and of these only the calls that come from the
// program's own code or from libraries that report the failure to their caller. Others do not: glib ends the process, and
// libpopt (1.19) ends it or loses the value of an option without a word.
#define _GNU_SOURCE
#include "control.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

// The C library's own, under the names by which it exports them: dlsym() may itself allocate.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static const char *const counted_libraries[] = {"libjson-c.so"};

typedef struct range {
    uintptr_t begin, end;
} range;

static range ranges[64];
static size_t range_count;
static uintptr_t program_base;
static faults_control *control;

// ---- which calls count ----

static bool is_counted_object(const char *name)
{
    if (!*name) return true; // the program itself
    for (size_t i = 0; i < sizeof counted_libraries / sizeof *counted_libraries; i++)
        if (strstr(name, counted_libraries[i])) return true;
    return false;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    (void)user;
    if (!*info->dlpi_name && !program_base) program_base = info->dlpi_addr;
    if (!is_counted_object(info->dlpi_name)) return 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        if (range_count == sizeof ranges / sizeof *ranges) return 1;
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
        ranges[range_count++] = (range){begin, begin + segment->p_memsz};
    }
    return 0;
}

static bool is_program_under_test(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return false;
    path[length] = 0;
    const char *name = strrchr(path, '/');
    return name && strncmp(name + 1, "netprof", strlen("netprof")) == 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv(FAULTS_VARIABLE);
    int fd = path && is_program_under_test() ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *map = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) return;
    dl_iterate_phdr(add_object, NULL);
    control = map;
}

static bool is_counted(const void *caller)
{
    for (size_t i = 0; i < range_count; i++)
        if ((uintptr_t)caller >= ranges[i].begin && (uintptr_t)caller < ranges[i].end) return true;
    return false;
}

// ---- where a failing call came from ----

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *user)
{
    size_t *count = user;
    uintptr_t address = _Unwind_GetIP(context);
    if (*count == FAULTS_FRAMES - 1) return _URC_END_OF_STACK;
    // The program's own segments come first in the ranges.
    if (range_count && address >= ranges[0].begin && address < ranges[0].end)
        control->frames[(*count)++] = address - 1 - program_base;
    return _URC_NO_REASON;
}

static void note_place(void)
{
    size_t count = 0;
    _Unwind_Backtrace(take_frame, &count);
}

static bool fails(const void *caller)
{
    if (!control || !is_counted(caller)) return false;
    uint64_t number = __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST), at = control->fail_at;
    if (!at || (number != at && (number < at || !control->onward))) return false;
    if (number == at) note_place();
    errno = ENOMEM;
    return true;
}

#define FAILS() fails(__builtin_return_address(0))
// The function that this one stands before.
#define NEXT(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

// ---- the calls ----

void *malloc(size_t size)
{
    return FAILS() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return FAILS() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return FAILS() ? NULL : __libc_realloc(block, size);
}

void *reallocarray(void *block, size_t count, size_t size)
{
    if (FAILS() || (size && count > SIZE_MAX / size)) return NULL;
    return __libc_realloc(block, count * size);
}

static char *copy_of(const char *text, size_t length)
{
    char *copy = __libc_malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *strdup(const char *text)
{
    return FAILS() ? NULL : copy_of(text, strlen(text));
}

char *strndup(const char *text, size_t most)
{
    return FAILS() ? NULL : copy_of(text, strnlen(text, most));
}

int vasprintf(char **to, const char *format, va_list arguments)
{
    return FAILS() ? -1 : NEXT(vasprintf)(to, format, arguments);
}

int asprintf(char **to, const char *format, ...)
{
    va_list arguments;
    if (FAILS()) return -1;
    va_start(arguments, format);
    int length = NEXT(vasprintf)(to, format, arguments);
    va_end(arguments);
    return length;
}

ssize_t getdelim(char **line, size_t *room, int end, FILE *file)
{
    return FAILS() ? -1 : NEXT(getdelim)(line, room, end, file);
}

// Headers turn getline() into this one when they optimise.
ssize_t __getdelim(char **line, size_t *room, int end, FILE *file)
{
    return FAILS() ? -1 : NEXT(getdelim)(line, room, end, file);
}

ssize_t getline(char **line, size_t *room, FILE *file)
{
    return FAILS() ? -1 : NEXT(getdelim)(line, room, '\n', file);
}

FILE *fopen(const char *path, const char *mode)
{
    return FAILS() ? NULL : NEXT(fopen)(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
    return FAILS() ? NULL : NEXT(fdopen)(fd, mode);
}

FILE *open_memstream(char **text, size_t *size)
{
    return FAILS() ? NULL : NEXT(open_memstream)(text, size);
}

DIR *opendir(const char *path)
{
    return FAILS() ? NULL : NEXT(opendir)(path);
}

DIR *fdopendir(int fd)
{
    return FAILS() ? NULL : NEXT(fdopendir)(fd);
}

char *realpath(const char *path, char *resolved)
{
    return !resolved && FAILS() ? NULL : NEXT(realpath)(path, resolved);
}
