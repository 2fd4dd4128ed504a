// The charts that only the report of NCCL logs has. Everything given is copied.
#ifndef NETPROF_PAGES_NCCL_PRIVATE_H
#define NETPROF_PAGES_NCCL_PRIVATE_H

#include "render/chart/chart_private.h"
#include "analysis/nccl/view/nccl_view_model.h"

// pages_nccl_table.c: wire beside waiting, and bandwidth up to the peak. left: rows that have no place here.
chart nccl_chart_table(chart_head head, const nccl_view_row *rows, size_t count, size_t left);
// pages_nccl_complete.c: how much of what must have happened was logged, and why the rest was not.
chart nccl_chart_complete(chart_head head, const nccl_view *v);
// pages_nccl_late.c: host x process of the host.
chart nccl_chart_late(chart_head head, const nccl_view *v);
// pages_nccl_run.c: wire time and skew over the sequence number, one scale.
chart nccl_chart_run(chart_head head, const nccl_view *v);

// pages_nccl_panels.c: calls over the sequence number, a panel for each size: points, or their density.
typedef struct nccl_panel {
    const char *label;
    const nccl_view_kind *kind;
} nccl_panel;
chart nccl_chart_panels(chart_head head, const nccl_panel *panels, size_t count);
// How the values of each are spread; in the same columns.
chart nccl_chart_histograms(chart_head head, const nccl_panel *panels, size_t count);
// All in one, a colour for each.
chart nccl_chart_scatter(chart_head head, const nccl_panel *panels, size_t count);

#endif
