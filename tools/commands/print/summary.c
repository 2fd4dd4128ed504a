#include "summary.h"
#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t *summary_troubles(const difference *d, size_t *count)
{
    difference_query query = {0};
    size_t n, kept = 0, *rows = difference_select(d, &query, &n);
    for (size_t i = 0; i < n; i++)
        if (traffic_is_trouble(d, rows[i])) rows[kept++] = rows[i];
    *count = kept;
    return rows;
}

traffic *summary_traffic(const difference *d)
{
    return traffic_make(d);
}

// ---- text ----

void print_traffic_cells(table *t, colour c, const traffic *x)
{
    for (int way = IN; way <= OUT; way++) {
        bool bytes = x->bytes_known[way], bound = x->bytes_bound[way];
        table_cell(t, c, bytes ? words_at_least(bound, words_amount((double)x->bytes[way], "bytes")).text : NULL);
        table_cell(t, c,
                   bytes && !isnan(x->byte_rate[way])
                       ? words_at_least(bound, words_amount_rate(x->byte_rate[way], "bytes")).text
                       : NULL);
        table_cell(t, c,
                   x->packets_known[way]
                       ? words_at_least(x->packets_bound[way], words_amount((double)x->packets[way], "packets")).text
                       : NULL);
    }
}

words_text traffic_share(const traffic *t)
{
    if (isnan(t->share) || !t->known) return (words_text){""};
    return words_at_least(t->bytes_bound[IN] || t->bytes_bound[OUT], words_share(t->share));
}

words_text delta_text(const difference_row *row)
{
    return words_signed(row->magnitude, row->negative);
}

words_text rate_text(const difference_row *row)
{
    return isnan(row->rate_per_s) ? (words_text){""} : words_amount_rate(row->rate_per_s, row->unit);
}

json_object *delta_json(const difference_row *row)
{
    if (!row->negative) return json_exact_value(row->magnitude);
    return memory_check(json_new_double_s(-(double)row->magnitude, delta_text(row).text));
}
