// The verdict as answers to fixed questions: was it the same work, slower, what differs, what it is not, what next? Each is made
// of a sentence of the verdict or of checks; none names a cause: what coincides is called what differs.
#include "comparer.h"

#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Takes over the text, which may be NULL: none.
static void answers_add(comparison *c, severity s, const char *question, char *text)
{
    if (!text) return;
    arrput(c->answers, ((comparison_answer){s, question, text}));
    c->answer_count = arrlenu(c->answers);
}

static const comparison_sentence *answers_find(const comparison *c, const char *name)
{
    for (size_t i = 0; i < c->sentence_count; i++)
        if (strcmp(c->sentences[i].rule, name) == 0) return &c->sentences[i];
    return NULL;
}

// ---- same work? slower? ----

// Other work is no fault; that less was moved is said with the throughput.
static void answers_say_same(comparison *c)
{
    const comparison_work *w = &c->work;
    char *text = NULL;
    bool counted = isfinite(w->bytes[COMPARISON_HEALTHY].median) && isfinite(w->bytes[COMPARISON_FAULTY].median);
    if (w->failed[COMPARISON_HEALTHY] || w->failed[COMPARISON_FAULTY]) return; // it was not done to its end
    if (w->same == COMPARISON_WORK_UNKNOWN) {
        text_append(&text, counted ? "Not known: next to no traffic, and the files do not name the commands"
                                   : "Not known: one side at least has no count of its bytes");
        answers_add(c, SEVERITY_UNKNOWN, "Same work?", text);
        return;
    }
    if (w->same == COMPARISON_WORK_SAME) {
        const words_text healthy = comparer_bytes_text(w->bytes[COMPARISON_HEALTHY].median),
                         faulty = comparer_bytes_text(w->bytes[COMPARISON_FAULTY].median);
        if (!(w->bytes[COMPARISON_FAULTY].median > 0))
            text_append(&text, "Yes: the same command, next to no traffic");
        else if (strcmp(healthy.text, faulty.text) == 0)
            text_append(&text, "Yes: %s moved on both sides", faulty.text);
        else
            text_append(&text, "Yes: %s moved, %s on the healthy side (within 10 %%)", faulty.text, healthy.text);
        answers_add(c, SEVERITY_OK, "Same work?", text);
        return;
    }
    text_append(&text, "No: ");
    if (w->by_throughput) {
        comparer_append_instead(&text, w->bytes, comparer_bytes_text);
        text_append(&text, " moved; what is counted is held against the bytes");
    } else
        text_append(&text, "another command, and next to no traffic on both sides");
    answers_add(c, SEVERITY_INFO, "Same work?", text);
}

// One run a side, or by how much the runs vary: as the sentence says it, in fewer words where the ranges do not meet.
static void answers_append_luck(const comparison_sentence *said, char **text)
{
    static const char apart[] = "; the ranges do not meet: so far apart by chance in ";
    const char *luck = strstr(said->text, "; one run on each side");
    if (!luck) luck = strstr(said->text, "; the ranges");
    if (!luck) return;
    if (strncmp(luck, apart, strlen(apart)) != 0) {
        text_append(text, "%.*s", (int)(strcspn(luck + 1, ";") + 1), luck);
        return;
    }
    luck += strlen(apart);
    const char *such = strstr(luck, " such comparisons"); // here it is plain which
    size_t length = such ? (size_t)(such - luck) : strcspn(luck, ";");
    text_append(text, "; by chance in %.*s", (int)length, luck);
}

// "1.45 times as long", as the sentence has it: a factor, or none where both sides took as long.
static void answers_say_slower(comparison *c)
{
    const comparison_work *w = &c->work;
    const comparison_sentence *said = answers_find(c, w->by_throughput ? "throughput" : "duration");
    if (!said || isnan(w->slower)) return;
    severity s = said->subject == COMPARISON_OF_SPEED ? said->severity : SEVERITY_OK;
    bool slower = w->slower > 1.05, faster = w->slower < 1 / 1.05;
    char *text = NULL;
    if (slower || faster)
        text_append(&text, "%s: %s times %s", slower ? "Yes" : "No", words_number(fmax(w->slower, 1 / w->slower)).text,
                    slower ? "slower" : "faster");
    else
        text_append(&text, "No");
    text_append(&text, slower || faster ? ", " : ": ");
    if (w->by_throughput)
        comparer_append_instead(&text, w->bytes_per_s, comparer_rate_text);
    else if (slower || faster)
        comparer_append_instead(&text, w->seconds, words_duration);
    else
        comparer_append_range(&text, &w->seconds[COMPARISON_FAULTY], words_duration),
            text_append(&text, " on both sides");
    if (slower) answers_append_luck(said, &text);
    answers_add(c, s, "Slower?", text);
}

