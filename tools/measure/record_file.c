#define _GNU_SOURCE // flock
#include "record_file.h"

#include "cli/common.h"
#include "analysis/base/memory.h"
#include "analysis/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    RING = 16 << 20,   // bytes; only those that were used once cost memory
    ROOM = RING / 2,   // when more waits, readings are left out: one that was begun always fits
    AT_ONCE = 1 << 20, // one write: an error is noticed soon
    PATIENCE_NS = 5000000,
    AGAIN_NS = 100000000,
    LOCK_TRIES = 10
};

struct record_file {
    char *path;
    int fd;
    bool appends, locked;
    uint64_t before; // its size when it was opened
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, done; // for the thread; for those who wait for it
    // under the lock
    char *ring;
    uint64_t put, taken; // bytes, ever
    bool sync, ending, ended, slow, cut;
    int error;   // that does not pass
    int retried; // the error after which the write is being tried again, 0: none
    int unsafe;  // a flush failed: what was written may not be on the disk
};

static int64_t record_file_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct timespec record_file_in(int64_t ns)
{
    int64_t then = record_file_now(CLOCK_MONOTONIC) + ns;
    return (struct timespec){then / 1000000000, then % 1000000000};
}

// ---- the thread ----

static bool record_file_may_pass(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EIO || error == EAGAIN || error == ENOBUFS ||
           error == ESTALE || error == ETIMEDOUT;
}

