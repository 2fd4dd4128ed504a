#define _GNU_SOURCE // strtod_l
#include "nccl_line.h"

#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/utf8.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Every function takes where a piece begins and returns where it ends, NULL if it is malformed. The '\n' after the line
// is a control character, which no piece may hold: it ends every loop, so that none counts bytes.

enum { DEPTH = 512 };

static const char *line_skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

// ---- strings ----

static int line_hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool line_hex4(const char *p, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = line_hex_digit(p[i]);
        if (digit < 0) return false;
        *code = *code << 4 | (uint32_t)digit;
    }
    return true;
}

// Returns the end of an escape.
static const char *line_skip_escape(const char *p)
{
    uint32_t code;
    if (p[1] == 'u') return line_hex4(p + 2, &code) ? p + 6 : NULL;
    return p[1] != '\n' && p[1] && strchr("\"\\/bfnrt", p[1]) ? p + 2 : NULL;
}

// Skips plain characters: no quote, backslash or control character, and ASCII.
static const char *line_skip_plain(const char *p)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(' ');
    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        // As signed numbers the bytes beyond ASCII are below the blank, too.
        __m128i stop = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)),
                                    _mm_cmplt_epi8(v, space));
        int mask = _mm_movemask_epi8(stop);
        if (mask) return p + __builtin_ctz((unsigned)mask);
    }
#else
    while (*p != '"' && *p != '\\' && (unsigned char)*p >= ' ' && (unsigned char)*p < 0x80)
        p++;
    return p;
#endif
}

static const char *line_skip_odd(const char *p)
{
    uint32_t code;
    if (*p == '\\') return line_skip_escape(p);
    size_t length = (unsigned char)*p >= 0x80 ? utf8_character(p, &code) : 0;
    return length ? p + length : NULL;
}

// p is after the opening quote.
static const char *line_read_string(const char *p, nccl_text *text)
{
    text->at = p;
    text->escaped = false;
    for (p = line_skip_plain(p); *p != '"'; p = line_skip_plain(p)) {
        text->escaped |= *p == '\\';
        p = line_skip_odd(p);
        if (!p) return NULL;
    }
    text->length = (uint32_t)(p - text->at);
    return p + 1;
}

