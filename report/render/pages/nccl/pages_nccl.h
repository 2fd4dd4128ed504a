// The report of NCCL Inspector logs, drawn from a view alone: from the logs or from a saved result it is the same.
#ifndef NETPROF_PAGES_NCCL_H
#define NETPROF_PAGES_NCCL_H

#include "render/document/document.h"
#include "analysis/nccl/view/nccl_view_model.h"
#include "render/pages/pages_kind.h"

extern const pages_kind pages_nccl_kind;

document *pages_nccl(const nccl_view *v, bool brief); // brief: only the first page

// The single charts, and the file of each without its ending, named as NVIDIA's exporter does:
//     summary/scatter_plot_CLASS_COLL, summary/combined_scatter_plot_CLASS_COLL,
//     summary/msg_size_BYTES_HUMAN/histograms/histogram_CLASS_COLL_BYTES, .../boxplots/boxplot_CLASS_COLL_BYTES
// and charts/NAME for the charts that the exporter does not draw. A collective's name is made fit for a path.
typedef struct pages_nccl_file {
    char chart[32]; // its name in the document
    char path[200];
} pages_nccl_file;

// files: an stb_ds array.
document *pages_nccl_charts(const nccl_view *v, pages_nccl_file **files);

#endif
