// Writes a document as one HTML page that needs nothing else: no script, no font, no picture from elsewhere.
//
// It is well-formed XML at the same time, so that a parser can check every bit of escaping. Charts are inline SVG with
// real text, laid out twice: for wide windows and for narrow ones; one of the two is shown. Colours are variables, so
// that the same SVG serves light, dark and print.
#include "document_model.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "interactive.inc"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Widths in units of the canvas: 960 px with 1.5 px each, and what fits a telephone.
enum { WIDE = 0, NARROW, LAYOUTS };
static const double full_width[LAYOUTS] = {640, 300}, gutter = 24;

typedef struct layout {
    canvas *c;
    double width;
    canvas **more; // arr: of rows that stand alone those after the first, so that a page may end between them
} layout;

typedef struct writer {
    document *d;
    buffer *out;
    document_theme theme;
    bool interactive, letter;
    page_item *order; // arr: the items as they are on paper, and which of them begin a page
    layout *layouts;  // [2 * LAYOUTS] of each item: left or only chart, right chart
    bool used[INK_COUNT];
    size_t id; // of what is drawn once and used twice: the last one
} writer;

static void html_order_items(writer *w, document_paper paper)
{
    page_set pages = {0};
    pages_make(&pages, w->d, paper);
    w->order = pages.items;
    pages.items = NULL;
    pages_free(&pages);
}

static layout *html_layouts_of(const writer *w, size_t item, bool right)
{
    return &w->layouts[(2 * item + right) * LAYOUTS];
}

// ---- laying out ----

static void html_mark_inks(writer *w, const canvas *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const canvas_op *op = &c->ops[i];
        w->used[op->fill] = w->used[op->stroke] = true;
        for (size_t k = 0; k < op->columns * op->rows; k++)
            if (op->inks[k] < INK_COUNT) w->used[op->inks[k]] = true;
        for (size_t k = 0; op->plot && k < op->plot->plot.series_count; k++)
            w->used[op->plot->plot.series[k].ink] = true;
    }
}

// share: of the height that it asks for, where it bears that: as on paper.
static canvas *html_draw(writer *w, const chart *x, double width, double share, size_t from, size_t count)
{
    canvas *measure = canvas_open(width, 1);
    double height = x->height(x, measure, width, from, count) * (x->squeeze > 0 ? fmin(share, 1) : 1);
    canvas_close(measure);
    canvas *c = canvas_open(width, height);
    c->interactive = w->interactive;
    canvas_group(c, x->title && *x->title ? x->title : x->name, x->question ? x->question : "");
    x->draw(x, c, (canvas_box){0, 0, width, height}, from, count);
    canvas_group_end(c);
    html_mark_inks(w, c);
    return c;
}

static void html_lay_out(writer *w, layout *to, const chart *x, double width, double share)
{
    size_t rows = x->rows ? x->rows : 1;
    *to = (layout){html_draw(w, x, width, share, 0, x->rows_alone ? 1 : rows), width, NULL};
    for (size_t row = 1; row < rows && x->rows_alone; row++)
        arrput(to->more, html_draw(w, x, width, 1, row, 1));
}

static void html_count_fault(void *user, canvas_fault fault, const char *text, const char *other)
{
    (void)fault, (void)text, (void)other;
    ++*(size_t *)user;
}

static void html_forget(layout *x)
{
    canvas_close(x->c);
    for (size_t i = 0; i < arrlenu(x->more); i++)
        canvas_close(x->more[i]);
    arrfree(x->more);
    *x = (layout){0};
}

static size_t html_faults(const canvas *c)
{
    size_t faults = 0;
    canvas_check(c, (canvas_box){0, 0, c->width, c->height}, html_count_fault, &faults);
    return faults;
}

// For telephones, where the chart can be drawn as narrow as that; else the wide one is scrolled.
static void html_lay_out_narrow(writer *w, layout *to, const chart *x)
{
    html_lay_out(w, to, x, full_width[NARROW], 1);
    size_t faults = html_faults(to->c);
    for (size_t i = 0; i < arrlenu(to->more); i++)
        faults += html_faults(to->more[i]);
    if (faults) html_forget(to);
}

