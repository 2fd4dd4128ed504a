#include "chart_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void chart_free_data(void *data)
{
    arena_close(((chart_memory *)data)->memory);
}

// A name is an anchor in HTML and a word of a command: what a file calls its sources is in some of them.
static const char *chart_plain_name(arena *a, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (!name) return "";
    char *copy = arena_copy(a, name, strlen(name) + 1, 1);
    for (char *at = copy; *(at += strspn(at, plain));)
        *at = '_';
    return copy;
}

void *chart_begin(chart *x, chart_head head, size_t size)
{
    arena *a = arena_open();
    chart_memory *m = arena_make(a, 1, size);
    m->memory = a;
    *x = (chart){.name = chart_plain_name(a, head.name),
                 .title = arena_text(a, head.title),
                 .question = arena_text(a, head.question),
                 .rows = 1,
                 .free = chart_free_data,
                 .data = m};
    return m;
}

double chart_even_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    (void)c;
    (void)width;
    (void)from;
    return x->fixed_height + x->row_height * (double)count;
}

void chart_heads(chart_twin *t, uint64_t right, const char *const *heads, size_t count)
{
    t->columns = count;
    t->right = right;
    for (size_t i = 0; i < count; i++)
        chart_cell(t, heads[i]);
}

const char *chart_keep(arena *memory, chart_twin *t, const char *text)
{
    const char *copy = arena_text(memory, text);
    chart_cell(t, copy);
    return copy;
}

static const char *chart_text_at(const chart *x, const char *row, size_t at)
{
    const char *text;
    if (at == CHART_TITLE) return x->title;
    memcpy(&text, row + at, sizeof text);
    return text;
}

size_t chart_pick_rows(chart *x, chart_pick *p, void *rows, size_t size, size_t count, size_t metric, size_t who)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const char *row = (const char *)rows + i * size;
        if (!chart_fits(p, p->metric, chart_text_at(x, row, metric)) ||
            !chart_fits(p, p->who, chart_text_at(x, row, who)))
            continue;
        memmove((char *)rows + kept++ * size, row, size);
    }
    if (!kept) return 0;
    x->rows = kept;
    chart_twin_clear(&x->twin);
    return kept;
}

double chart_widest(canvas *c, const char *const *texts, size_t count, theme_type type, double most)
{
    double widest = 0;
    for (size_t i = 0; i < count && widest < most; i++)
        widest = fmax(widest, canvas_text_width(c, texts[i], type));
    return fmin(widest, most);
}

double chart_pitch(canvas_box box, double fixed, size_t rows, double pitch)
{
    double given = rows ? (box.height - fixed) / (double)rows : pitch;
    return given < pitch ? fmax(given, pitch * .6) : pitch;
}

number_text chart_tic(double value, const char *unit, bool per_s)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;
    number_text n;
    bool bytes = strcmp(unit, "bytes") == 0;
    for (; value >= 1000 && i < sizeof prefixes / sizeof *prefixes - 1; i++)
        value /= 1000;
    const char *symbol = bytes ? "B" : unit;
    bool any = *prefixes[i] || *symbol || per_s;
    snprintf(n.text, sizeof n.text, "%.4g%s%s%.40s%s", value, any && (*prefixes[i] || *symbol) ? NUMBER_SPACE : "",
             prefixes[i], symbol, per_s && value > 0 ? "/s" : "");
    return n;
}
