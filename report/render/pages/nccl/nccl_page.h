// What the pages about NCCL share, and their parts. Texts that are returned live as long as the page's memory.
#ifndef NETPROF_NCCL_PAGE_H
#define NETPROF_NCCL_PAGE_H

#include "analysis/nccl/view/nccl_view_model.h"
#include "pages_nccl_private.h"
#include "render/base/arena.h"
#include "render/chart/charts_plots.h"
#include "render/document/document.h"
#include "render/pages/pages_signs.h"
#include "render/pages/sheet.h"

typedef struct nccl_page {
    const nccl_view *v;
    document *doc;
    arena *memory;
} nccl_page;

const char *nccl_page_keep(nccl_page *p, number_text n);
const char *nccl_page_size(nccl_page *p, uint64_t bytes); // of a message: "256 MiB"
const char *nccl_page_grouped(nccl_page *p, uint64_t value);
// Of a spread that has samples, else an en dash.
const char *nccl_page_us(nccl_page *p, const nccl_spread *s, double us);
const char *nccl_page_plain(nccl_page *p, const nccl_spread *s, double value);
int64_t nccl_page_wall_ns(uint64_t us); // 0: not known

// ---- the first page ----

void nccl_page_add_table(nccl_page *p);
void nccl_page_add_all_collectives(nccl_page *p);  // where the table of the first page has only some
bool nccl_page_make_curve(nccl_page *p, chart *x); // false: of fewer than three sizes
void nccl_page_add_curve(nccl_page *p);            // and completeness
void nccl_page_add_late(nccl_page *p);
void nccl_page_add_peers(nccl_page *p); // pages_nccl_peers.c
void nccl_page_add_run(nccl_page *p);

// ---- families: the kinds of one class and collective, by size ----

typedef struct nccl_family {
    const char *type, *meaning, *coll;
    double time_us;
    const nccl_view_kind **kinds;
    size_t count;
} nccl_family;

nccl_family *nccl_families_of(nccl_page *p, size_t *count); // those with the most time first
void nccl_family_panels(nccl_page *p, const nccl_view_kind **kinds, size_t count, nccl_panel *panels);
chart nccl_family_boxes(nccl_page *p, chart_head head, const nccl_view_kind **kinds, size_t count, double height);
bool nccl_kind_histogram(nccl_page *p, chart_head head, const nccl_view_kind *k, double height, chart *x);

// ---- the other pages ----

void nccl_page_add_findings(nccl_page *p);
void nccl_page_add_comparison(nccl_page *p);
void nccl_page_add_counters(nccl_page *p);
void nccl_page_add_families(nccl_page *p);
void nccl_page_add_waits(nccl_page *p); // pages_nccl_waits.c
void nccl_page_add_lists(nccl_page *p);

#endif
