#define _GNU_SOURCE
#include "tcp_owner.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WANTED_MOST = 256 };

// Sockets that are looked for, by inode.
typedef struct search {
    tcp_socket *of[WANTED_MOST];
    size_t count, left;
} search;

static int tcp_owner_compare(const void *a, const void *b)
{
    const tcp_socket *x = *(tcp_socket *const *)a, *y = *(tcp_socket *const *)b;
    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static tcp_socket *tcp_owner_of_inode(const search *s, uint32_t inode)
{
    const tcp_socket key = {.inode = inode}, *at = &key;
    tcp_socket *const *found = bsearch(&at, s->of, s->count, sizeof *s->of, tcp_owner_compare);
    return found ? *found : NULL;
}

static void tcp_owner_name(tcp_socket *to, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to->command, sizeof to->command - 1);
    if (fd >= 0) close(fd);
    to->command[n > 0 ? n : 0] = 0;
    to->command[strcspn(to->command, "\n")] = 0;
    to->pid = pid;
}

// "socket:[12345]".
static void tcp_owner_take(search *s, pid_t pid, const char *target)
{
    static const char begin[] = "socket:[";
    if (strncmp(target, begin, sizeof begin - 1) != 0) return;
    tcp_socket *to = tcp_owner_of_inode(s, (uint32_t)strtoul(target + sizeof begin - 1, NULL, 10));
    if (!to || to->pid) return; // of several processes that share it the first
    tcp_owner_name(to, pid);
    s->left--;
}

static void tcp_owner_look_at(search *s, pid_t pid)
{
    char path[64], target[64];
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    DIR *d = opendir(path);
    if (!d) return; // somebody else's
    for (struct dirent *x; s->left && (x = readdir(d));) {
        ssize_t n = readlinkat(dirfd(d), x->d_name, target, sizeof target - 1);
        if (n <= 0) continue;
        target[n] = 0;
        tcp_owner_take(s, pid, target);
    }
    closedir(d);
}

void tcp_owner_find(tcp_socket *list, size_t count, bool (*wanted)(const tcp_socket *))
{
    search s = {.count = 0};
    for (size_t i = 0; i < count && s.count < WANTED_MOST; i++)
        if (list[i].inode && !list[i].pid && !list[i].ended && wanted(&list[i])) s.of[s.count++] = &list[i];
    s.left = s.count;
    if (!s.count) return;
    qsort(s.of, s.count, sizeof *s.of, tcp_owner_compare);
    DIR *d = opendir("/proc");
    for (struct dirent *x; d && s.left && (x = readdir(d));) {
        long pid = strtol(x->d_name, NULL, 10);
        if (pid > 0) tcp_owner_look_at(&s, (pid_t)pid);
    }
    if (d) closedir(d);
}