static void html_lay_out_chart(writer *w, size_t item, bool right, const chart *x, double part, double share)
{
    layout *to = html_layouts_of(w, item, right);
    if (x->is_table) return;
    html_lay_out(w, &to[WIDE], x, part < 1 ? floor((full_width[WIDE] - gutter) * part) : full_width[WIDE], share);
    html_lay_out_narrow(w, &to[NARROW], x);
    if (!to[NARROW].c) return;
    canvas_share(to[NARROW].c, to[WIDE].c, &w->id);
    if (x->twin.count) canvas_drop_tips(to[NARROW].c); // a finger does not hover: the table says it
}

static void html_lay_out_all(writer *w)
{
    const document *d = w->d;
    w->layouts = memory_calloc(d->item_count * 2 * LAYOUTS, sizeof *w->layouts);
    for (size_t place = 0; place < arrlenu(w->order); place++) {
        size_t i = w->order[place].item;
        double share = w->order[place].share;
        const document_item *item = &d->items[i];
        if (item->kind == ITEM_CHART) html_lay_out_chart(w, i, false, &item->chart, 1, share);
        if (item->kind != ITEM_BESIDE) continue;
        html_lay_out_chart(w, i, false, &item->chart, item->left_share, share);
        html_lay_out_chart(w, i, true, &item->right, 1 - item->left_share, share);
    }
}

static size_t html_layout_count(const writer *w)
{
    return w->d->item_count * 2 * LAYOUTS;
}

static void html_make_plots(writer *w, plots *p, const document_options *o, void (*warn)(void *user, const char *text),
                            void *user)
{
    canvas **canvases = memory_array(NULL, html_layout_count(w), sizeof *canvases);
    size_t count = 0;
    for (size_t i = 0; i < html_layout_count(w); i++)
        if (w->layouts[i].c) canvases[count++] = w->layouts[i].c;
    plots_make(p, canvases, count, o->no_gnuplot, warn, user);
    free(canvases);
}

// ---- style ----

static void html_write_variables(writer *w, bool dark)
{
    for (int ink = INK_NONE + 1; ink < INK_COUNT; ink++) {
        theme_rgb c = theme_color((theme_ink)ink, dark);
        if (w->used[ink]) buffer_printf(w->out, "--i%d:#%02x%02x%02x;", ink, c.red, c.green, c.blue);
    }
}

static void html_write_classes(writer *w)
{
    // What is drawn is not filled, unless an ink says so: that rule comes later.
    for (int ink = INK_NONE + 1; ink < INK_COUNT; ink++)
        if (w->used[ink]) buffer_printf(w->out, ".s%d{fill:none;stroke:var(--i%d)}", ink, ink);
    for (int ink = INK_NONE + 1; ink < INK_COUNT; ink++)
        if (w->used[ink]) buffer_printf(w->out, ".f%d{fill:var(--i%d)}", ink, ink);
    buffer_text(w->out, "\n");
    for (int type = 0; type < TYPES; type++) {
        buffer_printf(w->out, ".t%d{font:%d ", type, theme_weight((theme_type)type));
        buffer_number(w->out, theme_size((theme_type)type));
        buffer_printf(w->out, "px %s}", theme_family((theme_type)type));
    }
    buffer_text(w->out, "\n");
}

// The inks that the page itself takes, under the names that the sheet below has for them.
static const struct {
    const char *name;
    theme_ink ink;
} page_inks[] = {{"paper", INK_PAPER}, {"text", INK_TEXT},   {"second", INK_SECONDARY},
                 {"hair", INK_HAIR},   {"field", INK_EMPTY}, {"link", INK_RECEIVED_TEXT}};

