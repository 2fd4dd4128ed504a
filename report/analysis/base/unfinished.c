#define _GNU_SOURCE // syscall
#include "unfinished.h"

#include "memory.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_UNFINISHED = 16 };

static const char *_Atomic unfinished_paths[MOST_UNFINISHED];

void unfinished_begin(const char *path)
{
    memory_at_exhaustion(unfinished_remove);
    for (size_t i = 0; i < MOST_UNFINISHED; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&unfinished_paths[i], &none, path)) return;
    }
}

void unfinished_end(const char *path)
{
    for (size_t i = 0; path && i < MOST_UNFINISHED; i++) {
        const char *same = path;
        if (atomic_compare_exchange_strong(&unfinished_paths[i], &same, NULL)) return;
    }
}

// linux/dirent.h: one entry as the kernel returns it. opendir() would allocate.
typedef struct kernel_entry {
    uint64_t inode;
    int64_t next;
    uint16_t size;
    uint8_t type;
    char name[];
} kernel_entry;

// Deletes the files of a directory. Deleting while listing may skip some, so it starts anew until nothing goes.
static void unfinished_empty(int directory)
{
    union {
        kernel_entry first;
        char bytes[4096];
    } block;
    for (size_t removed = 1; removed;) {
        long size;
        removed = 0;
        lseek(directory, 0, SEEK_SET);
        while ((size = syscall(SYS_getdents64, directory, &block, sizeof block)) > 0)
            for (long at = 0; at < size;) {
                const kernel_entry *entry = (const kernel_entry *)(const void *)(block.bytes + at);
                removed += unlinkat(directory, entry->name, 0) == 0;
                at += entry->size;
            }
    }
}

void unfinished_drop(const char *path)
{
    unfinished_end(path);
    if (unlink(path) == 0) return;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0) return;
    unfinished_empty(directory);
    close(directory);
    rmdir(path);
}

void unfinished_remove(void)
{
    for (size_t i = 0; i < MOST_UNFINISHED; i++) {
        const char *path = unfinished_paths[i];
        if (path) unfinished_drop(path);
    }
}
