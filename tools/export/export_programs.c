// Nsight Systems exports as tables: those of nsys stats, processes, and how busy each GPU was over time.
#include "export.h"
#include "analysis/nsys/nsys.h"
#include "analysis/nsys/nsys_kernels.h"

#include <stdlib.h>
#include <string.h>

#define ROW(to, id, ...) export_row(to, id, (const export_cell[]){__VA_ARGS__})

static export_cell export_programs_known_i64(int64_t value)
{
    return value < 0 ? cell_none() : cell_i64(value);
}

// file: 0 for all of them together.
static void export_programs_put_table(export_sink *to, uint64_t file, const nsys *n, const nsys_table *t)
{
    bool kernels = strcmp(t->name, nsys_kind_name(NSYS_KERNELS)) == 0;
    for (size_t i = 0; i < t->row_count && !export_failed(to); i++) {
        const nsys_row *r = &t->rows[i];
        ROW(to, EXPORT_NSYS_TABLES, file ? cell_u64(file) : cell_none(), cell_text(n->host), cell_text(t->name),
            cell_exact_text(r->name), cell_text(r->of), kernels ? cell_u64(r->nccl) : cell_none(), cell_text(t->unit),
            cell_f64(r->share), cell_u64(r->count), r->total == UINT64_MAX ? cell_none() : cell_u64(r->total),
            cell_f64(r->mean), cell_f64(r->median), cell_u64(r->min), cell_u64(r->max), cell_f64(r->deviation));
    }
}

static void export_programs_put_processes(export_sink *to, uint64_t file, const nsys *n)
{
    for (size_t i = 0; i < n->process_count && !export_failed(to); i++) {
        const nsys_process *p = &n->processes[i];
        export_cell spent[NSYS_SPENT];
        for (int what = 0; what < NSYS_SPENT; what++)
            spent[what] = n->knows[what] && p->spent_ns[what] < UINT64_MAX ? cell_u64(p->spent_ns[what]) : cell_none();
        ROW(to, EXPORT_NSYS_PROCESSES, cell_u64(file), cell_text(n->host), export_programs_known_i64(p->rank),
            export_programs_known_i64(p->pid), spent[NSYS_SPENT_KERNELS], spent[NSYS_SPENT_NCCL],
            spent[NSYS_SPENT_MEMORY], spent[NSYS_SPENT_MPI], spent[NSYS_SPENT_API]);
    }
}

// begin_ns: when the profile began, 0 if unknown.
static void export_programs_put_busy(export_sink *to, uint64_t file, const nsys *n, int64_t begin_ns)
{
    for (size_t g = 0; g < n->gpu_count; g++) {
        const nsys_gpu *gpu = &n->gpus[g];
        for (size_t i = 0; i < n->bin_count && !export_failed(to); i++)
            ROW(to, EXPORT_NSYS_BUSY, cell_u64(file), cell_text(n->host), cell_i64(gpu->device),
                export_programs_known_i64(gpu->pid), cell_text(gpu->name),
                begin_ns ? cell_i64(begin_ns + nsys_bin_begin(n, i)) : cell_none(), cell_i64(nsys_bin_begin(n, i)),
                cell_i64(nsys_bin_begin(n, i + 1) - nsys_bin_begin(n, i)), cell_f64(gpu->busy[NSYS_BUSY_KERNELS][i]),
                cell_f64(gpu->busy[NSYS_BUSY_NCCL][i]), cell_f64(gpu->busy[NSYS_BUSY_MEMORY][i]));
    }
}

typedef struct programs_file {
    export_sink *to;
    const char *host;
    int64_t begin_ns;
} programs_file;

// Kernels of one stream follow each other.
static bool export_programs_put_kernel(void *user, const nsys_kernel *k)
{
    const programs_file *f = user;
    export_span x = {.node = f->host, .name = k->name, .kind = k->nccl ? "NCCL kernel" : "kernel"};
    if (__builtin_add_overflow(f->begin_ns, k->begin_ns, &x.begin_ns) ||
        __builtin_add_overflow(f->begin_ns, k->end_ns, &x.end_ns))
        return true;
    char lane[96] = "", *to = lane;
    if (k->device >= 0) to += sprintf(to, "GPU %lld ", (long long)k->device);
    if (k->pid >= 0) to += sprintf(to, "of process %lld ", (long long)k->pid);
    if (k->stream >= 0) to += sprintf(to, "stream %lld ", (long long)k->stream);
    if (to > lane) to[-1] = 0;
    x.lane = to > lane ? lane : "kernels";
    export_put_span(f->to, &x);
    return !export_failed(f->to);
}

static void export_programs_put_kernels(export_sink *to, const nsys *n, int64_t begin_ns)
{
    netprof_error error;
    programs_file f = {to, n->host ? n->host : "", begin_ns};
    if (!begin_ns || !export_options_of(to)->driver->span) return;
    if (nsys_kernels_read(n->path, export_programs_put_kernel, &f, &error))
        warn("%s: no kernels: %s", safe(n->path), error_text(&error));
}

static void export_programs_put_file(export_sink *to, const nsys_job *job, size_t i)
{
    const nsys *n = &job->files[i];
    int64_t begin_ns = job->placed ? job->begin_ns[i] : n->session_ns;
    ROW(to, EXPORT_NSYS_FILES, cell_u64(i + 1), cell_text(n->path), cell_text(n->host), cell_text(n->version),
        cell_time(begin_ns), cell_time(n->session_ns), cell_u64(n->gpu_count));
    for (int kind = 0; kind < NSYS_READ; kind++)
        export_programs_put_table(to, i + 1, n, &n->tables[kind]);
    export_programs_put_processes(to, i + 1, n);
    export_programs_put_busy(to, i + 1, n, begin_ns);
    export_programs_put_kernels(to, n, begin_ns);
}

int export_programs(export_sink *sink, const char **paths, size_t count)
{
    nsys_job job = {0};
    netprof_error error;
    if (nsys_job_read(&job, paths, count, NULL, &error)) return fail_error(*error.path ? NULL : paths[0], &error);
    for (size_t i = 0; i < count && !export_failed(sink); i++)
        export_programs_put_file(sink, &job, i);
    for (int kind = 0; kind < NSYS_READ && count > 1; kind++)
        export_programs_put_table(sink, 0, &job.together, &job.together.tables[kind]);
    nsys_job_free(&job);
    return EXIT_DONE;
}