static const char sheet[] =
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-behavior:smooth}\n"
    "body{margin:0 auto;max-width:1024px;padding:24px 32px 48px;background:var(--paper);color:var(--text);"
    "font:15px/1.5 Inter,\"Helvetica Neue\",Arial,\"DejaVu Sans\",sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:32px;line-height:1.15;margin:2px 0 6px;letter-spacing:-.01em}\n"
    "h2{font-size:26px;line-height:1.2;margin:56px 0 4px;padding-top:16px;border-top:1px solid var(--hair)}\n"
    "h3{font-size:18px;line-height:1.3;margin:0 0 8px}\n"
    "h3 small{font-size:14px;font-weight:400;color:var(--second);margin-left:6px}\n"
    "p{margin:4px 0}\n"
    ".brand,.sub,footer,.note{color:var(--second)}\n"
    ".brand b{color:var(--link);margin-right:8px}\n"
    ".sub,.note,footer{font-size:13.5px}\n"
    ".verdict{margin:20px 0 8px;padding:14px 20px;border-left:6px solid var(--mark);background:var(--wash)}\n"
    ".verdict h2{font-size:13px;letter-spacing:.04em;margin:0 0 6px;padding:0;border:0;color:var(--mark)}\n"
    ".verdict ul{list-style:none;margin:0;padding:0}\n"
    ".verdict li{display:grid;grid-template-columns:18px 74px minmax(0,1fr);align-items:baseline;padding:2px "
    "0}\n"
    ".verdict li svg{width:12px;height:12px;align-self:center}\n"
    ".word{font-size:12.5px;font-weight:600}\n"
    "nav{margin:14px 0 0;font-size:13.5px}\n"
    "nav ul{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:2px 16px}\n"
    "a{color:var(--link);text-decoration:none}\n"
    ".verdict a{color:inherit;text-decoration:underline}\n"
    "a:hover,a:focus{text-decoration:underline}\n"
    "figure{margin:36px 0 0;padding:0}figure:target>h3,h2:target{background:var(--field);box-shadow:-8px 0 "
    "var(--link)}\n"
    ".beside{display:grid;gap:0 36px;grid-template-columns:minmax(0,1fr)}\n"
    ".scroll{overflow-x:auto;overflow-y:hidden;max-width:100%}\n"
    ".scroll:focus-visible{outline:2px solid var(--link);outline-offset:2px}\n"
    ".scroll svg{display:block;width:calc(var(--w)*1.5px);max-width:100%;min-width:calc(var(--w)*1.25px);"
    "height:auto}\n"
    ".narrow{display:none}\n"
    // A table that goes on beyond an edge has a shadow there; what is at its end covers that.
    ".scroll:not(.wide,.narrow,.only){background:linear-gradient(90deg,var(--paper) 45%,transparent) 0 0/48px 100% "
    "local,"
    "linear-gradient(270deg,var(--paper) 45%,transparent) 100% 0/48px 100% local,"
    "linear-gradient(90deg,var(--second),transparent) 0 0/9px 100%,"
    "linear-gradient(270deg,var(--second),transparent) 100% 0/9px 100%;background-repeat:no-repeat}\n"
    "details{margin:8px 0 0;font-size:13.5px}\n"
    "summary{cursor:pointer;color:var(--second)}\n"
    "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;margin:6px 0}\n"
    "th,td{padding:3px 12px 3px 0;border-bottom:1px solid var(--hair);text-align:left;vertical-align:top;"
    "white-space:nowrap}\n"
    "td.long{white-space:normal;min-width:14em;max-width:44em}\n"
    "thead th{color:var(--second);font-weight:400}\n"
    "tbody th{font-weight:500}\n"
    "tbody tr:hover{background:var(--field)}\n"
    ".r,td,.n tbody th{text-align:right}td.l,td.long{text-align:left}\n"
    "footer{margin:56px 0 0;padding-top:10px;border-top:1px solid var(--hair)}\n"
    "@media (min-width:821px){.beside{grid-template-columns:minmax(0,var(--l)) minmax(0,var(--r))}}\n"
    "@media screen and (min-width:1100px){body{max-width:1184px}.scroll svg{width:calc(var(--w)*1.75px)}}\n"
    "@media screen and (min-width:1600px){body{max-width:1840px}main{display:grid;"
    "grid-template-columns:repeat(2,minmax(0,1fr));gap:0 48px;align-items:start}main>*{grid-column:1/-1;min-width:0}"
    "main>figure.half{grid-column:auto}.scroll svg{width:calc(var(--w)*1.4px);min-width:0}"
    ".beside .scroll svg{width:calc(var(--w)*2.2px)}main>figure.alone .scroll svg{width:calc(var(--w)*1.9px)}}\n"
    // A tablet has room for the wide charts, with whole names; a telephone has not.
    "@media screen and (min-width:681px) and (max-width:820px){.scroll svg{min-width:0}}\n"
    "@media screen and (max-width:680px){.wide{display:none}.narrow{display:block}.scroll "
    "svg{width:calc(var(--w)*2.5px)}}\n"
    "@media screen and (max-width:600px){body{padding:16px 16px 40px}h1{font-size:26px}h2{font-size:22px}"
    ".verdict{padding:12px}.verdict li{grid-template-columns:18px 70px minmax(0,1fr)}"
    "h3 small{display:block;margin:0}.scroll svg{min-width:calc(var(--w)*1.22px)}"
    ".swipe h3::after{content:\"\\2192  wider than this screen: swipe it sideways\";display:block;font-size:13px;"
    "font-weight:400;color:var(--link)}}\n";