// ---- what differs ----

static const comparison_check *answers_check(const comparison *c, const comparison_sentence *s)
{
    for (size_t i = 0; s->subject == COMPARISON_OF_CHECK && i < c->check_count; i++)
        if (strcmp(c->checks[i].rule->name, s->rule) == 0) return &c->checks[i];
    return NULL;
}

// Does a sentence's finding follow from that of another one, by the rules?
static bool answers_follows(const comparison *c, const comparison_sentence *s, const comparison_sentence *cause)
{
    const comparison_check *check = answers_check(c, s);
    if (!check || s == cause || !answers_check(c, cause)) return false;
    const finding *x = check->cells[check->worst].finding[COMPARISON_FAULTY];
    return x && x->explained_by && findings_names_rule(x->explained_by, cause->rule);
}

static bool answers_is_finding(const comparison_sentence *s)
{
    return s->subject >= COMPARISON_OF_SETUP && s->subject <= COMPARISON_OF_COUNTER && s->severity >= SEVERITY_WATCH;
}

// What and where, without "; alike on all", which its own line of the page shows.
static char *answers_brief(const comparison_sentence *s)
{
    char *text = memory_format("%.*s", (int)(s->brief ? s->brief : strlen(s->text)), s->text);
    char *peers = strstr(text, "; alike on");
    if (peers) *peers = 0;
    return text;
}

// Without what all of them share, in how many runs, and chance; and without where it is alike.
static char *answers_told(const comparison_sentence *s)
{
    char *text = answers_brief(s);
    size_t brief = s->brief ? s->brief : strlen(s->text), told = s->told ? s->told : strlen(s->text);
    if (told > brief) text_append(&text, "%.*s", (int)(told - brief), s->text + brief);
    return text;
}

// "Alike on all 8 NICs (41.4 % to 44.0 %): the host as a whole": what the claim says of its peers.
static void answers_say_alike(comparison *c, const comparison_sentence *s)
{
    const char *peers = s->brief ? strstr(s->text, "; alike on") : NULL;
    if (!peers || peers >= s->text + s->brief) return;
    char *text = memory_format("%.*s", (int)(s->brief - (size_t)(peers + 2 - s->text)), peers + 2);
    text_capital(text);
    answers_add(c, SEVERITY_INFO, "Which?", text);
}

static void answers_say_explained(comparison *c, const comparison_sentence *cause)
{
    char *text = NULL;
    severity worst = SEVERITY_OK;
    for (size_t i = 0; i < c->sentence_count; i++) {
        const comparison_sentence *s = &c->sentences[i];
        if (!answers_follows(c, s, cause)) continue;
        char *brief = answers_brief(s);
        text_append(&text, "%s%s", text ? "; " : "", brief);
        free(brief);
        if (s->severity > worst) worst = s->severity;
    }
    answers_add(c, worst, "Explained by it", text);
}

// "; in 1 of 1 faulty run, 0 of 3 healthy ones (values this far apart: by chance in 1 of 4 splits)"; NULL: nothing is said of it.
static const char *answers_chance(const comparison_sentence *s, size_t *length)
{
    if (!s->told || !s->text[s->told]) return NULL;
    const char *from = s->text + s->told, *to = strstr(from, " (explained by ");
    *length = to ? (size_t)(to - from) : strlen(from);
    return from;
}

// What differs most has with it how sure the runs make it.
static char *answers_with_chance(const comparison_sentence *s)
{
    size_t length = 0;
    const char *chance = answers_chance(s, &length);
    char *text = answers_told(s);
    if (chance) text_append(&text, "%.*s", (int)length, chance);
    return text;
}

static void answers_say_differs(comparison *c)
{
    enum { SAID = 4 };
    const comparison_sentence *cause = NULL;
    size_t said = 0, more = 0;
    for (size_t i = 0; i < c->sentence_count; i++) {
        const comparison_sentence *s = &c->sentences[i];
        if (!answers_is_finding(s) || (cause && answers_follows(c, s, cause))) continue;
        if (said >= SAID && ++more) continue;
        answers_add(c, s->severity, said ? "Also" : "What differs?", said ? answers_told(s) : answers_with_chance(s));
        said++;
        if (cause) continue;
        cause = s;
        answers_say_alike(c, cause);
        answers_say_explained(c, cause);
    }
    if (more)
        answers_add(c, SEVERITY_INFO, "Also",
                    memory_format("%s more, under \xe2\x80\x9c"
                                  "What changed\xe2\x80\x9d",
                                  words_many(more, "finding").text));
}

