#include "pairs_json.h"

#include "analysis/base/json_values.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>

enum { PAIRS_LISTED = 1000 };

static json_object *pairs_json_of_cell(const pairs *p, const pairs_cell *x)
{
    json_object *o = json_new_object();
    json_put_text(o, "sender", p->places[x->sender].label);
    json_put_text(o, "sender_host", p->nodes[pairs_node_of(p, x->sender)]);
    json_put_text(o, "receiver", p->places[x->receiver].label);
    json_put_text(o, "receiver_host", p->nodes[pairs_node_of(p, x->receiver)]);
    json_put_exact(o, "bytes", x->bytes);
    json_put_exact(o, "message_count", x->messages);
    json_put_number(o, "mean_receive_ns", pairs_delay_of(x));
    json_put_exact(o, "timed_receive_count", x->delayed);
    return o;
}

json_object *pairs_json(const pairs *p, size_t ranks_told)
{
    json_object *o = json_new_object(), *list = json_new_array();
    pairs_sums s = pairs_sum(p, NULL, NULL);
    size_t *largest, count = pairs_largest(p, PAIRS_LISTED, &largest);
    json_put_text(o, "layer", p->layer);
    json_put_exact(o, "rank_count", ranks_told);
    json_put_exact(o, "between_hosts_bytes", s.between);
    json_put_exact(o, "within_hosts_bytes", s.within);
    json_put_exact(o, "elsewhere_bytes", p->outside_bytes);
    json_put_exact(o, "collective_bytes", p->together_bytes);
    json_put_exact(o, "message_count", s.messages);
    json_put_number(o, "waiting_for_unknown_ns", p->unassigned_ns);
    json_put_number(o, "waiting_for_receivers_ns", p->taken_ns);
    for (size_t i = 0; i < count; i++)
        json_append(list, pairs_json_of_cell(p, &p->cells[largest[i]]));
    json_put(o, "pairs", list);
    json_put_exact(o, "pairs_left_out", s.pairs - count);
    free(largest);
    return o;
}