static const char printed_sheet[] =
    "@media print{body{padding:0;max-width:none;font-size:8.6pt;line-height:1.35}nav,details:not([open]){display:none}"
    ".page{break-before:page}.page{margin-top:0}h2{font-size:14pt;margin:18pt 0 2pt;padding-top:8pt}"
    "h3{font-size:11pt;margin:0 0 3pt}h3 small,.sub,.note,footer,.word{font-size:8pt}figure{margin:13pt 0 "
    "0}p{margin:2pt 0}"
    ".verdict{margin:8pt 0 4pt;padding:6pt 12pt}.verdict li{padding:0}"
    "svg,tr,li,.verdict,.beside{break-inside:avoid}h2,h3,thead,.sub{break-after:avoid}.note{break-before:avoid}"
    ".beside{grid-template-columns:minmax(0,var(--l)) minmax(0,var(--r));gap:0 18pt}a{color:inherit}"
    ".scroll{overflow:visible;background:none}.scroll svg{width:100%;min-width:0}table{width:100%;font-size:7.4pt;"
    "line-height:1.2;margin:2pt 0}th,td{white-space:normal;overflow-wrap:anywhere;padding:.7pt 5pt .7pt 0}"
    "footer{margin:12pt 0 0}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n";

// What a narrow chart shares with the wide one is squeezed, but for the width of its lines.
static const char shared_sheet[] =
    "@media screen and (max-width:820px){path[stroke^=var]{vector-effect:non-scaling-stroke;stroke-width:1.5}}\n";

// Of what the script makes.
static const char asked_sheet[] =
    "svg.asked{touch-action:pan-y;cursor:crosshair;-webkit-user-select:none;user-select:none}\n"
    ".magnified svg.time path{vector-effect:non-scaling-stroke}\n"
    ".magnified svg.time .m path{vector-effect:none}\n" // the rows of a picture are lines as wide as they are high
    ".cursor{stroke:var(--text);stroke-width:1;fill:none;pointer-events:none}\n"
    ".own-tics path{stroke:var(--second);stroke-width:.6}.own-tics text{font:6.6px Inter,\"DejaVu Sans\",sans-serif;"
    "fill:var(--second)}\n"
    ".readout{position:fixed;left:0;right:0;bottom:0;max-height:38vh;overflow:auto;padding:8px 32px;"
    "background:var(--field);border-top:2px solid var(--link);display:flex;flex-wrap:wrap;gap:4px 24px;"
    "align-items:center;font-size:13.5px}\n"
    ".readout[hidden]{display:none}.readout "
    "p{margin:0;font-weight:600;min-width:22em;font-variant-numeric:tabular-nums}\n"
    ".readout ul{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:2px 22px;"
    "font-variant-numeric:tabular-nums;width:100%}\n"
    "button{font:inherit;color:var(--link);background:none;border:1px solid var(--second);border-radius:4px;"
    "min-width:40px;min-height:40px;cursor:pointer;margin-right:4px}\n"
    "button.sort{all:unset;cursor:pointer;box-sizing:border-box}button.sort:focus-visible,button:focus-visible,"
    "input:focus-visible{outline:2px solid var(--link);outline-offset:2px}\n"
    "button.sort::after{content:\" \\2195\"}[aria-sort=descending] "
    "button.sort::after{content:\" \\2193\"}[aria-sort=ascending] button.sort::after{content:\" \\2191\"}\n"
    ".filter{display:block;font-size:13.5px;color:var(--second);margin:6px 0 0}.filter input{font:inherit;"
    "color:var(--text);background:var(--paper);border:1px solid var(--second);border-radius:4px;padding:4px 8px;"
    "min-height:32px}\n"
    "@media screen and (max-width:820px){.readout{padding:8px 16px}.readout p{min-width:0}}\n"
    "@media print{.readout,.filter,.cursor,.own-tics{display:none}button.sort::after{content:\"\"}}\n";

static void html_write_page_variables(writer *w, bool dark)
{
    for (size_t i = 0; i < sizeof page_inks / sizeof *page_inks; i++) {
        theme_rgb c = theme_color(page_inks[i].ink, dark);
        buffer_printf(w->out, "--%s:#%02x%02x%02x;", page_inks[i].name, c.red, c.green, c.blue);
    }
}

static const char *const schemes[] = {
    [DOCUMENT_AUTO] = "light dark", [DOCUMENT_LIGHT] = "light", [DOCUMENT_DARK] = "dark"};

