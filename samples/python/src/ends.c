// How worker processes end: by os._exit(), which runs nothing, or by SIGTERM (Pool.terminate()). Both write the regions
// first, and neither waits longer than a limit for that: a disk that hangs must not keep a process.
#include "pynetprof.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

// ---- a write that may be given up ----

static sem_t pyends_written;

static void *pyends_write(void *unused)
{
    netprof_error error = NETPROF_ZERO;
    (void)unused;
    pynetprof_write_last(&error);
    sem_post(&pyends_written);
    return NULL;
}

// Writes the file from a thread of its own, and waits so long for it. True if it was written, or nothing was to write.
static int pyends_write_within(double seconds)
{
    struct timespec until;
    pthread_attr_t attributes;
    pthread_t thread;
    int failed;
    if (!pynetprof_used()) return 1;
    if (sem_init(&pyends_written, 0, 0) || pthread_attr_init(&attributes)) return 0;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    failed = pthread_create(&thread, &attributes, pyends_write, NULL);
    pthread_attr_destroy(&attributes);
    if (failed) return 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds + 1;
    do
        failed = sem_timedwait(&pyends_written, &until);
    while (failed && errno == EINTR);
    return !failed;
}

static PyObject *pyends_write_last_within(PyObject *module, PyObject *args)
{
    double seconds;
    int written;
    (void)module;
    if (!PyArg_ParseTuple(args, "d:write_last", &seconds)) return NULL;
    Py_BEGIN_ALLOW_THREADS written = pyends_write_within(seconds);
    Py_END_ALLOW_THREADS return PyBool_FromLong(written);
}

// ---- SIGTERM ----

static sem_t pyends_asked;
static pid_t pyends_pid; // of the process whose thread waits
static double pyends_seconds;

static void pyends_die(void)
{
    signal(SIGTERM, SIG_DFL);
    kill(getpid(), SIGTERM);
}

static void *pyends_wait(void *unused)
{
    (void)unused;
    while (sem_wait(&pyends_asked) && errno == EINTR) {
    }
    pyends_write_within(pyends_seconds);
    pyends_die();
    return NULL;
}

// Only this may be done in a handler; the thread does the rest. A second signal ends the process at once.
static void pyends_on_signal(int number)
{
    int saved = errno;
    signal(number, SIG_DFL);
    if (pyends_pid == getpid())
        sem_post(&pyends_asked);
    else
        kill(getpid(), number); // a child of the process that waits, without its threads
    errno = saved;
}

// guard(seconds): from now on SIGTERM writes the regions before it ends this process, unless the program handles it.
static PyObject *pyends_guard(PyObject *module, PyObject *args)
{
    struct sigaction now, ours;
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    int failed;
    (void)module;
    if (!PyArg_ParseTuple(args, "d:guard", &pyends_seconds)) return NULL;
    if (pyends_pid == getpid()) Py_RETURN_TRUE;
    if (sigaction(SIGTERM, NULL, &now)) Py_RETURN_FALSE;
    if ((now.sa_flags & SA_SIGINFO) || (now.sa_handler != SIG_DFL && now.sa_handler != pyends_on_signal))
        Py_RETURN_FALSE;
    if (sem_init(&pyends_asked, 0, 0) || pthread_attr_init(&attributes)) Py_RETURN_FALSE;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all); // signals are the program's threads' business
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread, &attributes, pyends_wait, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed) Py_RETURN_FALSE;
    pyends_pid = getpid();
    memset(&ours, 0, sizeof ours);
    ours.sa_handler = pyends_on_signal;
    ours.sa_flags = SA_RESTART;
    sigemptyset(&ours.sa_mask);
    return PyBool_FromLong(sigaction(SIGTERM, &ours, NULL) == 0);
}

static PyObject *pyends_has_regions(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(pynetprof_used());
}

static PyMethodDef pyends_functions[] = {{"write_last", pyends_write_last_within, METH_VARARGS, NULL},
                                         {"guard", pyends_guard, METH_VARARGS, NULL},
                                         {"has_regions", pyends_has_regions, METH_NOARGS, NULL},
                                         {NULL, NULL, 0, NULL}};

int pyends_add(PyObject *module)
{
    return PyModule_AddFunctions(module, pyends_functions);
}
