// The report of NCCL Inspector logs.
#include "pages_nccl.h"

#include "nccl_page.h"
#include "render/base/buffer.h"
#include "analysis/base/words.h"

const pages_kind pages_nccl_kind = {
    "NCCL collectives",
    "verdict, collectives, bandwidth, completeness, who is late, the run; findings, comparison, every call, counters, "
    "transfers, lists",
    "collectives bandwidth completeness late peers-bytes peers-delay peers-latest peers-bytes-2 peers-delay-2 "
    "peers-latest-2 run findings all-collectives comparison compared counters nics waits waits-ranks transfers "
    "adapters "
    "calls-* "
    "histograms-* box-* percentiles-* communicators algorithms ranks pairs metrics missing files"};

static void nccl_page_add_head(nccl_page *p)
{
    const nccl_view *v = p->v;
    buffer b = {0};
    document_title(p->doc, v->verdict);
    if (v->ranks)
        buffer_printf(&b, "%s %s on %s %s", number_grouped(v->ranks).text, words_noun(v->ranks, "rank").text,
                      number_grouped(v->hosts).text, words_noun(v->hosts, "host").text);
    if (v->hosts > 1)
        buffer_printf(&b, " (%s" DASH "%s)", v->first_host, v->last_host);
    else if (v->hosts)
        buffer_printf(&b, " (%s)", v->first_host);
    if (v->calls)
        buffer_printf(&b, DOT "%s calls in %s %s", number_grouped(v->calls).text, number_grouped(v->communicators).text,
                      words_noun(v->communicators, "communicator").text);
    if (b.data) document_subline(p->doc, b.data);
    buffer_free(&b);
    if (nccl_page_wall_ns(v->first_dump_us))
        buffer_printf(&b, "%s %s" ARROW "%s UTC", v->recorded_files == v->files ? "calls recorded" : "logs written",
                      number_utc(nccl_page_wall_ns(v->first_dump_us), 0).text,
                      number_utc(nccl_page_wall_ns(v->last_dump_us), 0).text);
    if (b.data) document_subline(p->doc, b.data);
    buffer_free(&b);
    for (size_t i = 0; i < v->sentences.count; i++)
        document_verdict(p->doc, (severity)v->sentences.items[i].severity, v->sentences.items[i].text);
}

static void nccl_page_add_details(nccl_page *p)
{
    document_part(p->doc, "Details");
    nccl_page_add_findings(p);
    nccl_page_add_all_collectives(p);
    nccl_page_add_comparison(p);
    nccl_page_add_counters(p);
    nccl_page_add_waits(p);
    nccl_page_add_families(p);
    document_part(p->doc, "Lists");
    nccl_page_add_lists(p);
}

// "4 Inspector log files (v4.3)", "64 files of netprof's profiler plugin", or both.
static const char *nccl_page_what_was_read(nccl_page *p)
{
    const nccl_view *v = p->v;
    uint64_t logs = v->files > v->recorded_files ? v->files - v->recorded_files : 0;
    const char *of_logs = "", *of_plugin = "";
    if (logs || !v->recorded_files)
        of_logs = arena_format(p->memory, "%s (%.60s)", words_many(logs, "Inspector log file").text,
                               *v->versions ? v->versions : "version not told");
    if (v->recorded_files)
        of_plugin =
            arena_format(p->memory, "%s of netprof's profiler plugin", words_many(v->recorded_files, "file").text);
    return arena_format(p->memory, "%s%s%s", of_logs, *of_logs && *of_plugin ? DOT : "", of_plugin);
}

document *pages_nccl(const nccl_view *v, bool brief)
{
    nccl_page p = {.v = v, .doc = document_open(pages_nccl_kind.name), .memory = arena_open()};
    nccl_page_add_head(&p);
    nccl_page_add_table(&p);
    if (v->calls) nccl_page_add_curve(&p);
    nccl_page_add_late(&p);
    nccl_page_add_peers(&p);
    nccl_page_add_run(&p);
    if (!v->calls)
        document_note(p.doc, v->metrics.count ? "The logs hold no single calls, only averages of Prometheus files."
                                              : "The logs hold no collective: there is nothing to draw.");
    if (!brief) nccl_page_add_details(&p);
    document_foot(p.doc, arena_format(p.memory,
                                      "%s" DOT "netprof %s" DOT
                                      "wire time = shortest time of all ranks; skew = longest \xe2\x88\x92 shortest",
                                      nccl_page_what_was_read(&p), netprof_version()));
    document_metadata(p.doc, pages_nccl_kind.name, "netprof, NCCL, collectives, bandwidth, skew",
                      nccl_page_wall_ns(v->last_dump_us));
    arena_close(p.memory);
    return p.doc;
}
