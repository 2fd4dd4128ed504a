#include "job_explained_json.h"

#include "analysis/base/json_values.h"

static json_object *job_explained_json_layers(const job_explained *e, const uint64_t *sent, const uint64_t *received)
{
    json_object *list = json_new_array();
    for (size_t k = 0; k < e->layer_count; k++) {
        json_object *o = json_new_object();
        json_put_text(o, "layer", e->layers[k]);
        json_put_exact(o, "tx_bytes", sent[k]);
        json_put_exact(o, "rx_bytes", received[k]);
        if (e->at_least[k]) json_put(o, "lower_bound", json_new_boolean(1));
        json_append(list, o);
    }
    return list;
}

json_object *job_explained_json(const job_report *r)
{
    const job_explained *e = &r->explained;
    if (!e->text) return NULL;
    json_object *o = json_new_object(), *hosts = json_new_array();
    json_put_text(o, "text", e->text);
    json_put_number(o, "tx_bytes", e->nic_sent);
    json_put_number(o, "rx_bytes", e->nic_received);
    json_put(o, "layers", job_explained_json_layers(e, e->sent, e->received));
    json_put_exact(o, "within_hosts_bytes", e->within);
    json_put_exact(o, "collective_bytes", e->together);
    json_put_exact(o, "elsewhere_bytes", e->outside);
    json_put(o, "lower_bound", json_new_boolean(e->lower_bound));
    json_put(o, "virtual_interfaces", json_new_boolean(e->is_virtual));
    json_put(o, "hosts_left_out", json_new_boolean(e->partial));
    for (size_t i = 0; i < e->node_count; i++) {
        const job_explained_node *x = &e->nodes[i];
        json_object *host = json_new_object();
        json_put_text(host, "host", r->nodes[x->node].name);
        json_put_number(host, "tx_bytes", x->nic_sent);
        json_put_number(host, "rx_bytes", x->nic_received);
        json_put(host, "lower_bound", json_new_boolean(x->lower_bound));
        json_put(host, "layers", job_explained_json_layers(e, x->sent, x->received));
        json_append(hosts, host);
    }
    json_put(o, "hosts", hosts);
    return o;
}
