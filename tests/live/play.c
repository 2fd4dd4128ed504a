// live_play DIRECTORY FILE...: a head's directory as if agents had sent it these recordings, a node each, the last readings just
// now, or PLAY_AGO_S seconds ago: for tests and benchmarks of what is made of a journal, without a head, a server or waiting.
#define _GNU_SOURCE
#include "live/agent/ticks.h"
#include "live/journal/journal.h"
#include "live/spool/spool_reader.h"
#include "live/wire/sender.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct play {
    journal *journal;
    char *directory, *ring;
    int64_t now_ns;
} play;

static void play_stop_if(bool bad, const char *path, const char *what)
{
    if (!bad) return;
    fprintf(stderr, "live_play: %s: %s\n", path, what);
    exit(1);
}

static void play_clear(const char *directory)
{
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    if (d) closedir(d);
}

static void play_tell(void *user, const char *node, const watermark *w)
{
    (void)user, (void)node, (void)w;
}

static void play_commit(void)
{
    if (!journal_begin_commit(play.journal)) return;
    play_stop_if(journal_write(play.journal) != 0, play.directory, "cannot be written");
    journal_end_commit(play.journal, play_tell, NULL);
}

static bool play_get(void *user, uint64_t number, uint64_t high, spool_tick *t)
{
    return spool_reader_get(user, number, high, t);
}

static void play_send(const spool *ring, const char *node)
{
    static const sender_limits limits = {.ticks = 5, .bytes = 1 << 20};
    frame_buffer b = {0};
    sender s;
    spool_reader *r = spool_reader_open(play.ring);
    sender_begin(&s, spool_stream(ring), 0, 0, 0, 1);
    for (uint64_t high = spool_next(ring) - 1, sent = 0; sent < high; sent = s.next - 1) {
        frame f;
        receiver_verdict v;
        s.flying = 0; // all is confirmed at once
        if (!sender_pack(&s, &b, &limits, play_get, r, 1, high, 1)) break;
        play_stop_if(!frame_parse(&f, b.data, b.size), node, "no frame");
        if (journal_waiting(play.journal) > 16 << 20) play_commit();
        play_stop_if(!journal_take(play.journal, node, &f, play.now_ns, &v) || v != RECEIVER_STORE, node, "not taken");
    }
    frame_buffer_free(&b);
    spool_reader_close(r);
}

// The whole file: its facts, and its snapshots.
static void play_read(const char *path, netprof_fact **facts, netprof_snapshot **snapshots)
{
    netprof_reader *r;
    netprof_item item;
    netprof_error error;
    play_stop_if(netprof_reader_open(&r, path, NULL, &error) != NETPROF_OK, path, "cannot be read");
    while (netprof_reader_next(r, &item, NULL) == NETPROF_OK && item.type != NETPROF_ITEM_END) {
        if (item.type == NETPROF_ITEM_FACT && strcmp(item.fact->key, "node") != 0)
            arrput(*facts, ((netprof_fact){memory_strdup(item.fact->key), memory_strdup(item.fact->value)}));
        if (item.type != NETPROF_ITEM_SNAPSHOT) continue;
        arrput(*snapshots, (netprof_snapshot)NETPROF_ZERO);
        if (netprof_snapshot_copy(&arrlast(*snapshots), item.snapshot, NULL)) memory_exhausted();
    }
    netprof_reader_close(r);
    play_stop_if(!arrlenu(*snapshots), path, "holds no snapshot");
}

static void play_file(const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char *node = memory_strndup(name, strcspn(name, ".")), *why = NULL;
    netprof_fact *facts = NULL;
    netprof_snapshot *snapshots = NULL;
    const spool_options o = {.directory = play.ring, .bytes = 1 << 30, .boot_id = "play"};
    play_clear(play.ring);
    spool *ring = spool_open(&o, &why);
    play_stop_if(!ring, play.ring, why ? why : "");
    play_read(path, &facts, &snapshots);
    arrput(facts, ((netprof_fact){memory_strdup("node"), memory_strdup(node)}));
    ticks *t = ticks_open(ring, facts, arrlenu(facts));
    int64_t later = play.now_ns - arrlast(snapshots).wall_ns;
    for (size_t i = 0; i < arrlenu(snapshots); i++) {
        snapshots[i].wall_ns += later;
        play_stop_if(ticks_put(t, &snapshots[i]) != 0, path, "cannot be kept");
    }
    ticks_close(t);
    play_send(ring, node);
    spool_close(ring);
    for (size_t i = 0; i < arrlenu(snapshots); i++)
        netprof_snapshot_free(&snapshots[i]);
    for (size_t i = 0; i < arrlenu(facts); i++) {
        free((char *)(uintptr_t)facts[i].key);
        free((char *)(uintptr_t)facts[i].value);
    }
    arrfree(snapshots);
    arrfree(facts);
    free(node);
}

// As a head that hears from all.
static void play_status(void)
{
    char *path = memory_format("%s/status.json", play.directory);
    FILE *f = fopen(path, "we");
    play_stop_if(!f, path, "cannot be written");
    fprintf(f, "{\"format\":\"netprof-live-status\",\"version\":1,\"wall_ns\":%lld,\"connected\":true,\"nodes\":[",
            (long long)play.now_ns);
    for (size_t i = 0; i < journal_row_count(play.journal); i++)
        fprintf(f, "%s{\"node\":\"%s\",\"silent_ns\":0,\"behind_ticks\":0,\"missing_ticks\":{}}", i ? "," : "",
                journal_row_at(play.journal, i)->node);
    fputs("]}\n", f);
    fclose(f);
    free(path);
}

int main(int argc, char **argv)
{
    struct timespec t;
    char *why = NULL;
    play_stop_if(argc < 3, "usage", "live_play DIRECTORY FILE...");
    const char *ago = getenv("PLAY_AGO_S");
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec -= ago ? atoi(ago) : 0;
    play.now_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    play.directory = argv[1];
    play.ring = memory_format("%s.ring", argv[1]);
    const journal_options o = {.directory = argv[1],
                               .segment_bytes = 256 << 20,
                               .waiting_bytes = 256 << 20,
                               .credit = 4,
                               .wall_ns = play.now_ns};
    play.journal = journal_open(&o, &why);
    play_stop_if(!play.journal, argv[1], why ? why : "");
    for (int i = 2; i < argc; i++)
        play_file(argv[i]);
    play_commit();
    play_commit();
    play_status();
    journal_close(play.journal);
    play_clear(play.ring);
    rmdir(play.ring);
    free(play.ring);
    return 0;
}
