#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "processes.h"

#include "analysis/base/memory.h"
#include "analysis/base/words.h"
#include "cli/output.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// proc(5): the name stands in parentheses and may hold anything; the state and numbers follow.
static bool processes_parse(process_row *row, char *text)
{
    char *name = strchr(text, '('), *end = strrchr(text, ')');
    unsigned long long user, system, began;
    long pages;
    if (!name || !end || end < name) return false;
    *end = 0;
    snprintf(row->name, sizeof row->name, "%s", name + 1);
    if (sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu %*u %ld",
               &user, &system, &began, &pages) != 4)
        return false;
    row->ticks = user + system;
    row->began = began;
    row->resident = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    return true;
}

static bool processes_read(process_row *row, int proc, const char *pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "%.16s/stat", pid);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    *row = (process_row){.pid = atoi(pid), .cores = NAN};
    return processes_parse(row, text);
}

static int processes_compare(const void *a, const void *b)
{
    const process_row *x = a, *y = b;
    double dx = isnan(x->cores) ? -1 : x->cores, dy = isnan(y->cores) ? -1 : y->cores;
    return dx > dy ? -1 : dx < dy ? 1 : (x->pid > y->pid) - (x->pid < y->pid);
}

void processes_look(processes *p, const char *proc)
{
    struct timespec now;
    index_map *before = NULL;
    process_row *rows = NULL, row;
    DIR *listing = opendir(proc);
    if (!listing) return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    double ticks = (double)(now_ns - p->taken_ns) / 1e9 * (double)sysconf(_SC_CLK_TCK);
    for (size_t i = 0; i < arrlenu(p->rows); i++)
        index_map_put(&before, map_key_of_pair(p->rows[i].pid, (int64_t)p->rows[i].began), i);
    for (struct dirent *e; (e = readdir(listing));) {
        if (!isdigit((unsigned char)*e->d_name) || !processes_read(&row, dirfd(listing), e->d_name)) continue;
        size_t last = index_map_find(before, map_key_of_pair(row.pid, (int64_t)row.began));
        if (last != INDEX_NONE && ticks > 0 && row.ticks >= p->rows[last].ticks)
            row.cores = (double)(row.ticks - p->rows[last].ticks) / ticks;
        arrput(rows, row);
    }
    closedir(listing);
    hmfree(before);
    arrfree(p->rows);
    p->rows = rows;
    p->taken_ns = now_ns;
    if (arrlenu(rows)) qsort(rows, arrlenu(rows), sizeof *rows, processes_compare);
}

void processes_lines(const processes *p, lines *l)
{
    enum { SHOWN = 8 };
    for (size_t i = 0; i < arrlenu(p->rows) && i < SHOWN; i++) {
        const process_row *x = &p->rows[i];
        if (isnan(x->cores) || !(x->cores > 0)) break;
        if (!i) {
            lines_begin(l);
            lines_add(l, TITLE, "    PID  OF A CORE     MEMORY  PROCESS");
        }
        lines_begin(l);
        lines_printf(l, NORMAL, "%7d", x->pid);
        lines_cell(l, NORMAL, 11, true, safe(words_share(x->cores).text));
        lines_cell(l, NORMAL, 11, true, safe(words_binary((double)x->resident).text));
        lines_printf(l, STRONG, "  %s", safe(x->name));
    }
}

void processes_free(processes *p)
{
    arrfree(p->rows);
    *p = (processes){0};
}