// ---- what it is not ----

// What is denied needs counters that were read on both sides, on every device, and are as they were: the first check of each
// group in any case, the others where the machine has them. What they counted is said.
typedef enum answers_as {
    ANSWERS_NONE,
    ANSWERS_NO_MORE,
    ANSWERS_LITTLE
} answers_as; // 0; not grown; a share below any threshold

typedef struct answers_denial {
    const char *what, *check, *words;
    answers_as as;
} answers_denial;

static const answers_denial answers_denials[] = {
    {"Not the cable", "uncorrected-codewords", "damaged beyond repair", ANSWERS_NONE},
    {NULL, "link-retry", "sent again on the link", ANSWERS_NONE},
    {NULL, "bad-frames", "damaged frames", ANSWERS_NONE},
    {NULL, "corrected-codewords", "repairs", ANSWERS_NO_MORE},
    {"Not the cable", "eth-crc", "damaged frames", ANSWERS_NONE},
    {NULL, "eth-fec-uncorrectable", "damaged beyond repair", ANSWERS_NONE},
    {NULL, "eth-fec-margin", "repairs", ANSWERS_NO_MORE},
    {"Not the cable", "ib-rcv-errors", "damaged packets", ANSWERS_NONE},
    {NULL, "ib-link-recovery", "recoveries of the link", ANSWERS_NONE},
    {NULL, "ib-symbol-ber", "bit errors", ANSWERS_NO_MORE},
    {"Not the fabric", "egress-paused", "it held this node's NICs", ANSWERS_LITTLE},
    {"Not the fabric", "eth-pause-rx-frames", "pause frames received", ANSWERS_NONE},
    {"Not the fabric", "ib-xmit-wait", "it held this node's ports", ANSWERS_LITTLE},
    {NULL, NULL, NULL, ANSWERS_NONE},
};

static const comparison_check *answers_by_name(const comparison *c, const char *name)
{
    for (size_t i = 0; i < c->check_count; i++)
        if (strcmp(c->checks[i].rule->name, name) == 0) return &c->checks[i];
    return NULL;
}

// Judged on both sides on every device that has it, and worth watching on none, in no run: the middle one does not speak
// for the others.
static bool answers_is_clean(const comparison *c, const comparison_check *check)
{
    size_t judged = 0;
    for (size_t r = 0; r < c->run_count; r++) {
        const findings *f = &c->runs[r]->f;
        for (size_t i = 0; i < f->check_count; i++)
            if (f->checks[i].rule == check->rule && (!f->checks[i].judged || f->checks[i].severity >= SEVERITY_WATCH))
                return false;
    }
    for (size_t i = 0; i < check->cell_count; i++) {
        const comparison_verdict *v = &check->cells[i];
        for (int side = 0; side < COMPARISON_SIDES; side++) {
            if (v->judged[side] == COMPARISON_NOT_KNOWN) return false;
            if (v->judged[side] == COMPARISON_JUDGED && v->severity[side] >= SEVERITY_WATCH) return false;
        }
        if (v->flipped) return false;
        judged += v->judged[0] == COMPARISON_JUDGED && v->judged[1] == COMPARISON_JUDGED;
    }
    return judged > 0;
}

// Of all devices and runs of a side.
static double answers_most(const comparison *c, const comparison_check *check, comparison_side side)
{
    double most = 0;
    for (size_t r = 0; r < c->run_count; r++) {
        const findings *f = &c->runs[r]->f;
        for (size_t i = 0; c->runs[r]->side == side && i < f->check_count; i++)
            if (f->checks[i].rule == check->rule && f->checks[i].judged) most = fmax(most, f->checks[i].value);
    }
    return most;
}

