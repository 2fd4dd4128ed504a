#include "process_members.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t process_place(const process_state *s, pid_t pid)
{
    return ((uint32_t)pid * UINT32_C(2654435761)) & (s->index_room - 1);
}

static void process_index(process_state *s, size_t i)
{
    size_t at = process_place(s, s->members[i].pid);
    while (s->index[at])
        at = (at + 1) & (s->index_room - 1);
    s->index[at] = (uint32_t)i + 1;
}

// The list has changed, or the index is half full.
bool process_index_all(process_state *s)
{
    if (2 * (s->room + 1) > s->index_room) {
        size_t room = s->index_room ? s->index_room : 64;
        while (room < 2 * (s->room + 1))
            room *= 2;
        uint32_t *larger = realloc(s->index, room * sizeof *larger);
        if (!larger) return false;
        s->index = larger;
        s->index_room = room;
    }
    memset(s->index, 0, s->index_room * sizeof *s->index);
    for (size_t i = 0; i < s->count; i++)
        process_index(s, i);
    return true;
}

process_member *process_find_member(const process_state *s, pid_t pid)
{
    if (!s->index_room) return NULL;
    for (size_t at = process_place(s, pid); s->index[at]; at = (at + 1) & (s->index_room - 1)) {
        process_member *m = &s->members[s->index[at] - 1];
        if (m->pid == pid && m->known) return m;
    }
    return NULL;
}

process_member *process_new_member(process_state *s, pid_t pid)
{
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        process_member *longer = realloc(s->members, room * sizeof *longer);
        if (!longer) return NULL;
        s->members = longer;
        s->room = room;
        if (!process_index_all(s)) {
            s->room = s->count; // it would not fit
            return NULL;
        }
    }
    process_member *m = &s->members[s->count];
    *m = (process_member){.pid = pid};
    process_index(s, s->count++);
    return m;
}

void process_forget_stat(process_state *s, process_member *m)
{
    if (!m->stat) return;
    close(m->stat - 1);
    m->stat = 0;
    s->kept--;
}

// It was not there. Of those behind it in the index none is later: it is the newest.
void process_drop_last(process_state *s)
{
    size_t at = process_place(s, s->members[s->count - 1].pid);
    process_forget_stat(s, &s->members[s->count - 1]);
    while (s->index[at] != s->count)
        at = (at + 1) & (s->index_room - 1);
    s->index[at] = 0;
    s->count--;
}
