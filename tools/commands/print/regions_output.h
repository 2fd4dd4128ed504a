// The output of netprof regions: text, JSON, CSV.
#ifndef TOOLS_REGIONS_OUTPUT_H
#define TOOLS_REGIONS_OUTPUT_H

#include "regions_words.h"

#include <stdio.h>

void regions_print_text(const regions_view *view, FILE *to);
void regions_print_json(const regions_view *view, FILE *to);
void regions_print_csv(const regions_view *view, FILE *to);
void regions_print_csv_values(const regions_view *view, FILE *to);

// Parts of the text.
void regions_print_spans(const regions_view *view, FILE *to);
void regions_print_values(const regions_view *view, FILE *to);
void regions_print_histograms(const regions_node *n, FILE *to); // of the values

#endif