// False: this check does not allow it to be denied.
static bool answers_append_denial(const comparison *c, const comparison_check *check, const answers_denial *d,
                                  char **text)
{
    double healthy = answers_most(c, check, COMPARISON_HEALTHY), faulty = answers_most(c, check, COMPARISON_FAULTY);
    const char *between = *text ? ", " : "";
    if (!answers_is_clean(c, check)) return false;
    if (d->as == ANSWERS_LITTLE) {
        text_append(text, "%s%s at most %s of the time", between, d->words, words_share(faulty).text);
        return true;
    }
    if (d->as == ANSWERS_NONE || !(healthy > 0)) {
        text_append(text, "%s0 %s", between, d->words);
        return !(faulty > 0);
    }
    text_append(text, "%s%s \xc3\x97%s", between, d->words, words_number(faulty / healthy).text);
    return faulty <= 1.5 * healthy;
}

// What the counters of the table do not count: a link that went down, packets that were lost or marked on their way. Does a
// check of that kind tell more on the faulty side?
static bool answers_is_suspect(const comparison *c, const char *what)
{
    bool cable = strcmp(what, "Not the cable") == 0;
    const int first = rules_class_rank(cable ? "link-down" : "congestion"),
              second = rules_class_rank(cable ? "link-errors" : "transport");
    for (size_t i = 0; i < c->check_count; i++) {
        const comparison_check *check = &c->checks[i];
        if (check->rule->class_rank != first && check->rule->class_rank != second) continue;
        for (size_t k = 0; k < check->cell_count; k++) {
            const comparison_verdict *v = &check->cells[k];
            severity before =
                v->judged[COMPARISON_HEALTHY] == COMPARISON_JUDGED ? v->severity[COMPARISON_HEALTHY] : SEVERITY_OK;
            if (v->judged[COMPARISON_FAULTY] == COMPARISON_JUDGED && v->severity[COMPARISON_FAULTY] >= SEVERITY_WATCH &&
                v->severity[COMPARISON_FAULTY] > before)
                return true;
        }
    }
    return false;
}

// One group; returns the first row of the next one.
static size_t answers_append_group(const comparison *c, size_t row, char **text)
{
    size_t first = row;
    char *words = NULL;
    bool denied = !answers_is_suspect(c, answers_denials[row].what);
    do {
        const comparison_check *check = answers_by_name(c, answers_denials[row].check);
        if (!check && row == first) denied = false;
        if (check && denied) denied = answers_append_denial(c, check, &answers_denials[row], &words);
    } while (answers_denials[++row].check && !answers_denials[row].what);
    // Of two kinds of NICs both must allow it; the first one's figures stand for it.
    bool said = *text && strstr(*text, answers_denials[first].what);
    for (size_t other = 0; denied && answers_denials[other].check; other++) {
        const comparison_check *check = answers_by_name(c, answers_denials[other].check);
        const char *what = answers_denials[other].what;
        if (what && strcmp(what, answers_denials[first].what) == 0 && check && !answers_is_clean(c, check))
            denied = false;
    }
    if (denied && !said) text_append(text, "%s%s: %s", *text ? ". " : "", answers_denials[first].what, words);
    free(words);
    return row;
}

static bool answers_went_worse(const comparison *c)
{
    for (size_t i = 0; i < c->sentence_count; i++)
        if (c->sentences[i].subject != COMPARISON_OF_CONTEXT && c->sentences[i].severity >= SEVERITY_WATCH) return true;
    return false;
}

static void answers_say_not(comparison *c)
{
    char *text = NULL;
    for (size_t i = 0; answers_denials[i].check && answers_went_worse(c);)
        i = answers_append_group(c, i, &text);
    if (text) {
        answers_add(c, SEVERITY_OK, "What it is not", text);
        return;
    }
    for (size_t i = 0; i < c->sentence_count; i++)
        if (c->sentences[i].severity == SEVERITY_OK)
            answers_add(c, SEVERITY_OK, "Alike", memory_strdup(c->sentences[i].text));
}

// ---- the rest ----

static void answers_say_unjudged(comparison *c)
{
    char *text = NULL;
    size_t count = 0;
    for (size_t i = 0; i < c->check_count; i++) {
        size_t unknown = 0;
        for (size_t k = 0; k < c->checks[i].cell_count; k++)
            for (int side = 0; side < COMPARISON_SIDES; side++)
                unknown += c->checks[i].cells[k].judged[side] == COMPARISON_NOT_KNOWN;
        if (!unknown) continue;
        if (count++ < 3) text_append(&text, "%s%s", text ? ", " : "", rules_words(c->checks[i].rule));
    }
    if (count > 3) text_append(&text, " and %zu more", count - 3);
    if (text) text_append(&text, ": could not be judged on one side at least");
    for (size_t i = 0; i < c->sentence_count; i++)
        if (c->sentences[i].severity == SEVERITY_UNKNOWN)
            answers_add(c, SEVERITY_UNKNOWN, "Not judged", memory_strdup(c->sentences[i].text));
    answers_add(c, SEVERITY_UNKNOWN, "Not judged", text);
}

