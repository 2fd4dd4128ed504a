// Writes the pages of a document: PDF, PNG, SVG.
#include "document.h"
#include "document_model.h"
#include "pdf_update.h"
#include "analysis/base/stb_ds.h"

#include <cairo-pdf.h>
#include <cairo-ps.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct job {
    document *d;
    const document_options *o;
    page_set pages;
    plots plots;
    void (*warn)(void *user, const char *text);
    void *user;
    netprof_error *error;
} job;

static netprof_err writer_fail(netprof_error *error, netprof_err code, const char *text)
{
    if (error) {
        *error = (netprof_error){.code = code};
        snprintf(error->text, sizeof error->text, "%s", text);
    }
    return code;
}

static void writer_progress(const job *j, const char *what, size_t done, size_t of)
{
    if (j->o->progress) j->o->progress(j->o->user, what, done, of);
}

// ---- PDF ----

static cairo_status_t writer_to_buffer(void *out, const unsigned char *data, unsigned size)
{
    buffer_bytes(out, data, size);
    return CAIRO_STATUS_SUCCESS;
}

// The report's date: that of the data, unless SOURCE_DATE_EPOCH gives another. Never the clock.
static bool writer_date_of(const document *d, char text[32])
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    char *end = NULL;
    long long seconds = epoch && *epoch ? strtoll(epoch, &end, 10) : 0;
    time_t t = end && !*end ? (time_t)seconds : (time_t)(d->time_ns / 1000000000);
    struct tm parts;
    if ((!end || *end) && d->time_ns <= 0) return false;
    return gmtime_r(&t, &parts) && strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static void writer_metadata(cairo_surface_t *surface, cairo_pdf_metadata_t which, const char *text)
{
    char *visible = text ? text_visible(text) : NULL;
    if (visible && *visible) cairo_pdf_surface_set_metadata(surface, which, visible);
    free(visible);
}

static void writer_describe(cairo_surface_t *surface, const document *d)
{
    char date[32];
    writer_metadata(surface, CAIRO_PDF_METADATA_TITLE, d->title);
    writer_metadata(surface, CAIRO_PDF_METADATA_AUTHOR, "netprof");
    writer_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "netprof");
    writer_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, d->subject);
    writer_metadata(surface, CAIRO_PDF_METADATA_KEYWORDS, d->keywords);
    if (writer_date_of(d, date)) writer_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, date);
}

// The outline is the only way to jump: link tags make cairo 1.16 write an object that is missing.
static void writer_outline(cairo_surface_t *surface, const page_set *p)
{
    int part = CAIRO_PDF_OUTLINE_ROOT;
    for (size_t i = 0; i < p->mark_count; i++) {
        const page_mark *m = &p->marks[i];
        char where[64];
        snprintf(where, sizeof where, "page=%zu pos=[%d %d]", m->page, 0, (int)(m->y > 8 ? m->y - 8 : 0));
        int id = cairo_pdf_surface_add_outline(surface, m->is_part ? CAIRO_PDF_OUTLINE_ROOT : part, m->title, where,
                                               m->is_part ? CAIRO_PDF_OUTLINE_FLAG_OPEN : 0);
        if (m->is_part) part = id;
    }
}

static double writer_points(const canvas *c)
{
    return c->figure ? c->figure->points : 1;
}

static bool writer_write_pdf(job *j, buffer *out)
{
    canvas_box sheet = page_box(j->o->paper);
    cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(writer_to_buffer, out, sheet.width, sheet.height);
    cairo_t *cr = cairo_create(surface);
    bool ok = true;
    // From 1.17 on cairo packs objects where the version allows it: what is added later (pdf_update.c) would not find them.
    if (cairo_version() >= CAIRO_VERSION_ENCODE(1, 17, 0))
        cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_4);
    writer_describe(surface, j->d);
    for (size_t i = 0; i < j->pages.count; i++) {
        canvas *c = j->pages.pages[i];
        writer_progress(j, "drawing", i, j->pages.count);
        double points = writer_points(c);
        cairo_pdf_surface_set_size(surface, canvas_width(c) * points, canvas_height(c) * points);
        cairo_identity_matrix(cr);
        cairo_scale(cr, points, points);
        canvas_cairo_ground(c, cr);
        if (!i) cairo_tag_begin(cr, "Document", ""); // when the first page has its size and ground: before, it is lost
        ok = canvas_cairo(c, cr) && ok;
        if (i + 1 == j->pages.count)
            cairo_tag_end(cr, "Document"); // behind the last page newer cairos begin another for it
        cairo_show_page(cr);
    }
    if (!j->o->chart) writer_outline(surface, &j->pages);
    ok = canvas_cairo_good(cairo_status(cr)) && ok;
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    ok = canvas_cairo_good(cairo_surface_status(surface)) && ok;
    cairo_surface_destroy(surface);
    return ok;
}

