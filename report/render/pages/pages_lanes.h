// NCCL's calls as lanes on the axis of time that a report has.
#ifndef NETPROF_PAGES_LANES_H
#define NETPROF_PAGES_LANES_H

#include "analysis/nccl/view/nccl_lanes.h"
#include "render/base/arena.h"
#include "render/chart/charts_plots.h"
#include "render/document/document.h"
#include "render/pages/pages_time.h"

#define PAGES_LANES_CHART "nccl-over-time "

// Where the lanes are drawn. above: rows over them with values for the same columns. shift_s: by how much the report moved
// a host's clock; NULL: it moved none.
typedef struct pages_lanes {
    arena *memory;
    const nccl_lanes *lanes; // NULL: there are none
    const pages_time *time;  // its wall_ns is where it begins
    const char *question;    // before how exact the columns are
    const axes_span *phases, *incidents;
    size_t phase_count, incident_count;
    const map_row *above;
    size_t above_count;
    double (*shift_s)(const void *user, const char *host);
    const void *user;
} pages_lanes;

void pages_lanes_add(document *doc, const pages_lanes *p);

#endif
