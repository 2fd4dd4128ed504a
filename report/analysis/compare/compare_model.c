#include "compare_model.h"

#include "analysis/base/stb_ds.h"

#include <string.h>

const char *comparison_side_name(comparison_side side)
{
    return side == COMPARISON_HEALTHY ? "healthy" : "faulty";
}

static const struct {
    const char *name;
    double weight;
} classes[COMPARISON_CLASSES] = {{"errors", 8}, {"stalls", 4}, {"packets", 2}, {"bytes", 1}};

const char *comparison_class_name(comparison_class kind)
{
    return kind < COMPARISON_CLASSES ? classes[kind].name : "";
}

double comparison_weight(comparison_class kind)
{
    return kind < COMPARISON_CLASSES ? classes[kind].weight : 0;
}

const char *comparison_state_name(comparison_state state)
{
    static const char *const names[] = {"unknown", "zero", "same", "changed", "new", "gone"};
    return state <= COMPARISON_GONE ? names[state] : "";
}

const char *comparison_basis_name(comparison_basis basis)
{
    static const char *const names[] = {"milder", "second", "byte"};
    return basis <= COMPARISON_PER_BYTE ? names[basis] : "";
}

const char *comparison_subject_name(comparison_subject subject)
{
    static const char *const names[] = {"outcome", "speed", "setup", "check", "counter", "context"};
    return subject <= COMPARISON_OF_CONTEXT ? names[subject] : "";
}

const char *comparison_same_name(comparison_same same)
{
    static const char *const names[] = {"unknown", "same", "other"};
    return same <= COMPARISON_WORK_OTHER ? names[same] : "";
}

bool comparison_failed(const comparison_run *run)
{
    return run->signal || (run->exit_status && strcmp(run->exit_status, "0") != 0);
}

bool comparison_compared(const comparison *c)
{
    for (int state = COMPARISON_ZERO; state <= COMPARISON_GONE; state++)
        if (c->counts.states[state]) return true;
    return false;
}

static void compare_model_free_run(comparison_run *run)
{
    findings_free(&run->f);
    difference_free(&run->d);
    free(run->label);
    free(run->host);
    free(run->command);
    free(run->sample_s);
    free(run->sample_bytes);
    free(run);
}

static void compare_model_free_lines(comparison *c)
{
    for (size_t i = 0; i < c->line_count; i++) {
        free(c->lines[i].cells);
        arrfree(c->lines[i].equal);
        free(c->lines[i].pattern_text);
    }
    for (size_t i = 0; i < c->shape_count; i++) {
        free(c->shapes[i].name);
        for (int side = 0; side < COMPARISON_SIDES; side++)
            free(c->shapes[i].share[side]);
    }
    arrfree(c->lines);
    arrfree(c->shapes);
}

void comparison_free(comparison *c)
{
    for (size_t i = 0; i < c->run_count; i++)
        compare_model_free_run(c->runs[i]);
    for (size_t i = 0; i < c->device_count; i++)
        free(c->devices[i].places);
    for (size_t i = 0; i < c->check_count; i++)
        free(c->checks[i].cells);
    for (size_t i = 0; i < c->sentence_count; i++)
        free(c->sentences[i].text);
    for (size_t i = 0; i < c->note_count; i++)
        free(c->notes[i]);
    for (size_t i = 0; i < c->answer_count; i++)
        free(c->answers[i].text);
    compare_model_free_lines(c);
    arrfree(c->answers);
    arrfree(c->events);
    free(c->headline);
    arrfree(c->runs);
    arrfree(c->devices);
    arrfree(c->checks);
    arrfree(c->sentences);
    arrfree(c->notes);
    arrfree(c->gauges);
    arrfree(c->facts);
    arrfree(c->missing);
    free(c->work.headline);
    free(c->title);
    *c = (comparison){0};
}
