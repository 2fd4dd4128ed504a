// Single charts, each with the name of its file.
#include "nccl_page.h"
#include "pages_nccl.h"

#include "analysis/base/stb_ds.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct nccl_single {
    nccl_page p;
    pages_nccl_file *files; // an stb_ds array
} nccl_single;

// A name from a log as a part of a file's name: "AllReduce"; what is neither letter, digit, '-' nor '_' becomes '_'.
static void nccl_single_name(const char *text, char *to, size_t size)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++)
        to[n++] = isalnum((unsigned char)*text) && !((unsigned char)*text & 0x80) ? *text : *text == '-' ? '-' : '_';
    to[n] = 0;
}

// Returns the next chart's name in the document. Its file gets a number if another chart has the same path.
static const char *nccl_single_add_file(nccl_single *s, const char *path)
{
    pages_nccl_file f;
    size_t same = 0, count = arrlenu(s->files), length = strlen(path);
    snprintf(f.chart, sizeof f.chart, "chart-%zu", count);
    snprintf(f.path, sizeof f.path, "%s", path);
    for (size_t i = 0; i < count; i++)
        same += strncmp(s->files[i].path, path, length) == 0 &&
                (!s->files[i].path[length] || s->files[i].path[length] == '~');
    if (same) snprintf(f.path, sizeof f.path, "%.180s~%zu", path, same + 1);
    arrput(s->files, f);
    return arena_text(s->p.memory, f.chart);
}

static chart_head nccl_single_head(nccl_single *s, const char *path, const char *title, const char *question)
{
    return (chart_head){nccl_single_add_file(s, path), title, question};
}

// file: class and collective, as they are in the names of the files.
static void nccl_single_add_kind(nccl_single *s, const nccl_family *f, const char *file, const nccl_view_kind *k)
{
    char human[32], directory[100], path[200];
    chart x;
    nccl_size_text(k->size, human, sizeof human);
    snprintf(directory, sizeof directory, "summary/msg_size_%llu_%s", (unsigned long long)k->size, human);
    const char *title = arena_format(s->p.memory, "%s of %s, %s", f->coll, nccl_page_size(&s->p, k->size), f->type);
    const char *question = arena_format(s->p.memory, "%s calls", number_grouped(k->calls).text);
    snprintf(path, sizeof path, "%s/histograms/histogram_%s_%llu", directory, file, (unsigned long long)k->size);
    if (nccl_kind_histogram(&s->p, nccl_single_head(s, path, title, question), k, 180, &x))
        document_add(s->p.doc, x);
    else
        (void)arrpop(s->files); // its file
    snprintf(path, sizeof path, "%s/boxplots/boxplot_%s_%llu", directory, file, (unsigned long long)k->size);
    document_add(s->p.doc, nccl_family_boxes(&s->p, nccl_single_head(s, path, title, question), &k, 1, 180));
}

static void nccl_single_add_family(nccl_single *s, const nccl_family *f)
{
    char type[21], coll[41], file[64], path[200];
    nccl_panel *panels = arena_make(s->p.memory, f->count + 1, sizeof *panels);
    nccl_single_name(f->type, type, sizeof type);
    nccl_single_name(f->coll, coll, sizeof coll);
    snprintf(file, sizeof file, "%s_%s", type, coll);
    nccl_family_panels(&s->p, f->kinds, f->count, panels);
    const char *title = arena_format(s->p.memory, "%s, %s", f->coll, f->type);
    snprintf(path, sizeof path, "summary/scatter_plot_%s", file);
    document_add(s->p.doc, nccl_chart_scatter(
                               nccl_single_head(
                                   s, path, title,
                                   "bus bandwidth over the sequence number; of sizes with very many calls a selection"),
                               panels, f->count));
    snprintf(path, sizeof path, "summary/combined_scatter_plot_%s", file);
    document_add(s->p.doc, nccl_chart_panels(nccl_single_head(s, path, title, "every call over the sequence number"),
                                             panels, f->count));
    for (size_t i = 0; i < f->count; i++)
        nccl_single_add_kind(s, f, file, f->kinds[i]);
}

static void nccl_single_add_first(nccl_single *s)
{
    const nccl_view *v = s->p.v;
    chart x;
    if (v->rows.count)
        document_add(s->p.doc,
                     nccl_chart_table(nccl_single_head(s, "charts/collectives", "Collectives", "sorted by time"),
                                      v->rows.items, v->rows.count, 0));
    if (v->calls)
        document_add(
            s->p.doc,
            nccl_chart_complete(nccl_single_head(s, "charts/completeness", "Completeness", "how much was seen?"), v));
    if (nccl_page_make_curve(&s->p, &x)) {
        x.name = arena_text(((chart_memory *)x.data)->memory, nccl_single_add_file(s, "charts/bandwidth"));
        document_add(s->p.doc, x);
    }
    if (v->late.count)
        document_add(s->p.doc, nccl_chart_late(nccl_single_head(s, "charts/late", "Who is late?", v->main_coll), v));
    if (v->run.count > 1)
        document_add(
            s->p.doc,
            nccl_chart_run(nccl_single_head(s, "charts/run", "Wire time and skew over the run", v->main_coll), v));
}

document *pages_nccl_charts(const nccl_view *v, pages_nccl_file **files)
{
    nccl_single s = {.p = {.v = v, .doc = document_open(pages_nccl_kind.name), .memory = arena_open()}};
    size_t families = 0;
    nccl_single_add_first(&s);
    nccl_family *all = nccl_families_of(&s.p, &families);
    for (size_t i = 0; i < families; i++)
        nccl_single_add_family(&s, &all[i]);
    document_metadata(s.p.doc, pages_nccl_kind.name, "netprof, NCCL", nccl_page_wall_ns(v->last_dump_us));
    arena_close(s.p.memory);
    *files = s.files;
    return s.p.doc;
}