// On one line of a sheet, in the largest type in which it fits, as in the PDF; other fonts than Inter are wider.
static double html_printed_title(const writer *w)
{
    static const theme_type types[] = {TYPE_TITLE, TYPE_TITLE_LONG, TYPE_PART};
    const double width = .82 * (page_box(w->letter ? PAPER_LETTER : PAPER_A4).width - 2 * PAGE_MARGIN);
    canvas *measure = canvas_open(1, 1);
    size_t i = 0;
    while (w->d->title && i + 1 < sizeof types / sizeof *types &&
           canvas_text_width(measure, w->d->title, types[i]) > width)
        i++;
    canvas_close(measure);
    return theme_size(types[i]);
}

// Printed pages are light, whatever the theme.
static void html_write_style(writer *w)
{
    buffer_printf(w->out, "<style>\n:root{color-scheme:%s;", schemes[w->theme]);
    html_write_page_variables(w, false);
    html_write_variables(w, false);
    buffer_text(w->out, "}\n");
    if (w->theme != DOCUMENT_LIGHT) {
        buffer_text(w->out, w->theme == DOCUMENT_DARK ? "@media screen{:root{"
                                                      : "@media screen and (prefers-color-scheme:dark){:root{");
        html_write_page_variables(w, true);
        html_write_variables(w, true);
        buffer_text(w->out, "}}\n");
    }
    html_write_classes(w);
    buffer_text(w->out, CANVAS_SVG_RULES "\n");
    buffer_text(w->out, sheet);
    buffer_printf(w->out,
                  "@page{size:%s;margin:14mm;@bottom-right{content:counter(page) \" / \" counter(pages);"
                  "font:6.5pt sans-serif;color:#5b6470}}\n",
                  w->letter ? "letter" : "A4");
    buffer_text(w->out, printed_sheet);
    buffer_text(w->out, "@media print{h1{font-size:");
    buffer_number(w->out, html_printed_title(w));
    buffer_text(w->out, "pt}}\n");
    if (w->id) buffer_text(w->out, shared_sheet);
    if (w->interactive) buffer_text(w->out, asked_sheet);
    buffer_text(w->out, "</style>\n");
}

// ---- pieces ----

static void html_write_element(writer *w, const char *open, const char *text, const char *close)
{
    buffer_text(w->out, open);
    buffer_escaped(w->out, text);
    buffer_text(w->out, close);
}

static void html_write_mark(writer *w, severity s)
{
    canvas *c = canvas_open(8, 8);
    canvas_mark(c, 4, 4, s);
    canvas_svg(c, w->out, true);
    canvas_close(c);
}

// The marks' inks must be known before the style is written.
static void html_use_mark_inks(writer *w)
{
    static const theme_ink page[] = {INK_PAPER, INK_OK, INK_INFO, INK_WATCH, INK_BAD};
    for (size_t i = 0; i < sizeof page / sizeof *page; i++)
        w->used[page[i]] = true;
    for (int s = SEVERITY_OK; s < SEVERITIES; s++)
        w->used[theme_severity_field((severity)s)] = true;
}

static bool html_is_headed(const chart *x)
{
    return x->title && *x->title;
}

static void html_write_line(writer *w, const document_line *line)
{
    const chart *x = line->severity > SEVERITY_INFO ? document_chart_of(w->d, line->text) : NULL;
    buffer_text(w->out, "<span>");
    if (line->question) html_write_element(w, "<strong>", line->question, "</strong> ");
    html_write_element(w, "", line->text, "");
    if (x) {
        buffer_printf(w->out, " <a href=\"#%s\">", x->name);
        html_write_element(w, "", x->title, "</a>");
    }
    buffer_text(w->out, "</span></li>\n");
}

static void html_write_verdict(writer *w)
{
    const document *d = w->d;
    severity worst = document_severity(d);
    if (!d->verdict_count) return;
    if (worst == SEVERITY_INFO) worst = SEVERITY_OK; // as on paper
    buffer_printf(w->out, "<section class=\"verdict\" style=\"--mark:var(--i%d);--wash:var(--i%d)\">\n",
                  (int)theme_severity_ink(worst), (int)theme_severity_field(worst));
    buffer_text(w->out, "<h2>VERDICT</h2>\n<ul>\n");
    for (size_t i = 0; i < d->verdict_count; i++) {
        const document_line *line = &d->verdict[i];
        buffer_text(w->out, "<li><span aria-hidden=\"true\">");
        html_write_mark(w, line->severity);
        buffer_printf(w->out, "</span><b class=\"word\" style=\"color:var(--i%d)\">%s</b>",
                      (int)theme_severity_ink(line->severity), theme_severity_word(line->severity));
        html_write_line(w, line);
    }
    buffer_text(w->out, "</ul>\n</section>\n");
}

