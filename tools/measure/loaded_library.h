// The libraries of netprof that are loaded into other programs: by MPI programs (libnetprof-mpi.so) and by NCCL
// (libnccl-profiler-netprof.so).
#ifndef TOOLS_LOADED_LIBRARY_H
#define TOOLS_LOADED_LIBRARY_H

// Beside this program, as it is built, or where it is installed; free it. NULL after saying that it is in neither place;
// option: the one that wants it.
char *loaded_library_find(const char *option, const char *name);

#endif