static char *line_put_code(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

// The character of "\uD83D\uDE00" and the like; moves *p past it.
static uint32_t line_escaped_code(const char **p)
{
    uint32_t code = 0, low = 0;
    line_hex4(*p + 2, &code);
    *p += 6;
    if (code >= 0xd800 && code < 0xdc00 && (*p)[0] == '\\' && (*p)[1] == 'u' && line_hex4(*p + 2, &low) &&
        low >= 0xdc00 && low < 0xe000) {
        *p += 6;
        return 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
    }
    return !code || (code >= 0xd800 && code < 0xe000) ? 0xfffd : code;
}

size_t nccl_text_decode(const nccl_text *text, char *to, size_t size)
{
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    const char *p = text->at, *end = p + text->length;
    char *begin = to, *last = to + size - 1;
    while (p < end && last - to >= 4) { // the longest character
        if (*p != '\\') {
            *to++ = *p++;
        } else if (p[1] == 'u') {
            to = line_put_code(to, line_escaped_code(&p));
        } else {
            const char *letter = strchr(letters, p[1]);
            *to++ = letter ? controls[letter - letters] : p[1];
            p += 2;
        }
    }
    if (p < end) // a piece of a character that had no room
        while (to > begin && ((unsigned char)*p & 0xc0) == 0x80) {
            to--;
            p--;
        }
    *to = 0;
    return (size_t)(to - begin);
}

// ---- numbers ----

static const char *line_skip_digits(const char *p)
{
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

static const char *line_skip_number(const char *p)
{
    if (*p == '-') p++;
    const char *digits = p;
    p = line_skip_digits(p);
    if (p == digits || (*digits == '0' && p - digits > 1)) return NULL;
    if (*p == '.') {
        digits = ++p;
        p = line_skip_digits(p);
        if (p == digits) return NULL;
    }
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        digits = p;
        p = line_skip_digits(p);
        if (p == digits) return NULL;
    }
    return p;
}

static double line_slow_number(const char *p, const char *end);

// "5663.0", "1e3": a whole number that was written as another.
static bool line_whole_of_number(const char *p, const char *end, uint64_t *value)
{
    double number = line_slow_number(p, end);
    bool whole = number >= 0 && number < 9007199254740992.0 && number == floor(number);
    *value = whole ? (uint64_t)number : 0;
    return whole;
}

// *fits: it is a whole number without a sign below 2^64. A larger one is UINT64_MAX, what is no whole number 0.
static const char *line_read_whole(const char *p, uint64_t *value, bool *fits)
{
    const char *begin = p;
    uint64_t v = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        v = v * 10 + (uint64_t)(*p - '0');
    ptrdiff_t digits = p - begin;
    *value = v;
    *fits = true;
    if (digits > 0 && digits < 20 && (*begin != '0' || digits == 1) && *p != '.' && (*p | 0x20) != 'e') return p;
    const char *end = line_skip_number(begin);
    if (end && end != p && digits < 20) {
        *fits = line_whole_of_number(begin, end, value);
        return end;
    }
    *fits = end && end == p && digits == 20 && strncmp(begin, "18446744073709551615", 20) <= 0;
    if (!*fits) *value = end == p && digits >= 20 ? UINT64_MAX : 0;
    return end;
}

static double line_slow_number(const char *p, const char *end)
{
    static locale_t plain; // never freed: the process has one
    char text[512];
    size_t length = (size_t)(end - p);
    locale_t mine = __atomic_load_n(&plain, __ATOMIC_ACQUIRE), none = (locale_t)0;
    if (!mine) {
        mine = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (!mine) memory_exhausted();
        if (!__atomic_compare_exchange_n(&plain, &none, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            freelocale(mine);
            mine = none;
        }
    }
    if (length < sizeof text) { // the line is not ours to change
        memcpy(text, p, length);
        text[length] = 0;
        return strtod_l(text, NULL, mine);
    }
    char *copy = memory_strndup(p, length);
    double value = strtod_l(copy, NULL, mine);
    free(copy);
    return value;
}

// Up to 15 digits and no exponent are exact as quotient of two exact doubles.
static const char *line_read_number(const char *p, double *value)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *begin = p, *end, *point = NULL;
    uint64_t v = 0;
    for (;; p++) {
        if (*p >= '0' && *p <= '9')
            v = v * 10 + (uint64_t)(*p - '0');
        else if (*p == '.' && !point)
            point = p;
        else
            break;
    }
    ptrdiff_t fraction = point ? p - point - 1 : 0, whole = (point ? point : p) - begin;
    if (whole > 0 && (whole == 1 || *begin != '0') && whole + fraction <= 15 && (!point || fraction) &&
        (*p | 0x20) != 'e') {
        *value = (double)v / powers[fraction];
        return p;
    }
    end = line_skip_number(begin);
    if (end) *value = line_slow_number(begin, end);
    return end;
}

// ---- any value ----

static const char *line_skip_word(const char *p)
{
    if (strncmp(p, "true", 4) == 0 || strncmp(p, "null", 4) == 0) return p + 4;
    return strncmp(p, "false", 5) == 0 ? p + 5 : NULL;
}

static const char *line_skip_scalar(const char *p)
{
    nccl_text text;
    if (*p == '"') return line_read_string(p + 1, &text);
    if (*p == '-' || (*p >= '0' && *p <= '9')) return line_skip_number(p);
    return line_skip_word(p);
}

// p is at a key; returns where its value begins.
static const char *line_read_key(const char *p, nccl_text *key)
{
    if (*p != '"') return NULL;
    p = line_read_string(p + 1, key);
    if (!p) return NULL;
    p = line_skip_blanks(p);
    return *p == ':' ? line_skip_blanks(p + 1) : NULL;
}

// Goes through nested lists and objects without recursion.
static const char *line_skip_value(const char *p, unsigned depth)
{
    uint64_t objects[DEPTH / 64] = {0}; // a bit for each level: is it an object
    unsigned outside = depth;
    nccl_text key;
    for (;;) {
        bool opened = *p == '{' || *p == '[';
        if (opened) {
            bool object = *p == '{';
            if (depth >= DEPTH) return NULL;
            if (object)
                objects[depth / 64] |= UINT64_C(1) << depth % 64;
            else
                objects[depth / 64] &= ~(UINT64_C(1) << depth % 64);
            depth++;
            p = line_skip_blanks(p + 1);
            if (*p != (object ? '}' : ']')) {
                if (object && !(p = line_read_key(p, &key))) return NULL;
                continue;
            }
        } else {
            p = line_skip_scalar(p);
            if (!p) return NULL;
        }
        for (;; p++) { // close what ends here
            if (depth == outside) return p;
            if (!opened) p = line_skip_blanks(p);
            bool object = objects[(depth - 1) / 64] >> (depth - 1) % 64 & 1;
            opened = false;
            if (*p == ',') break;
            if (*p != (object ? '}' : ']')) return NULL;
            depth--;
        }
        bool object = objects[(depth - 1) / 64] >> (depth - 1) % 64 & 1;
        p = line_skip_blanks(p + 1);
        if (object && !(p = line_read_key(p, &key))) return NULL;
    }
}

// ---- fields by tables ----

typedef enum field_kind {
    TEXT,
    WHOLE,  // uint64_t
    NUMBER, // double
    FLAG,   // bool
    INSIDE, // an object with fields of its own, in a struct that begins with seen and wrong
    SAME,   // an object whose fields go into this struct
    LIST    // of objects, each read into a struct of its own and folded into this one
} field_kind;

struct object;
typedef struct field {
    const char *name;
    uint8_t length, bit, kind;
    uint16_t offset;
    const struct object *inside;
} field;

typedef struct object {
    const field *fields;
    size_t count;
    void (*fold)(void *into, const void *element); // LIST
} object;

#define NAME(text)       text, sizeof text - 1
#define AT(type, member) offsetof(type, member)

// Bits 0 and 1 of each struct are kept first and second: seen and wrong.
typedef struct marks {
    uint32_t seen, wrong;
} marks;

static const field header_fields[] = {{NAME("id"), 0, TEXT, AT(nccl_header, id), NULL},
                                      {NAME("comm_name"), 1, TEXT, AT(nccl_header, name), NULL},
                                      {NAME("rank"), 2, WHOLE, AT(nccl_header, rank), NULL},
                                      {NAME("n_ranks"), 3, WHOLE, AT(nccl_header, ranks), NULL},
                                      {NAME("nnodes"), 4, WHOLE, AT(nccl_header, nodes), NULL}};
static const object header_object = {header_fields, sizeof header_fields / sizeof *header_fields, NULL};
enum { HEADER_ID = 1, HEADER_NAME = 2, HEADER_RANK = 4, HEADER_RANKS = 8, HEADER_NODES = 16 };

static const field metadata_fields[] = {
    {NAME("inspector_output_format_version"), 0, TEXT, AT(nccl_metadata, version), NULL},
    {NAME("dump_timestamp_us"), 2, WHOLE, AT(nccl_metadata, dump_us), NULL},
    {NAME("hostname"), 1, TEXT, AT(nccl_metadata, host), NULL},
    {NAME("pid"), 3, WHOLE, AT(nccl_metadata, pid), NULL}};
static const object metadata_object = {metadata_fields, sizeof metadata_fields / sizeof *metadata_fields, NULL};
enum { METADATA_HOST = 2, METADATA_DUMP = 4, METADATA_PID = 8 };

typedef struct kernel_event {
    uint32_t seen, wrong;
    uint64_t start_us, stop_us;
} kernel_event;

static const field kernel_fields[] = {{NAME("kernel_start_ts"), 0, WHOLE, AT(kernel_event, start_us), NULL},
                                      {NAME("kernel_stop_ts"), 1, WHOLE, AT(kernel_event, stop_us), NULL}};

static void line_fold_kernel(void *into, const void *element)
{
    nccl_trace *t = &((nccl_perf *)into)->trace;
    const kernel_event *k = element;
    if (k->seen & 1 && k->start_us && (!t->kernel_start_us || k->start_us < t->kernel_start_us))
        t->kernel_start_us = k->start_us;
    if (k->seen & 2 && k->stop_us > t->kernel_stop_us) t->kernel_stop_us = k->stop_us;
}

static const object kernel_object = {kernel_fields, sizeof kernel_fields / sizeof *kernel_fields, line_fold_kernel};
static const field trace_fields[] = {
    {NAME("coll_start_ts"), NCCL_PERF_TRACE, WHOLE, AT(nccl_perf, trace.start_us), NULL},
    {NAME("coll_stop_ts"), NCCL_PERF_TRACE, WHOLE, AT(nccl_perf, trace.stop_us), NULL},
    {NAME("p2p_start_ts"), NCCL_PERF_TRACE, WHOLE, AT(nccl_perf, trace.start_us), NULL},
    {NAME("p2p_stop_ts"), NCCL_PERF_TRACE, WHOLE, AT(nccl_perf, trace.stop_us), NULL},
    {NAME("kernel_events"), NCCL_PERF_TRACE, LIST, 0, &kernel_object}};
static const object trace_object = {trace_fields, sizeof trace_fields / sizeof *trace_fields, NULL};

static const field coll_fields[] = {{NAME("coll"), NCCL_PERF_COLL, TEXT, AT(nccl_perf, coll), NULL},
                                    {NAME("coll_algo"), NCCL_PERF_ALGO, TEXT, AT(nccl_perf, algo), NULL},
                                    {NAME("coll_proto"), NCCL_PERF_PROTO, TEXT, AT(nccl_perf, proto), NULL},
                                    {NAME("coll_sn"), NCCL_PERF_SN, WHOLE, AT(nccl_perf, sn), NULL},
                                    {NAME("coll_msg_size_bytes"), NCCL_PERF_SIZE, WHOLE, AT(nccl_perf, size), NULL},
                                    {NAME("coll_exec_time_us"), NCCL_PERF_TIME, WHOLE, AT(nccl_perf, time_us), NULL},
                                    {NAME("coll_timing_source"), NCCL_PERF_TIMING, TEXT, AT(nccl_perf, timing), NULL},
                                    {NAME("coll_busbw_gbs"), NCCL_PERF_BUS, NUMBER, AT(nccl_perf, bus_gbs), NULL},
                                    {NAME("event_trace_ts"), NCCL_PERF_TRACE, SAME, 0, &trace_object}};
static const object coll_object = {coll_fields, sizeof coll_fields / sizeof *coll_fields, NULL};

static const field p2p_fields[] = {{NAME("p2p"), NCCL_PERF_COLL, TEXT, AT(nccl_perf, coll), NULL},
                                   {NAME("p2p_sn"), NCCL_PERF_SN, WHOLE, AT(nccl_perf, sn), NULL},
                                   {NAME("p2p_peer"), NCCL_PERF_PEER, WHOLE, AT(nccl_perf, peer), NULL},
                                   {NAME("p2p_msg_size_bytes"), NCCL_PERF_SIZE, WHOLE, AT(nccl_perf, size), NULL},
                                   {NAME("p2p_exec_time_us"), NCCL_PERF_TIME, WHOLE, AT(nccl_perf, time_us), NULL},
                                   {NAME("p2p_timing_source"), NCCL_PERF_TIMING, TEXT, AT(nccl_perf, timing), NULL},
                                   {NAME("p2p_busbw_gbs"), NCCL_PERF_BUS, NUMBER, AT(nccl_perf, bus_gbs), NULL},
                                   {NAME("event_trace_ts"), NCCL_PERF_TRACE, SAME, 0, &trace_object}};
static const object p2p_object = {p2p_fields, sizeof p2p_fields / sizeof *p2p_fields, NULL};

static const field stats_fields[] = {{NAME("coll_records"), 0, WHOLE, AT(nccl_stats_line, coll_records), NULL},
                                     {NAME("coll_dropped_total"), 1, WHOLE, AT(nccl_stats_line, coll_dropped), NULL},
                                     {NAME("p2p_records"), 2, WHOLE, AT(nccl_stats_line, p2p_records), NULL},
                                     {NAME("p2p_dropped_total"), 3, WHOLE, AT(nccl_stats_line, p2p_dropped), NULL},
                                     {NAME("proxy_records"), 4, WHOLE, AT(nccl_stats_line, proxy_records), NULL}};
static const object stats_object = {stats_fields, sizeof stats_fields / sizeof *stats_fields, NULL};

enum { PROXY_GPU = 8, PROXY_CREDIT, PROXY_WIRE, PROXY_FLUSH = 12, PROXY_CONSUME, PROXY_AT };
#define PROXY_PHASES (1u << PROXY_GPU | 1u << PROXY_CREDIT | 1u << PROXY_WIRE | 1u << PROXY_FLUSH | 1u << PROXY_CONSUME)

// Older plugins write when a step entered its phases, but not how long they were.
static void line_add_phase(nccl_proxy_line *p, int bit, uint64_t *us, uint64_t from, uint64_t to)
{
    if (p->seen >> bit & 1 || !from || to < from) return;
    *us = to - from;
    p->seen |= UINT32_C(1) << bit;
}

static void line_widen(nccl_proxy_line *p, uint64_t us)
{
    if (us && (!p->from_us || us < p->from_us)) p->from_us = us;
    if (us > p->to_us) p->to_us = us;
}

static void line_finish_step(nccl_proxy_line *p)
{
    const nccl_proxy_times *at = &p->at;
    const uint64_t times[] = {at->send_gpu_us,   at->send_peer_us, at->send_us, at->recv_us,
                              at->recv_flush_us, at->recv_gpu_us,  at->stop_us};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        line_widen(p, times[i]);
    line_add_phase(p, PROXY_GPU, &p->gpu_us, at->send_gpu_us, at->send_peer_us);
    line_add_phase(p, PROXY_CREDIT, &p->credit_us, at->send_peer_us, at->send_us);
    line_add_phase(p, PROXY_WIRE, &p->wire_us, at->send_us, at->stop_us);
    line_add_phase(p, PROXY_WIRE, &p->wire_us, at->recv_us, at->recv_flush_us);
    line_add_phase(p, PROXY_FLUSH, &p->flush_us, at->recv_flush_us, at->recv_gpu_us);
    if (!(p->seen >> PROXY_GPU & 1)) line_add_phase(p, PROXY_CONSUME, &p->gpu_us, at->recv_gpu_us, at->stop_us);
    p->timed = (p->seen & PROXY_PHASES) != 0;
    p->step_bytes = p->bytes;
}

static void line_fold_step(void *into, const void *element)
{
    nccl_proxy_line *p = into, step = *(const nccl_proxy_line *)element;
    line_finish_step(&step);
    p->gpu_us = sum_capped(p->gpu_us, step.gpu_us);
    p->credit_us = sum_capped(p->credit_us, step.credit_us);
    p->wire_us = sum_capped(p->wire_us, step.wire_us);
    p->flush_us = sum_capped(p->flush_us, step.flush_us);
    p->step_bytes = sum_capped(p->step_bytes, step.step_bytes);
    p->timed += step.timed;
    line_widen(p, step.from_us);
    line_widen(p, step.to_us);
}

#define PROXY_TIME(name, member)                                                                                       \
    {                                                                                                                  \
        NAME(name), PROXY_AT, WHOLE, AT(nccl_proxy_line, at.member), NULL                                              \
    }
static const field proxy_time_fields[] = {PROXY_TIME("send_gpu_wait_ts", send_gpu_us),
                                          PROXY_TIME("send_peer_wait_ts", send_peer_us),
                                          PROXY_TIME("send_wait_ts", send_us),
                                          PROXY_TIME("recv_wait_ts", recv_us),
                                          PROXY_TIME("recv_flush_wait_ts", recv_flush_us),
                                          PROXY_TIME("recv_gpu_wait_ts", recv_gpu_us),
                                          PROXY_TIME("proxy_step_stop_ts", stop_us)};
static const object proxy_time_object = {proxy_time_fields, sizeof proxy_time_fields / sizeof *proxy_time_fields, NULL};

#define PROXY_STEP_FIELDS                                                                                              \
    {NAME("trans_size_bytes"), NCCL_PROXY_BYTES, WHOLE, AT(nccl_proxy_line, bytes), NULL},                             \
        {NAME("gpu_produce_us"), PROXY_GPU, WHOLE, AT(nccl_proxy_line, gpu_us), NULL},                                 \
        {NAME("peer_credit_us"), PROXY_CREDIT, WHOLE, AT(nccl_proxy_line, credit_us), NULL},                           \
        {NAME("wire_us"), PROXY_WIRE, WHOLE, AT(nccl_proxy_line, wire_us), NULL},                                      \
        {NAME("flush_us"), PROXY_FLUSH, WHOLE, AT(nccl_proxy_line, flush_us), NULL},                                   \
        {NAME("gpu_consume_us"), PROXY_CONSUME, WHOLE, AT(nccl_proxy_line, gpu_us), NULL},                             \
    {                                                                                                                  \
        NAME("event_trace_ts"), PROXY_AT, SAME, 0, &proxy_time_object                                                  \
    }

static const field step_fields[] = {PROXY_STEP_FIELDS};
static const object step_object = {step_fields, sizeof step_fields / sizeof *step_fields, line_fold_step};
static const field proxy_fields[] = {
    {NAME("record_type"), NCCL_PROXY_KIND, TEXT, AT(nccl_proxy_line, kind), NULL},
    {NAME("direction"), NCCL_PROXY_DIRECTION, TEXT, AT(nccl_proxy_line, direction), NULL},
    {NAME("peer"), NCCL_PROXY_PEER, WHOLE, AT(nccl_proxy_line, peer), NULL},
    {NAME("parent_type"), NCCL_PROXY_PARENT, TEXT, AT(nccl_proxy_line, parent), NULL},
    {NAME("parent_sn"), NCCL_PROXY_PARENT_SN, WHOLE, AT(nccl_proxy_line, parent_sn), NULL},
    {NAME("total_us"), 4, WHOLE, AT(nccl_proxy_line, total_us), NULL},
    {NAME("n_steps_completed"), 5, WHOLE, AT(nccl_proxy_line, steps), NULL},
    {NAME("n_steps_dropped"), 6, WHOLE, AT(nccl_proxy_line, steps_dropped), NULL},
    {NAME("is_final"), 7, FLAG, AT(nccl_proxy_line, final), NULL},
    PROXY_STEP_FIELDS,
    {NAME("steps"), 11, LIST, 0, &step_object}};
static const object proxy_object = {proxy_fields, sizeof proxy_fields / sizeof *proxy_fields, NULL};

// The line itself. p2p_perf and coll_perf share nothing but their shape.
typedef struct top {
    uint32_t seen, wrong;
    nccl_header header;
    nccl_metadata metadata;
    nccl_perf coll, p2p;
    nccl_stats_line stats;
    nccl_proxy_line proxy;
} top;
enum { TOP_HEADER = 1, TOP_METADATA = 2, TOP_COLL = 4, TOP_P2P = 8, TOP_STATS = 16, TOP_PROXY = 32 };

static const field top_fields[] = {{NAME("header"), 0, INSIDE, AT(top, header), &header_object},
                                   {NAME("metadata"), 1, INSIDE, AT(top, metadata), &metadata_object},
                                   {NAME("coll_perf"), 2, INSIDE, AT(top, coll), &coll_object},
                                   {NAME("p2p_perf"), 3, INSIDE, AT(top, p2p), &p2p_object},
                                   {NAME("dump_stats"), 4, INSIDE, AT(top, stats), &stats_object},
                                   {NAME("proxy_trace"), 5, INSIDE, AT(top, proxy), &proxy_object}};
static const object top_object = {top_fields, sizeof top_fields / sizeof *top_fields, NULL};

// The field of that name, looked for from `from` on: fields come in the same order in every line.
static const field *line_find_field(const object *o, size_t *from, const nccl_text *key)
{
    char text[64];
    const char *name = key->at;
    size_t length = key->length;
    if (key->escaped) {
        length = nccl_text_decode(key, text, sizeof text);
        name = text;
    }
    for (size_t i = 0; i < o->count; i++) {
        const field *f = &o->fields[(*from + i) % o->count];
        if (f->length != length || memcmp(f->name, name, length) != 0) continue;
        *from = (size_t)(f - o->fields) + 1;
        return f;
    }
    return NULL;
}

static const char *line_read_object(const char *p, const object *o, void *into, unsigned depth);

static const char *line_read_list(const char *p, const object *o, void *into, unsigned depth)
{
    union {
        marks marks;
        kernel_event kernel;
        nccl_proxy_line step;
    } element;
    p = line_skip_blanks(p + 1);
    if (*p == ']') return p + 1;
    for (;; p = line_skip_blanks(p + 1)) {
        if (*p == '{') {
            memset(&element, 0, sizeof element);
            p = line_read_object(p, o, &element, depth + 1);
            if (p) o->fold(into, &element);
        } else {
            p = line_skip_value(p, depth + 1);
        }
        if (!p) return NULL;
        p = line_skip_blanks(p);
        if (*p == ']') return p + 1;
        if (*p != ',') return NULL;
    }
}

// The value at p; *fits: it is of the field's kind.
static const char *line_read_field(const char *p, const field *f, void *into, bool *fits, unsigned depth)
{
    char *to = (char *)into + f->offset;
    *fits = true;
    switch ((field_kind)f->kind) {
    case TEXT:
        if (*p == '"') return line_read_string(p + 1, (nccl_text *)(void *)to);
        break;
    case WHOLE:
        if (*p >= '0' && *p <= '9') return line_read_whole(p, (uint64_t *)(void *)to, fits);
        break;
    case NUMBER:
        if (*p == '-' || (*p >= '0' && *p <= '9')) return line_read_number(p, (double *)(void *)to);
        break;
    case FLAG:
        *(bool *)(void *)to = *p == 't';
        if (*p == 't' || *p == 'f') return line_skip_word(p);
        break;
    case INSIDE:
        if (*p == '{') {
            memset(to, 0, sizeof(marks));
            return line_read_object(p, f->inside, to, depth + 1);
        }
        break;
    case SAME:
        if (*p == '{') return line_read_object(p, f->inside, to, depth + 1);
        break;
    case LIST:
        if (*p == '[') return line_read_list(p, f->inside, into, depth + 1);
        break;
    }
    *fits = false;
    return line_skip_value(p, depth);
}

// p is at the brace.
static const char *line_read_object(const char *p, const object *o, void *into, unsigned depth)
{
    marks *m = into;
    size_t from = 0;
    nccl_text key;
    p = line_skip_blanks(p + 1);
    if (*p == '}') return p + 1;
    for (;; p = line_skip_blanks(p + 1)) {
        p = line_read_key(p, &key);
        if (!p) return NULL;
        const field *f = line_find_field(o, &from, &key);
        if (f) {
            bool fits;
            uint32_t bit = UINT32_C(1) << f->bit;
            p = line_read_field(p, f, into, &fits, depth);
            m->seen = fits ? m->seen | bit : m->seen & ~bit;
            m->wrong = fits ? m->wrong & ~bit : m->wrong | bit;
        } else {
            p = line_skip_value(p, depth);
        }
        if (!p) return NULL;
        p = line_skip_blanks(p);
        if (*p == '}') return p + 1;
        if (*p != ',') return NULL;
    }
}

// ---- what a line is ----

static bool line_has(uint32_t seen, uint32_t bits)
{
    return (seen & bits) == bits;
}

// "v4.3" is 3, "v5.1" is 17.
static int line_minor(const nccl_text *version)
{
    const char *t = version->at;
    size_t digits = version->length - 3;
    if (version->length < 4 || version->length > 5 || t[0] != 'v' || t[2] != '.' || (t[1] != '4' && t[1] != '5'))
        return -1;
    int minor = 0;
    for (size_t i = 3; i < 3 + digits; i++) {
        if (t[i] < '0' || t[i] > '9') return -1;
        minor = 10 * minor + t[i] - '0';
    }
    return minor >= NCCL_MINORS ? -1 : (t[1] - '4') * NCCL_MINORS + minor;
}

// Of header and metadata together: who says it.
static nccl_outcome line_judge_context(const top *t, nccl_outcome good)
{
    static const uint32_t all = HEADER_ID | HEADER_RANK | HEADER_RANKS | HEADER_NODES,
                          meta = METADATA_HOST | METADATA_DUMP | METADATA_PID;
    if (!line_has(t->seen, TOP_HEADER | TOP_METADATA)) return NCCL_NO_CONTEXT;
    if (!line_has(t->header.seen | t->header.wrong, all) || !line_has(t->metadata.seen | t->metadata.wrong, meta))
        return NCCL_NO_CONTEXT;
    if (!line_has(t->header.seen, all) || !line_has(t->metadata.seen, meta)) return NCCL_BAD_VALUE;
    const nccl_header *h = &t->header;
    bool plausible = h->ranks > 0 && h->ranks <= INT32_MAX && h->rank < h->ranks && h->nodes <= INT32_MAX &&
                     t->metadata.pid <= INT64_MAX;
    return plausible ? good : NCCL_BAD_VALUE;
}

static bool line_perf_is_good(const nccl_perf *perf)
{
    enum {
        NEEDED =
            1 << NCCL_PERF_COLL | 1 << NCCL_PERF_SN | 1 << NCCL_PERF_SIZE | 1 << NCCL_PERF_TIME | 1 << NCCL_PERF_BUS
    };
    return line_has(perf->seen, NEEDED) && perf->size <= NCCL_SIZE_LIMIT && isfinite(perf->bus_gbs) &&
           perf->bus_gbs >= 0 && perf->peer <= INT32_MAX;
}

static void line_judge_perf(nccl_line *line, const top *t, const nccl_perf *perf, nccl_outcome good)
{
    bool size_overflow = perf->wrong >> NCCL_PERF_SIZE & 1 && perf->size == UINT64_MAX;
    line->perf = *perf;
    line->bare = !(t->seen & TOP_HEADER) && !(t->wrong & TOP_HEADER);
    line->outcome = line->bare ? good : line_judge_context(t, good);
    if (line->outcome != good || line_perf_is_good(perf)) return;
    line->outcome = NCCL_BAD_VALUE;
    line->invalid_size = size_overflow || (perf->seen >> NCCL_PERF_SIZE & 1 && perf->size > NCCL_SIZE_LIMIT);
}

static void line_judge(nccl_line *line, top *t)
{
    uint32_t known = t->seen | t->wrong;
    line->header = t->header;
    line->metadata = t->metadata;
    if (line_has(t->seen, TOP_METADATA) && t->metadata.seen & 1) line->minor = line_minor(&t->metadata.version);
    if (known & TOP_STATS) {
        line->stats = t->stats;
        line->outcome = line_judge_context(t, t->wrong & TOP_STATS ? NCCL_BAD_VALUE : NCCL_DUMP_STATS);
    } else if (known & TOP_P2P) {
        line_judge_perf(line, t, &t->p2p, NCCL_P2P);
    } else if (known & TOP_COLL) {
        line_judge_perf(line, t, &t->coll, NCCL_COLL);
    } else if (known & TOP_PROXY) {
        line->proxy = t->proxy;
        if (line->proxy.kind.length == 10 && memcmp(line->proxy.kind.at, "proxy_step", 10) == 0)
            line_finish_step(&line->proxy);
        line->bare = !(known & TOP_HEADER);
        line->outcome = line->bare ? NCCL_PROXY : line_judge_context(t, NCCL_PROXY);
        if (line->outcome == NCCL_PROXY && t->wrong & TOP_PROXY) line->outcome = NCCL_BAD_VALUE;
    }
}

static bool line_is_blank(const char *p, const char *end)
{
    while (*p == ' ' || (*p >= '\t' && *p <= '\r' && *p != '\n'))
        p++;
    return p == end;
}

// Is this one JSON value and nothing else?
static bool line_is_json(const char *text, size_t length)
{
    const char *p = line_skip_value(line_skip_blanks(text), 0);
    return p && line_skip_blanks(p) == text + length;
}

void nccl_line_parse(nccl_line *line, const char *text, size_t length)
{
    const char *end = text + length, *p = line_skip_blanks(text);
    top t;
    // Only what is read without a bit to say so needs to be zero.
    t.seen = t.wrong = 0;
    memset(&t.coll, 0, sizeof t.coll);
    memset(&t.p2p, 0, sizeof t.p2p);
    memset(&t.stats, 0, sizeof t.stats);
    memset(&t.proxy, 0, sizeof t.proxy);
    memset(&t.header, 0, sizeof t.header);
    memset(&t.metadata, 0, sizeof t.metadata);
    line->outcome = NCCL_BAD_JSON;
    line->invalid_size = line->bare = false;
    line->minor = -1;
    if (*p != '{') {
        if (line_is_blank(text, end))
            line->outcome = NCCL_BLANK;
        else if (line_is_json(text, length))
            line->outcome = NCCL_NOT_OBJECT;
        return;
    }
    p = line_read_object(p, &top_object, &t, 1);
    if (!p || line_skip_blanks(p) != end) return;
    line->outcome = NCCL_OTHER;
    line_judge(line, &t);
}
