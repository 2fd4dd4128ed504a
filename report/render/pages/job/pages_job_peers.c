// Who sent to whom, and what of the NICs' bytes that explains.
#include "pages_job_view.h"

#include "render/pages/pages_peers.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>

enum { EXPLAINED_NODES = 8 };

static const double explained_near = .01; // nodes whose shares differ less are not shown

typedef struct explained_order {
    size_t node;
    double rest; // share
} explained_order;

static double job_peers_said(const job_explained *e, const uint64_t *sent)
{
    double sum = 0;
    for (size_t k = 0; k < e->layer_count; k++)
        sum += (double)sent[k];
    return sum;
}

static int job_peers_by_rest(const void *a, const void *b)
{
    const explained_order *x = a, *y = b;
    if (x->rest > y->rest || x->rest < y->rest) return x->rest > y->rest ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

// What a row's NICs sent, by who says that it did; more than that is drawn to the NICs' bytes, and said.
static share_row job_peers_row(const job_view *v, const char *label, double nic, bool lower_bound, const uint64_t *sent)
{
    const job_explained *e = &v->job->explained;
    share_segment *segments = arena_make(v->memory, JOB_LAYERS + 1, sizeof *segments);
    double said = job_peers_said(e, sent);
    for (size_t k = 0; k < e->layer_count; k++)
        segments[k] = (share_segment){.label = e->layers[k],
                                      .text = arena_text(v->memory, number_prefixed((double)sent[k], "B").text),
                                      .value = (double)sent[k],
                                      .ink = (theme_ink)(k ? INK_BLUE + 12 : INK_BLUE + 20)};
    if (nic > said)
        segments[e->layer_count] = (share_segment){.label = "the rest",
                                                   .text = arena_text(v->memory, number_prefixed(nic - said, "B").text),
                                                   .value = nic - said,
                                                   .ink = INK_NONE};
    bool more = false; // than is said: not all layers saw all that they sent
    for (size_t k = 0; k < e->layer_count; k++)
        more |= e->at_least[k];
    number_text percent = job_view_percent(nic > 0 && !(more && lower_bound) ? said / nic : NAN);
    number_text bytes = number_prefixed(nic, "B");
    return (share_row){.label = arena_text(v->memory, label),
                       .right = said > nic ? arena_format(v->memory, "more than the NICs' %s", bytes.text)
                                           : arena_format(v->memory, "%s%s of %s%s",
                                                          more && lower_bound ? ""
                                                          : more              ? "\u2265 "
                                                          : lower_bound       ? "\u2264 "
                                                                              : "",
                                                          percent.text, lower_bound ? "\u2265 " : "", bytes.text),
                       .segments = segments,
                       .count = JOB_LAYERS + 1};
}

// All of them, then those with most that nobody explains.
static void job_peers_add_explained(const job_view *v, document *doc)
{
    const job_report *job = v->job;
    const job_explained *e = &job->explained;
    share_row rows[EXPLAINED_NODES + 1];
    size_t count = 0;
    if (!e->text || !(e->nic_sent > 0)) return;
    explained_order *order = arena_make(v->memory, e->node_count, sizeof *order);
    for (size_t i = 0; i < e->node_count; i++)
        order[i] = (explained_order){i, 1 - job_peers_said(e, e->nodes[i].sent) / fmax(e->nodes[i].nic_sent, 1)};
    qsort(order, e->node_count, sizeof *order, job_peers_by_rest);
    rows[count++] = job_peers_row(v, e->node_count > 1 ? words_many(e->node_count, "node").text : "1 node", e->nic_sent,
                                  e->lower_bound, e->sent);
    size_t unlike = 0;
    double all = 1 - job_peers_said(e, e->sent) / e->nic_sent;
    for (size_t i = 0; i < e->node_count; i++)
        unlike += fabs(order[i].rest - all) > explained_near;
    for (size_t i = 0; i < e->node_count && i < EXPLAINED_NODES && unlike; i++) {
        const job_explained_node *x = &e->nodes[order[i].node];
        rows[count++] = job_peers_row(v, job->nodes[x->node].name, x->nic_sent, x->lower_bound, x->sent);
    }
    document_add(doc, chart_shares((chart_head){"bytes-explained", "Bytes explained",
                                                "what the NICs sent, and who says that it sent this to another node"},
                                   rows, count));
    document_note(doc, arena_format(v->memory, "In words: %s%s", e->text,
                                    e->node_count > 1 && !unlike ? " Every node is alike." : ""));
}

void job_peers(const job_view *v, document *doc)
{
    pages_peers_of_regions(doc, v->memory, &v->job->regions);
    job_peers_add_explained(v, doc);
}