// Where a link of the verdict leads; false: that chart is on no page. cairo counts from the top of a page, PDF from its bottom.
static bool writer_make_link(const page_set *p, const page_link *l, pdf_link *link)
{
    double bottom = canvas_height(p->pages[l->page - 1]);
    size_t m = 0;
    while (m < p->mark_count && p->marks[m].chart != l->to)
        m++;
    if (m == p->mark_count) return false;
    const page_mark *to = &p->marks[m];
    *link = (pdf_link){.page = l->page - 1,
                       .to_page = to->page - 1,
                       .left = l->box.x,
                       .right = l->box.x + l->box.width,
                       .bottom = bottom - l->box.y - l->box.height,
                       .top = bottom - l->box.y,
                       .to_y = canvas_height(p->pages[to->page - 1]) - to->y + 8,
                       .text = l->to->title};
    while (link->section < arrlenu(p->sections) && p->sections[link->section].chart)
        link->section++; // the verdict's
    return true;
}

static void writer_update_pdf(const job *j, buffer *out)
{
    const page_set *p = &j->pages;
    pdf_link *links = NULL, link;
    char **spoken = NULL;
    for (size_t i = 0; i < arrlenu(p->links); i++)
        if (writer_make_link(p, &p->links[i], &link)) arrput(links, link);
    for (size_t i = 0; i < arrlenu(p->sections); i++)
        arrput(spoken, document_spoken(&p->sections[i]));
    const pdf_extras extras = {.language = "en",
                               .links = links,
                               .link_count = arrlenu(links),
                               .spoken = (const char *const *)spoken,
                               .section_count = arrlenu(spoken)};
    if (!pdf_update(out, &extras) && j->warn)
        j->warn(j->user, "the PDF has no language and no links: this version of cairo writes another structure than is "
                         "known here");
    for (size_t i = 0; i < arrlenu(spoken); i++)
        free(spoken[i]);
    arrfree(spoken);
    arrfree(links);
}

static netprof_err writer_write_pdf_file(job *j, const char *path)
{
    buffer out = {0};
    bool ok = writer_write_pdf(j, &out);
    if (ok) writer_update_pdf(j, &out);
    netprof_err err = ok ? file_write(path, out.data, out.size, j->error)
                         : writer_fail(j->error, NETPROF_ERR_IO, "cairo could not write the pages");
    buffer_free(&out);
    return err;
}

// ---- PNG, SVG: a file for each page ----

static bool writer_write_png(canvas *c, double scale, buffer *out)
{
    scale *= writer_points(c);
    int width = (int)(canvas_width(c) * scale + .5), height = (int)(canvas_height(c) * scale + .5);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cr = cairo_create(surface);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_scale(cr, scale, scale);
    canvas_cairo_ground(c, cr);
    bool ok = canvas_cairo(c, cr);
    cairo_destroy(cr);
    ok = canvas_cairo_good(cairo_surface_write_to_png_stream(surface, writer_to_buffer, out)) && ok;
    cairo_surface_destroy(surface);
    return ok;
}

// The first line that begins so, in the head: what is drawn below may have the same words.
static void writer_remove_head_line(buffer *b, const char *prefix)
{
    size_t length = strlen(prefix);
    char *end = b->data + b->size;
    for (char *at = b->data, *next; at < end && strncmp(at, "%%EndComments", 13) != 0; at = next) {
        next = memchr(at, '\n', (size_t)(end - at));
        next = next ? next + 1 : end;
        if (strncmp(at, prefix, length) != 0) continue;
        memmove(at, next, (size_t)(end - next) + 1);
        b->size -= (size_t)(next - at);
        return;
    }
}

