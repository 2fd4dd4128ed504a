# The MPIs that are installed, each with its own compilers: MPICH and Open MPI can stand side by side. NETPROF_MPIS
# lists those found; NETPROF_MPICC_<mpi>, NETPROF_MPIFORT_<mpi> and NETPROF_MPIRUN_<mpi> are their programs.
set(NETPROF_MPIS)
foreach(mpi mpich openmpi)
    # Debian tells them apart by their names, others by the directory.
    file(GLOB places /usr/lib64/${mpi}*/bin /usr/lib64/mpi/gcc/${mpi}*/bin)
    foreach(tool mpicc mpifort mpirun)
        string(TOUPPER ${tool} variable)
        find_program(NETPROF_${variable}_${mpi} NAMES ${tool}.${mpi})
        find_program(NETPROF_${variable}_${mpi} NAMES ${tool} PATHS ${places} NO_DEFAULT_PATH)
    endforeach()
    # Debian 11's mpifort.openmpi lacks a file and compiles nothing; what it was called before does.
    if(NETPROF_MPIFORT_${mpi})
        execute_process(COMMAND ${NETPROF_MPIFORT_${mpi}} --version RESULT_VARIABLE fails OUTPUT_QUIET ERROR_QUIET)
        if(fails)
            unset(NETPROF_MPIFORT_${mpi} CACHE)
            find_program(NETPROF_MPIFORT_${mpi} NAMES mpif90.${mpi})
        endif()
    endif()
    if(NETPROF_MPICC_${mpi} AND NETPROF_MPIRUN_${mpi})
        list(APPEND NETPROF_MPIS ${mpi})
    endif()
endforeach()

# netprof_mpi_program(PROGRAM COMPILER SOURCE [FLAG…]): built with the MPI's own compiler, never with a sanitizer,
# which would find what the MPI itself leaves behind.
function(netprof_mpi_program program compiler source)
    set(output ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${program})
    get_filename_component(source ${source} ABSOLUTE)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
        COMMAND ${compiler} -O2 -g -I${PROJECT_SOURCE_DIR} ${source} -o ${output} ${ARGN}
        DEPENDS ${source} ${PROJECT_SOURCE_DIR}/netprof.h
        COMMENT "Building ${program}"
        VERBATIM)
    add_custom_target(${program}-program ALL DEPENDS ${output})
endfunction()