static void html_write_link(writer *w, const chart *x)
{
    if (!html_is_headed(x)) return;
    buffer_printf(w->out, "<li><a href=\"#%s\">", x->name);
    html_write_element(w, "", x->title, "</a></li>\n");
}

static void html_write_contents(writer *w)
{
    size_t part = 0;
    buffer_text(w->out, "<nav aria-label=\"Contents\">\n<ul>\n");
    for (size_t i = 0; i < w->d->item_count; i++) {
        const document_item *item = &w->d->items[i];
        if (item->kind == ITEM_PART) {
            buffer_printf(w->out, "<li><a href=\"#part-%zu\"><b>", ++part);
            html_write_element(w, "", item->text, "</b></a></li>\n");
        }
        if (part) continue; // a part's charts are found below its heading
        if (item->kind <= ITEM_BESIDE) html_write_link(w, &item->chart);
        if (item->kind == ITEM_BESIDE) html_write_link(w, &item->right);
    }
    buffer_text(w->out, "</ul>\n</nav>\n");
}

// ---- tables ----

// The last bit is that of all columns from there on.
static bool html_is_right(const chart_twin *t, size_t column)
{
    return t->right >> (column < 63 ? column : 63) & 1;
}

static void html_write_cell(writer *w, const chart_twin *t, size_t i)
{
    enum { LONG = 60 };
    size_t column = i % t->columns;
    const char *name = i < t->columns || !column ? "th" : "td";
    // A head cell before data is its row's; where it is a number, the whole table says that.
    const char *scope = i < t->columns ? " scope=\"col\"" : "";
    bool is_head = i < t->columns || !column, right = html_is_right(t, column);
    // Most cells are numbers: they need no class.
    const char *look = right                                  ? i < t->columns ? " class=\"r\"" : ""
                       : strlen(t->cells[i]) > LONG && column ? " class=\"long\""
                       : is_head                              ? ""
                                                              : " class=\"l\"";
    buffer_printf(w->out, "<%s%s%s>", name, scope, look);
    buffer_escaped(w->out, t->cells[i]);
    buffer_printf(w->out, "</%s>", name);
}

static void html_write_row(writer *w, const chart_twin *t, size_t row)
{
    buffer_text(w->out, "<tr>");
    for (size_t i = row * t->columns; i < (row + 1) * t->columns && i < t->count; i++)
        html_write_cell(w, t, i);
    buffer_text(w->out, "</tr>\n");
}

static void html_write_table(writer *w, const chart_twin *t, const char *label)
{
    size_t rows = (t->count + t->columns - 1) / t->columns;
    html_write_element(w, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"", label,
                       html_is_right(t, 0) ? "\">\n<table class=\"n\">\n<thead>\n" : "\">\n<table>\n<thead>\n");
    html_write_row(w, t, 0);
    buffer_text(w->out, "</thead>\n<tbody>\n");
    for (size_t row = 1; row < rows; row++)
        html_write_row(w, t, row);
    buffer_text(w->out, "</tbody>\n</table>\n</div>\n");
}

// A page that answers has all that is drawn, for the cross-hair takes its values from there.
static void html_write_twin(writer *w, const chart *x, const char *label)
{
    chart_twin brief = {0};
    bool all = w->interactive || !x->brief;
    if (!all) x->brief(x, &brief);
    html_write_table(w, all ? &x->twin : &brief, label);
    chart_twin_clear(&brief);
}

// ---- charts ----

static void html_write_layout(writer *w, const layout *x, const char *label, const char *kind)
{
    buffer_printf(w->out, "<div class=\"scroll %s\" tabindex=\"0\" role=\"group\" style=\"--w:", kind);
    buffer_number(w->out, x->width);
    html_write_element(w, "\" aria-label=\"", label, "\">\n");
    canvas_svg(x->c, w->out, true);
    for (size_t i = 0; i < arrlenu(x->more); i++)
        canvas_svg(x->more[i], w->out, true);
    buffer_text(w->out, "</div>\n");
}