// cairo writes the clock's time into its head, which would make the same input give other bytes.
static bool writer_write_eps(canvas *c, buffer *out)
{
    double points = writer_points(c);
    cairo_surface_t *surface =
        cairo_ps_surface_create_for_stream(writer_to_buffer, out, canvas_width(c) * points, canvas_height(c) * points);
    cairo_ps_surface_set_eps(surface, 1);
    cairo_t *cr = cairo_create(surface);
    cairo_set_source_rgb(cr, 1, 1, 1); // the bounding box is that of the ink: here all of the figure
    cairo_paint(cr);
    cairo_scale(cr, points, points);
    canvas_cairo_ground(c, cr);
    bool ok = canvas_cairo(c, cr);
    cairo_show_page(cr);
    ok = canvas_cairo_good(cairo_status(cr)) && ok;
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    ok = canvas_cairo_good(cairo_surface_status(surface)) && ok;
    cairo_surface_destroy(surface);
    if (ok) writer_remove_head_line(out, "%%CreationDate:");
    return ok;
}

// "report.svg" and 3: "report-3.svg".
static char *writer_numbered(const char *path, size_t page)
{
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name ? name : path, '.');
    size_t stem = dot ? (size_t)(dot - path) : strlen(path);
    buffer b = {0};
    buffer_bytes(&b, path, stem);
    buffer_printf(&b, "-%zu%s", page, dot ? dot : "");
    return b.data;
}

static netprof_err writer_write_sheets(job *j, const char *path)
{
    netprof_err err = NETPROF_OK;
    bool one = j->pages.count == 1;
    if (!one && strcmp(path, "-") == 0)
        return writer_fail(j->error, NETPROF_ERR_ARG, "several pages do not fit into one stream; a PDF or HTML does");
    for (size_t i = 0; i < j->pages.count && !err; i++) {
        buffer out = {0};
        canvas *c = j->pages.pages[i];
        writer_progress(j, "drawing", i, j->pages.count);
        bool ok = true;
        if (j->o->format == DOCUMENT_SVG)
            canvas_svg(c, &out, false);
        else if (j->o->format == DOCUMENT_TIKZ)
            canvas_tikz(c, &out);
        else if (j->o->format == DOCUMENT_EPS)
            ok = writer_write_eps(c, &out);
        else
            ok = writer_write_png(c, j->o->scale > 0 ? j->o->scale : 2, &out);
        char *name = one ? NULL : writer_numbered(path, i + 1);
        err = ok ? file_write(one ? path : name, out.data, out.size, j->error)
                 : writer_fail(j->error, NETPROF_ERR_IO, "could not draw a page");
        free(name);
        buffer_free(&out);
    }
    return err;
}

// ---- letters that are missing ----

// In files that are drawn here: who reads SVG or HTML has other fonts.
static void writer_say_missing(const job *j)
{
    static const struct {
        const char *letters, *package;
    } scripts[SCRIPTS] = {[SCRIPT_CJK] = {"Chinese, Japanese or Korean", "fonts-noto-cjk"},
                          [SCRIPT_EMOJI] = {"the emoji or", "fonts-noto-color-emoji"},
                          [SCRIPT_ARABIC] = {"Arabic", "fonts-noto-core"},
                          [SCRIPT_HEBREW] = {"Hebrew", "fonts-noto-core"},
                          [SCRIPT_INDIC] = {"Indic", "fonts-noto-core"},
                          [SCRIPT_THAI] = {"Thai", "fonts-noto-core"},
                          [SCRIPT_OTHER] = {"all", "fonts-noto-core"}};
    unsigned missing = 0;
    for (size_t i = 0; i < j->pages.count && j->warn; i++)
        missing |= canvas_missing(j->pages.pages[i]);
    for (int s = 0; s < SCRIPTS && j->warn; s++) {
        char text[200];
        if (!(missing & 1u << s)) continue;
        snprintf(text, sizeof text,
                 "no font here has %s letters that some names have: boxes stand for them; install one (%s)",
                 scripts[s].letters, scripts[s].package);
        j->warn(j->user, text);
    }
}

// ---- together ----

static netprof_err writer_write_drawn(job *j, const char *path)
{
    for (size_t i = 0; i < j->pages.count; i++)
        canvas_dark(j->pages.pages[i], j->o->theme == DOCUMENT_DARK);
    if (j->o->format != DOCUMENT_SVG && j->o->format != DOCUMENT_TIKZ) writer_say_missing(j);
    return j->o->format == DOCUMENT_PDF ? writer_write_pdf_file(j, path) : writer_write_sheets(j, path);
}