// Somebody shortened it: what follows would leave a hole.
static bool record_file_was_cut(const record_file *file, uint64_t taken)
{
    struct stat st;
    return fstat(file->fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size < file->before + taken;
}

// Writes what waits, without the lock. Returns 0 or an errno; *written: how much.
static int record_file_write_some(const record_file *file, uint64_t from, uint64_t to, uint64_t *written)
{
    *written = 0;
    while (from + *written < to) {
        uint64_t at = (from + *written) % RING, size = to - from - *written;
        if (size > RING - at) size = RING - at;
        if (size > AT_ONCE) size = AT_ONCE;
        ssize_t n = write(file->fd, file->ring + at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : ENOSPC;
        *written += (uint64_t)n;
    }
    return 0;
}

// Under the lock, which it gives up meanwhile.
static void record_file_turn(record_file *file)
{
    uint64_t from = file->taken, to = file->put, written;
    pthread_mutex_unlock(&file->lock);
    bool cut = record_file_was_cut(file, from);
    int error = cut ? 0 : record_file_write_some(file, from, to, &written);
    pthread_mutex_lock(&file->lock);
    file->cut |= cut;
    if (cut && !file->error) file->error = EIO;
    if (cut) return;
    file->taken += written;
    file->retried = record_file_may_pass(error) ? error : 0;
    if (error && !file->retried) file->error = error;
}

static void record_file_flush(record_file *file)
{
    file->sync = false;
    pthread_mutex_unlock(&file->lock);
    int error = fdatasync(file->fd) && errno != EINVAL && errno != ENOSYS ? errno : 0;
    pthread_mutex_lock(&file->lock);
    if (error && !file->unsafe) file->unsafe = error;
}

static void *record_file_run(void *user)
{
    record_file *file = user;
    pthread_mutex_lock(&file->lock);
    while (!file->error) {
        bool waits = file->taken < file->put;
        if (waits) record_file_turn(file);
        if (file->retried) {
            struct timespec again = record_file_in(AGAIN_NS);
            pthread_cond_timedwait(&file->work, &file->lock, &again);
            continue;
        }
        if (!waits) file->slow = false;
        pthread_cond_broadcast(&file->done);
        if (waits) continue;
        if (file->sync)
            record_file_flush(file);
        else if (file->ending)
            break;
        else
            pthread_cond_wait(&file->work, &file->lock);
    }
    file->ended = true;
    pthread_cond_broadcast(&file->done);
    pthread_mutex_unlock(&file->lock);
    return NULL;
}

// Signals are the other threads' business.
static bool record_file_start(record_file *file)
{
    pthread_condattr_t monotonic;
    sigset_t all, before;
    sigfillset(&all);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&file->lock, NULL);
    pthread_cond_init(&file->work, &monotonic);
    pthread_cond_init(&file->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&file->thread, NULL, record_file_run, file);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return !error;
}

// ---- opening ----

// True: an empty file, or one that begins as a recording does.
static bool record_file_is_recording(const char *path, uint64_t size)
{
    netprof_reader *reader = NULL;
    bool good = !size || netprof_reader_open(&reader, path, NULL, NULL) == NETPROF_OK;
    netprof_reader_close(reader);
    return good;
}

static bool record_file_refuse(const record_file *file, const char *why)
{
    fail_file(EXIT_FILE, file->path, "%s", why);
    return false;
}

// Two that write one file destroy each other's readings. Where the file system has no locks, nobody can know.
static bool record_file_lock(const record_file *file)
{
    static const struct timespec moment = {.tv_nsec = 20000000};
    // Who reads the file asks by a lock of an instant whether it grows.
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (i) nanosleep(&moment, NULL);
        if (flock(file->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
    }
    return record_file_refuse(file, "another recorder is writing it (in the name, %n is the node, %p the process)");
}

static bool record_file_open_at(record_file *file, const char *target, record_existing existing)
{
    struct stat st;
    file->fd = open(target, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file->fd < 0 || fstat(file->fd, &st)) return record_file_refuse(file, strerror(errno));
    if (!S_ISREG(st.st_mode)) return record_file_refuse(file, "is not a regular file");
    if (!(file->locked = record_file_lock(file))) return false;
    if (existing == RECORD_APPEND && !record_file_is_recording(target, (uint64_t)st.st_size))
        return record_file_refuse(file, "exists and is no recording: it is not replaced; choose another name");
    if (existing == RECORD_REPLACE && st.st_size && ftruncate(file->fd, 0))
        return record_file_refuse(file, strerror(errno));
    file->before = existing == RECORD_APPEND ? (uint64_t)st.st_size : 0;
    file->appends = file->before > 0;
    return true;
}

// Returns 0 or an errno: some file systems say only now that there is no room.
static int record_file_free(record_file *file)
{
    int error = file->fd >= 0 && close(file->fd) && errno != EINTR ? errno : 0;
    free(file->ring);
    free(file->path);
    free(file);
    return error;
}

record_file *record_file_open(const char *path, record_existing existing)
{
    output_place place;
    record_file *file = memory_calloc(1, sizeof *file);
    file->path = memory_strdup(path);
    file->fd = -1;
    file->ring = memory_alloc(RING);
    bool made = access(path, F_OK) != 0;
    bool good = output_place_find(&place, path) || record_file_refuse(file, place.refused);
    good = good && record_file_open_at(file, place.target, existing);
    if (good && !record_file_start(file)) good = record_file_refuse(file, strerror(errno));
    if (!good && file->locked && made) unlink(place.target); // without the lock it is another recorder's
    output_place_free(&place);
    if (good) return file;
    record_file_free(file);
    return NULL;
}

bool record_file_appends(const record_file *file)
{
    return file->appends;
}

// ---- writing ----

static void record_file_put(record_file *file, const char *data, size_t size)
{
    uint64_t at = file->put % RING;
    size_t first = size < RING - at ? size : RING - (size_t)at;
    memcpy(file->ring + at, data, first);
    memcpy(file->ring, data + first, size - first);
    file->put += size;
}

// Waits up to 5 ms, so that a quick disk has the data on return; once the disk was slow, does not wait again until it has
// caught up.
static void record_file_wait_a_moment(record_file *file)
{
    struct timespec until = record_file_in(PATIENCE_NS);
    while (!file->slow && !file->error && file->taken < file->put)
        if (pthread_cond_timedwait(&file->done, &file->lock, &until)) file->slow = true;
}

int record_file_write(void *user, const void *data, size_t size)
{
    record_file *file = user;
    const char *from = data;
    pthread_mutex_lock(&file->lock);
    while (size && !file->error) {
        size_t room = RING - (size_t)(file->put - file->taken), part = size < room ? size : room;
        record_file_put(file, from, part);
        from += part;
        size -= part;
        pthread_cond_signal(&file->work);
        // Only a single reading of more than 8 MiB can come here: half of it must not be lost.
        if (size) pthread_cond_wait(&file->done, &file->lock);
    }
    record_file_wait_a_moment(file);
    int error = file->error;
    pthread_mutex_unlock(&file->lock);
    return error;
}

void record_file_settle(record_file *file, int64_t patience_ns)
{
    struct timespec until = record_file_in(patience_ns);
    pthread_mutex_lock(&file->lock);
    while (!file->error && file->taken < file->put)
        if (pthread_cond_timedwait(&file->done, &file->lock, &until)) break;
    pthread_mutex_unlock(&file->lock);
}

bool record_file_has_room(record_file *file)
{
    pthread_mutex_lock(&file->lock);
    bool room = file->error || file->put - file->taken < ROOM;
    pthread_mutex_unlock(&file->lock);
    return room;
}

void record_file_sync(record_file *file)
{
    pthread_mutex_lock(&file->lock);
    file->sync = true;
    pthread_cond_signal(&file->work);
    pthread_mutex_unlock(&file->lock);
}

bool record_file_is_elsewhere(record_file *file, bool *gone)
{
    struct stat ours, there;
    *gone = fstat(file->fd, &ours) == 0 && ours.st_nlink == 0;
    if (*gone) return true;
    return stat(file->path, &there) ? errno == ENOENT : there.st_ino != ours.st_ino || there.st_dev != ours.st_dev;
}

uint64_t record_file_size(record_file *file)
{
    pthread_mutex_lock(&file->lock);
    uint64_t size = file->before + file->put;
    pthread_mutex_unlock(&file->lock);
    return size;
}

int record_file_error(record_file *file, bool *cut)
{
    pthread_mutex_lock(&file->lock);
    int error = file->error ? file->error : file->retried;
    *cut = file->cut;
    pthread_mutex_unlock(&file->lock);
    return error;
}

// ---- the end ----

// True: the thread has ended. Under the lock.
static bool record_file_wait_end(record_file *file, int64_t patience_ns)
{
    struct timespec until = record_file_in(patience_ns);
    file->ending = true;
    pthread_cond_signal(&file->work);
    while (!file->ended)
        if (pthread_cond_timedwait(&file->done, &file->lock, &until)) break;
    return file->ended;
}

static void record_file_drop(const record_file *file)
{
    if (file->appends) {
        if (ftruncate(file->fd, (off_t)file->before)) warn("%s: %s", safe(file->path), strerror(errno));
    } else {
        struct stat ours, there;
        if (fstat(file->fd, &ours) == 0 && stat(file->path, &there) == 0 && ours.st_ino == there.st_ino &&
            ours.st_dev == there.st_dev)
            unlink(file->path);
    }
}

int record_file_close(record_file *file, bool keep, int64_t patience_ns, uint64_t *unwritten)
{
    pthread_mutex_lock(&file->lock);
    bool ended = record_file_wait_end(file, patience_ns);
    int error = file->error ? file->error : file->retried ? file->retried : file->unsafe;
    *unwritten = file->put - file->taken;
    if (!error && *unwritten) error = ETIMEDOUT;
    pthread_mutex_unlock(&file->lock);
    if (!ended) return error ? error : ETIMEDOUT; // it hangs in a call that nothing interrupts: it keeps what it has
    pthread_join(file->thread, NULL);
    if (!keep) record_file_drop(file);
    int closed = record_file_free(file);
    return error ? error : closed;
}