// On a wide screen two stand side by side: charts, and tables that are not wide.
static bool html_is_half(const document_item *item)
{
    enum { HALF_COLUMNS = 6 };
    const chart *x = &item->chart;
    return item->kind == ITEM_CHART && (!x->is_table || x->twin.columns <= HALF_COLUMNS);
}

static const document_item *html_item(const writer *w, size_t place)
{
    return &w->d->items[w->order[place].item];
}

// The last of an odd number of halves has no other beside it: it has the whole width.
static bool html_is_alone(const writer *w, size_t place)
{
    size_t before = 0;
    while (before < place && html_is_half(html_item(w, place - before - 1)))
        before++;
    bool next = place + 1 < arrlenu(w->order) && html_is_half(html_item(w, place + 1));
    return before % 2 == 0 && !next;
}

// " class="half page"", of an item at this place; of one without any class nothing.
static void html_write_class(writer *w, size_t place, const char *own, bool swipe)
{
    const char *names[] = {own, swipe ? "swipe" : "", w->order[place].begins_page ? "page" : ""};
    bool any = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!*names[i]) continue;
        buffer_printf(w->out, "%s%s", any ? " " : " class=\"", names[i]);
        any = true;
    }
    if (any) buffer_text(w->out, "\"");
}

static void html_write_chart_content(writer *w, const chart *x, const layout *layouts)
{
    const char *label = html_is_headed(x) ? x->title : x->name;
    bool has_table = x->twin.columns && x->twin.count;
    if (html_is_headed(x)) {
        html_write_element(w, "<h3>", x->title, "");
        if (x->question && *x->question) html_write_element(w, " <small>", x->question, "</small>");
        buffer_text(w->out, "</h3>\n");
    }
    if (layouts[WIDE].c) html_write_layout(w, &layouts[WIDE], label, layouts[NARROW].c ? "wide" : "only");
    if (layouts[NARROW].c) html_write_layout(w, &layouts[NARROW], label, "narrow");
    if (has_table && !x->is_table) html_write_element(w, "<details>\n<summary>Table: ", label, "</summary>\n");
    if (has_table) html_write_twin(w, x, label);
    if (has_table && !x->is_table) buffer_text(w->out, "</details>\n");
    buffer_text(w->out, "</figure>\n");
}

// swipe: it is as wide as on a desk, so that a telephone shows a part of it.
static bool html_is_swiped(const layout *layouts)
{
    return layouts[WIDE].c && !layouts[NARROW].c;
}

static void html_write_chart(writer *w, size_t place)
{
    const document_item *item = html_item(w, place);
    const layout *layouts = html_layouts_of(w, w->order[place].item, false);
    bool half = html_is_half(item);
    buffer_printf(w->out, "<figure id=\"%s\"", item->chart.name);
    html_write_class(w, place, !half ? "" : html_is_alone(w, place) ? "alone" : "half", html_is_swiped(layouts));
    buffer_text(w->out, ">\n");
    html_write_chart_content(w, &item->chart, layouts);
}

static void html_write_beside(writer *w, size_t place)
{
    const document_item *item = html_item(w, place);
    const chart *charts[2] = {&item->chart, &item->right};
    buffer_text(w->out, "<div");
    html_write_class(w, place, "beside", false);
    buffer_text(w->out, " style=\"--l:");
    buffer_number(w->out, item->left_share * 10);
    buffer_text(w->out, "fr;--r:");
    buffer_number(w->out, (1 - item->left_share) * 10);
    buffer_text(w->out, "fr\">\n");
    for (int i = 0; i < 2; i++) {
        const layout *layouts = html_layouts_of(w, w->order[place].item, i);
        buffer_printf(w->out, "<figure id=\"%s\"%s>\n", charts[i]->name,
                      html_is_swiped(layouts) ? " class=\"swipe\"" : "");
        html_write_chart_content(w, charts[i], layouts);
    }
    buffer_text(w->out, "</div>\n");
}

static void html_write_text(writer *w, size_t place, const char *element, const char *own)
{
    buffer_printf(w->out, "<%s", element);
    html_write_class(w, place, own, false);
    html_write_element(w, ">", html_item(w, place)->text, "");
    buffer_printf(w->out, "</%s>\n", element);
}

// The number of a part, as the contents have it.
static size_t html_part_of(const writer *w, size_t item)
{
    size_t part = 0;
    for (size_t i = 0; i <= item; i++)
        part += w->d->items[i].kind == ITEM_PART;
    return part;
}