static netprof_err writer_write_data(job *j, const chart *x)
{
    buffer out = {0};
    document_data(x, &out);
    netprof_err err = file_write(j->o->data, out.data, out.size, j->error);
    buffer_free(&out);
    return err;
}

static netprof_err writer_write_pages(job *j, const char *path)
{
    const chart *only = j->o->chart ? document_find(j->d, j->o->chart) : NULL;
    if (only && j->o->figure)
        pages_figure(&j->pages, only, j->o->figure, j->warn, j->user);
    else if (only)
        pages_chart(&j->pages, only, j->o->paper);
    else
        pages_make(&j->pages, j->d, j->o->paper);
    j->plots.texts = j->o->format == DOCUMENT_PDF || j->o->format == DOCUMENT_PNG;
    plots_make(&j->plots, j->pages.pages, j->pages.count, j->o->no_gnuplot, j->warn, j->user);
    netprof_err err = only && j->o->data ? writer_write_data(j, only) : NETPROF_OK;
    return err ? err : writer_write_drawn(j, path);
}

static netprof_err writer_write_html(job *j, const char *path)
{
    buffer out = {0};
    document_html(j->d, j->o, &out, j->warn, j->user);
    netprof_err err = file_write(path, out.data, out.size, j->error);
    buffer_free(&out);
    return err;
}

// ---- many single charts ----

// Draws so many charts that one run of gnuplot is worth its start, and none takes long.
static netprof_err writer_write_batch(const job *like, const document_file *files, size_t count)
{
    job j = *like;
    netprof_err err = NETPROF_OK;
    for (size_t i = 0; i < count; i++) {
        const chart *x = document_find(j.d, files[i].chart);
        if (x)
            pages_chart(&j.pages, x, j.o->paper);
        else
            err = writer_fail(j.error, NETPROF_ERR_ARG, "no such chart");
    }
    if (!err) plots_make(&j.plots, j.pages.pages, j.pages.count, j.o->no_gnuplot, j.warn, j.user);
    for (size_t i = 0; i < count && !err; i++) {
        job one = j;
        one.pages = (page_set){.pages = &j.pages.pages[i], .count = 1};
        arrput(one.pages.sections, j.pages.sections[i]);
        err = writer_write_drawn(&one, files[i].path);
        arrfree(one.pages.sections);
    }
    plots_free(&j.plots);
    pages_free(&j.pages);
    return err;
}

netprof_err document_write_charts(document *d, const document_file *files, size_t count, const document_options *o,
                                  void (*warn)(void *user, const char *text), netprof_error *error)
{
    enum { BATCH = 32 };
    document_options each = *o;
    each.chart = "";      // no page around it
    each.progress = NULL; // of single sheets
    const job like = {.d = d, .o = &each, .warn = warn, .user = o->user, .error = error};
    netprof_err err = NETPROF_OK;
    for (size_t i = 0; i < count && !err; i += BATCH) {
        if (o->progress) o->progress(o->user, "drawing chart", i, count);
        err = writer_write_batch(&like, files + i, count - i < BATCH ? count - i : BATCH);
    }
    return err;
}

static bool writer_has_letters(void)
{
    canvas *c = canvas_open(1, 1);
    bool has = canvas_has_letters(c);
    canvas_close(c);
    return has;
}

netprof_err document_write(document *d, const char *path, const document_options *o,
                           void (*warn)(void *user, const char *text), netprof_error *error)
{
    static const document_options defaults;
    job j = {.d = d, .o = o ? o : &defaults, .warn = warn, .user = o ? o->user : NULL, .error = error};
    if (j.o->chart && !document_find(d, j.o->chart)) return writer_fail(error, NETPROF_ERR_ARG, "no such chart");
    if (!writer_has_letters())
        return writer_fail(error, NETPROF_ERR_IO,
                           "no font was found, so no letter can be drawn: install one "
                           "(fonts-dejavu-core, or dejavu-sans-fonts), see fc-list");
    netprof_err err = j.o->format == DOCUMENT_HTML ? writer_write_html(&j, path) : writer_write_pages(&j, path);
    plots_free(&j.plots);
    pages_free(&j.pages);
    return err;
}
