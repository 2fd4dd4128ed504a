! As calls.c, from Fortran: with the module mpi, or, where F08 is defined, with mpi_f08 and without error arguments.
program calls
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    implicit none
#ifdef F08
#define ERR
#define LAST
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status
    type(MPI_File) :: file
    type(MPI_Comm) :: world
#else
#define ERR , error
#define LAST error
    integer :: requests(2), status(MPI_STATUS_SIZE), file, world, error
#endif
    integer, parameter :: n = 10
    double precision :: out(n), in(n)
    integer, parameter :: much = 1000 ! more than 1 KiB
    double precision :: give(much), got(much)
    integer :: ranks(64), rank, ranks_count, left, right, provided
    character(len=1000) :: directory
    character(len=12) :: number

    call get_command_argument(1, directory)
    call MPI_Init_thread(MPI_THREAD_SINGLE, provided ERR)
    world = MPI_COMM_WORLD
    call MPI_Comm_rank(world, rank ERR)
    call MPI_Comm_size(world, ranks_count ERR)
    left = mod(rank + ranks_count - 1, ranks_count)
    right = mod(rank + 1, ranks_count)
    out = rank

    call MPI_Irecv(in, n, MPI_DOUBLE_PRECISION, left, 0, world, requests(1) ERR)
    call MPI_Send(out, n, MPI_DOUBLE_PRECISION, right, 0, world ERR)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE ERR)
    call MPI_Isend(out, 3, MPI_DOUBLE_PRECISION, right, 1, world, requests(1) ERR)
    call MPI_Recv(in, n, MPI_DOUBLE_PRECISION, left, 1, world, MPI_STATUS_IGNORE ERR)
    call MPI_Wait(requests(1), status ERR)
    call MPI_Isend(out, 2, MPI_DOUBLE_PRECISION, right, 2, world, requests(1) ERR)
    call MPI_Recv(in, n, MPI_DOUBLE_PRECISION, left, 2, world, status ERR)
    call MPI_Wait(requests(1), status ERR)
    call MPI_Send_init(out, n, MPI_DOUBLE_PRECISION, right, 3, world, requests(1) ERR)
    call MPI_Recv_init(in, n, MPI_DOUBLE_PRECISION, left, 3, world, requests(2) ERR)
    call MPI_Startall(2, requests ERR)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE ERR)
    call MPI_Request_free(requests(1) ERR)
    call MPI_Request_free(requests(2) ERR)
    give = rank
    call MPI_Sendrecv(give, much, MPI_DOUBLE_PRECISION, right, 4, got, much, MPI_DOUBLE_PRECISION, left, 4, world, status ERR)
#ifdef F08
    if (got(much) /= left .or. status%MPI_SOURCE /= left .or. status%MPI_TAG /= 4) error stop 'MPI_Sendrecv'
#else
    if (got(much) /= left .or. status(MPI_SOURCE) /= left .or. status(MPI_TAG) /= 4) error stop 'MPI_Sendrecv'
#endif
    call MPI_Sendrecv(got, much, MPI_DOUBLE_PRECISION, left, 5, give, much, MPI_DOUBLE_PRECISION, right, 5, world, &
                      MPI_STATUS_IGNORE ERR)
    if (give(1) /= rank) error stop 'MPI_Sendrecv back'
    call MPI_Bcast(out, n, MPI_DOUBLE_PRECISION, 0, world ERR)
    call MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_DOUBLE_PRECISION, MPI_SUM, world ERR)
    ranks(1 + rank) = rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, ranks, 1, MPI_INTEGER, world ERR)
    call MPI_Barrier(world ERR)
    call MPI_File_open(world, trim(directory)//'/data', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file ERR)
    call MPI_File_write_at_all(file, int(rank, MPI_OFFSET_KIND), 'x', 1, MPI_CHARACTER, status ERR)
    call MPI_File_close(file ERR)
    call MPI_Finalize(LAST)

    write (number, '(i0)') rank
    open (10, file=trim(directory)//'/expected.'//trim(number))
    call expect('Init_thread', 1, 0)
    call expect('Irecv', 1, 0)
    call expect('Send', 1, 8*n)
    call expect('Wait', 3, 0)
    call expect('Isend', 2, 8*(3 + 2))
    call expect('Recv', 2, 8*(3 + 2))
    call expect('Send_init', 1, 0)
    call expect('Recv_init', 1, 0)
    call expect('Startall', 1, 8*n)
    call expect('Waitall', 1, 0)
    call expect('Request_free', 2, 0)
    call expect('Sendrecv', 2, 2*8*much)
    call expect('Bcast', 1, merge(8*n, 0, rank == 0))
    call expect('Allreduce', 1, 8*n)
    call expect('Allgather', 1, 4)
    call expect('Barrier', 1, 0)
    call expect('File_open', 1, 0)
    call expect('File_write_at_all', 1, 1)
    call expect('File_close', 1, 0)
    call expect('Finalize', 1, 0)
    close (10)

contains

    subroutine expect(name, times, bytes)
        character(len=*), intent(in) :: name
        integer, intent(in) :: times, bytes
        write (10, '(a,a,1x,i0,1x,i0)') 'MPI_', name, times, bytes
    end subroutine
end program