// As they are on paper, so that a page that is printed is one of the PDF.
static void html_write_items(writer *w)
{
    for (size_t place = 0; place < arrlenu(w->order); place++) {
        size_t item = w->order[place].item;
        switch (w->d->items[item].kind) {
        case ITEM_CHART: html_write_chart(w, place); break;
        case ITEM_BESIDE: html_write_beside(w, place); break;
        case ITEM_PART:
            buffer_printf(w->out, "<h2 id=\"part-%zu\"", html_part_of(w, item));
            html_write_class(w, place, "", false);
            html_write_element(w, ">", w->d->items[item].text, "</h2>\n");
            break;
        case ITEM_SUBLINE: html_write_text(w, place, "p", "sub"); break;
        case ITEM_NOTE: html_write_text(w, place, "p", "note"); break;
        }
    }
}

// ---- the script ----

// The page runs this script and no other: its policy has the script's hash, in base64.
static void html_write_script_hash(writer *w)
{
    enum { BYTES = 32 };
    unsigned char bytes[BYTES];
    for (size_t i = 0; i < BYTES; i++) {
        const char pair[3] = {interactive_sha256[2 * i], interactive_sha256[2 * i + 1], 0};
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    buffer_text(w->out, "; script-src 'sha256-");
    buffer_base64(w->out, bytes, sizeof bytes);
    buffer_text(w->out, "'");
}

static void html_write_script(writer *w)
{
    buffer_text(w->out, "<script>");
    for (size_t i = 0; interactive_lines[i]; i++) {
        if (i) buffer_text(w->out, "\n");
        buffer_text(w->out, interactive_lines[i]);
    }
    buffer_text(w->out, "</script>\n");
}

// ---- the page ----

static void html_write_head(writer *w)
{
    const document *d = w->d;
    buffer_text(w->out, "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
                        "<meta charset=\"utf-8\"/>\n"
                        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                        "style-src 'unsafe-inline'");
    if (w->interactive) html_write_script_hash(w);
    buffer_text(w->out, "\"/>\n"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                        "<meta name=\"color-scheme\" content=\"");
    buffer_text(w->out, schemes[w->theme]);
    buffer_text(w->out, "\"/>\n"
                        "<meta name=\"generator\" content=\"netprof\"/>\n");
    if (d->keywords) html_write_element(w, "<meta name=\"keywords\" content=\"", d->keywords, "\"/>\n");
    if (d->subject) html_write_element(w, "<meta name=\"description\" content=\"", d->subject, "\"/>\n");
    html_write_element(w, "<title>", d->title ? d->title : d->kind, "");
    html_write_element(w, " \xe2\x80\x93 netprof ", d->title ? d->kind : "", "</title>\n");
    html_write_style(w);
    buffer_text(w->out, "</head>\n<body>\n<header>\n");
    html_write_element(w, "<p class=\"brand\"><b>netprof</b> ", d->kind, "</p>\n");
    if (d->title) html_write_element(w, "<h1>", d->title, "</h1>\n");
    for (size_t i = 0; i < d->subline_count; i++)
        html_write_element(w, "<p class=\"sub\">", d->sublines[i], "</p>\n");
    buffer_text(w->out, "</header>\n<main>\n");
}

void document_html(document *d, const document_options *o, buffer *out, void (*warn)(void *user, const char *text),
                   void *user)
{
    writer w = {
        .d = d, .out = out, .theme = o->theme, .interactive = o->interactive, .letter = o->paper == PAPER_LETTER};
    plots made = {.coarse = true};
    html_order_items(&w, o->paper);
    html_lay_out_all(&w);
    html_make_plots(&w, &made, o, warn, user);
    for (size_t i = 0; i < html_layout_count(&w); i++)
        if (w.layouts[i].c) html_mark_inks(&w, w.layouts[i].c); // plots that are missing drew something else
    html_use_mark_inks(&w);
    html_write_head(&w);
    html_write_verdict(&w);
    html_write_contents(&w);
    html_write_items(&w);
    buffer_text(out, "</main>\n");
    if (d->foot) html_write_element(&w, "<footer><p>", d->foot, "</p></footer>\n");
    if (w.interactive) html_write_script(&w);
    buffer_text(out, "</body>\n</html>\n");
    plots_free(&made);
    for (size_t i = 0; i < html_layout_count(&w); i++)
        html_forget(&w.layouts[i]);
    arrfree(w.order);
    free(w.layouts);
}