// What went better, or is on both sides: context, as far as the page has room.
static void answers_say_context(comparison *c)
{
    for (size_t i = 0; i < c->sentence_count; i++) {
        const comparison_sentence *s = &c->sentences[i];
        bool told = strcmp(s->rule, "duration") == 0 || strcmp(s->rule, "throughput") == 0;
        if (s->severity == SEVERITY_INFO && !told && c->answer_count < 8)
            answers_add(c, SEVERITY_INFO, "Also", answers_told(s));
    }
}

// The advice of the rule that found what differs first.
static void answers_say_next(comparison *c)
{
    for (size_t i = 0; i < c->sentence_count; i++) {
        const comparison_check *check =
            answers_is_finding(&c->sentences[i]) ? answers_check(c, &c->sentences[i]) : NULL;
        if (!check || !*check->rule->advice) continue;
        // What comes after the first half of it is for other cases.
        enum { ENOUGH = 60 };
        const char *advice = check->rule->advice, *end = strpbrk(advice + strnlen(advice, ENOUGH), ";.");
        answers_add(c, SEVERITY_INFO, "Look next",
                    memory_format("%.*s", (int)(end ? (size_t)(end - advice) : strlen(advice)), advice));
        return;
    }
}

// ---- the title ----

static size_t answers_length(const char *text) // in characters
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

// "cxi4: PCIe writes were blocked 48.6 %": up to the first figure's end, without what is in brackets: "7000 packets (37 %)
// were lost".
static char *answers_clause(const comparison_sentence *s)
{
    static const char *const ends[] = {", ", ": the ", " of the time", "; "};
    char *text = answers_brief(s), *from = strstr(text, ": "), *open, *close;
    while (from && (open = strstr(from, " (")) != NULL && (close = strchr(open, ')')) != NULL)
        memmove(open, close + 1, strlen(close + 1) + 1);
    for (size_t i = 0; from && i < sizeof ends / sizeof *ends; i++) {
        char *end = strstr(from + 2, ends[i]);
        if (end) *end = 0;
    }
    return text;
}

// Only where the same work took longer, and something differs: both fit one line or none does.
static void answers_make_headline(comparison *c)
{
    enum { LONGEST = 60 };
    const comparison_work *w = &c->work;
    const comparison_sentence *said = answers_find(c, "duration"), *first = NULL;
    if (!said || said->severity < SEVERITY_WATCH || w->same != COMPARISON_WORK_SAME || !(w->slower > 1)) return;
    for (size_t i = 0; i < c->sentence_count && !first; i++)
        if (answers_is_finding(&c->sentences[i])) first = &c->sentences[i];
    if (!first) return;
    // "47 % slower", "3.2x slower"
    char *clause = answers_clause(first), *were = strstr(clause, " were "), *slower = NULL, *text;
    if (w->slower < 2)
        text_append(&slower, "%s", words_share(round(100 * (w->slower - 1)) / 100).text);
    else
        text_append(&slower, "%s\xc3\x97", words_number(w->slower).text);
    text = memory_format("Same work, %s slower; %s", slower, clause);
    if (answers_length(text) > LONGEST && were) {
        free(text);
        *were = 0;
        text = memory_format("Same work, %s slower; %s %s", slower, clause, were + 6);
    }
    free(slower);
    free(clause);
    if (answers_length(text) <= LONGEST)
        c->headline = text;
    else
        free(text);
}

void comparer_answers(comparer *m)
{
    comparison *c = m->c;
    answers_make_headline(c);
    for (size_t i = 0; i < c->sentence_count; i++)
        if (c->sentences[i].subject == COMPARISON_OF_OUTCOME)
            answers_add(c, c->sentences[i].severity, "Ended well?", memory_format("No: %s", c->sentences[i].text));
    answers_say_same(c);
    answers_say_slower(c);
    answers_say_differs(c);
    answers_say_not(c);
    answers_say_unjudged(c);
    answers_say_context(c);
    answers_say_next(c);
    // No line is worse than the verdict: what is not known beside it is context.
    for (size_t i = 0; i < c->answer_count; i++)
        if (c->answers[i].severity > c->severity && c->answers[i].severity > SEVERITY_INFO)
            c->answers[i].severity = SEVERITY_INFO;
}
