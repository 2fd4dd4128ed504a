#define _GNU_SOURCE
#include "process_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// The fields after the command name; fields[0] is the third column, the state.
static size_t process_stat_numbers(char *at, uint64_t *fields, size_t most)
{
    size_t n = 0;
    for (char *word; n < most && (word = emit_word(&at)); n++)
        fields[n] = *word == '-' ? 0 - (uint64_t)strtoull(word + 1, NULL, 10) : (uint64_t)strtoull(word, NULL, 10);
    return n;
}

static uint64_t process_ticks_us(const process_state *s, uint64_t ticks)
{
    return ticks * (1000000u / (uint64_t)s->hz);
}

// Of a file that is kept open; it belongs to this process for ever, also when the number is another's.
static bool process_stat_again(process_member *m, char *text, size_t size)
{
    ssize_t n = pread(m->stat - 1, text, size - 1, 0);
    if (n <= 0) return false;
    text[n] = 0;
    char *end = strrchr(text, ')');
    if (!end) return false;
    end += 1 + (end[1] == ' ');
    memmove(text, end, strlen(end) + 1);
    text[strcspn(text, "\n")] = 0;
    return true;
}

static bool process_stat_text(process_state *s, const emit *e, process_member *m, char *text, size_t size)
{
    char path[64];
    if (m->stat) return process_stat_again(m, text, size);
    // A made tree's files go on after they were removed.
    if (s->count <= MANY || s->kept >= s->keeps || !m->known || *emit_root(e))
        return emit_process_stat(e, m->pid, text, size);
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)m->pid);
    m->stat = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) + 1;
    s->kept += m->stat > 0;
    return m->stat && process_stat_again(m, text, size);
}

bool process_read_stat(process_state *s, const emit *e, process_member *m)
{
    char text[1024];
    uint64_t f[24];
    if (!process_stat_text(s, e, m, text, sizeof text)) return false;
    m->ended = *text == 'Z' || *text == 'X';
    if (process_stat_numbers(text, f, 24) < 22) return false;
    m->parent = (pid_t)f[1];
    m->own[MINOR_FAULTS] = f[7];
    m->waited[MINOR_FAULTS] = f[8];
    m->own[MAJOR_FAULTS] = f[9];
    m->waited[MAJOR_FAULTS] = f[10];
    m->own[USER] = process_ticks_us(s, f[11]);
    m->own[SYSTEM] = process_ticks_us(s, f[12]);
    m->waited[USER] = process_ticks_us(s, f[13]);
    m->waited[SYSTEM] = process_ticks_us(s, f[14]);
    m->threads = f[17];
    m->start = f[19];
    m->size = f[20];
    m->resident = f[21] * (uint64_t)s->page;
    return true;
}

// "rchar: N", ... A process of somebody else is denied.
void process_read_io(const emit *e, process_member *m)
{
    static const struct {
        const char *begin;
        int sum;
    } rows[] = {{"rchar: ", READ_CHARS},  {"wchar: ", WRITE_CHARS},     {"syscr: ", READ_CALLS},
                {"syscw: ", WRITE_CALLS}, {"read_bytes: ", READ_BYTES}, {"write_bytes: ", WRITE_BYTES}};
    char path[64], *at, *line;
    emit_file io = {.fd = -1};
    int error;
    snprintf(path, sizeof path, "/proc/%ld/io", (long)m->pid);
    at = emit_file_read(&io, e, path, &error);
    m->io_denied = !at && error != ENOENT && error != ESRCH;
    while (at && (line = emit_line(&at)))
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (strncmp(line, rows[i].begin, strlen(rows[i].begin)) == 0)
                emit_number(line + strlen(rows[i].begin), &m->own[rows[i].sum]);
    emit_file_close(&io);
}

void process_read_memory(const process_state *s, const emit *e, process_member *m)
{
    char text[128], *at = text;
    uint64_t value;
    m->shared = 0;
    if (!emit_read_line(e, text, sizeof text, "/proc/%ld/statm", (long)m->pid)) return;
    emit_word(&at);
    emit_word(&at);
    if (emit_number(emit_word(&at), &value)) m->shared = value * (uint64_t)s->page;
}

void process_count_files(const emit *e, process_member *m)
{
    char path[512];
    DIR *d;
    m->files = 0;
    snprintf(path, sizeof path, "%.400s/proc/%ld/fd", emit_root(e), (long)m->pid);
    m->files_denied = !(d = opendir(path)) && errno == EACCES;
    if (!d) return;
    for (struct dirent *x; (x = readdir(d));)
        m->files += x->d_name[0] != '.';
    closedir(d);
}

// Keeps the process that comes nearest to its own soft limit.
void process_compare_files(process_state *s, const process_member *m)
{
    struct rlimit limit;
    if (!m->files || prlimit(m->pid, RLIMIT_NOFILE, NULL, &limit) || limit.rlim_cur == RLIM_INFINITY || !limit.rlim_cur)
        return;
    if (s->files_limit && (double)m->files * (double)s->files_limit <= (double)s->files_peak * (double)limit.rlim_cur)
        return;
    s->files_peak = m->files;
    s->files_limit = limit.rlim_cur;
}

// Adds what a process has; an errno. One that has just ended has none any more.
int process_add_shares(const emit *e, pid_t pid, uint64_t *shares)
{
    static const struct {
        const char *begin;
        int share;
    } rows[] = {{"Pss:", PROPORTIONAL}, {"Private_Clean:", UNIQUE}, {"Private_Dirty:", UNIQUE}, {"Swap:", SWAPPED}};
    char path[64], *line;
    emit_file rollup = {.fd = -1};
    int error;
    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", (long)pid);
    char *at = emit_file_read(&rollup, e, path, &error);
    while (at && (line = emit_line(&at))) {
        char *name = emit_word(&line);
        uint64_t kib;
        for (size_t i = 0; name && i < sizeof rows / sizeof *rows; i++)
            if (strcmp(name, rows[i].begin) == 0 && emit_number(emit_word(&line), &kib)) {
                shares[rows[i].share] += kib * 1024;
                break;
            }
    }
    emit_file_close(&rollup);
    return error == ESRCH ? 0 : error;
}
