! Regions of netprof for Fortran; link with libnetprof-regions.so.
!
!     use netprof
!     call netprof_begin('halo')                  ! by name: looked up each time, about 50 ns
!     call netprof_bytes(n)
!     call netprof_end('halo')
!
!     integer(netprof_region_id), save :: halo = 0
!     if (halo == 0) halo = netprof_region('halo')
!     call netprof_begin(halo)                    ! by number: as fast as in C
!
! At the end of the program a file is written; the environment (NETPROF, NETPROF_OUTPUT, ...) is that of netprof.h.
module netprof
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: netprof_region, netprof_begin, netprof_end, netprof_bytes, netprof_set_rank, netprof_flush
    public :: netprof_span, netprof_span_begin, netprof_span_end, netprof_region_every, netprof_set_mode
    public :: netprof_span_bytes, netprof_span_wait, netprof_value

    integer, parameter, public :: netprof_region_id = c_int32_t
    integer(c_int), parameter, public :: netprof_mode_off = 1, netprof_mode_time = 2, netprof_mode_fast = 3, &
        netprof_mode_sampler = 4

    ! Work that goes on beside; another thread may end it, in any order.
    type, bind(c) :: netprof_span
        integer(c_int32_t) :: region, sample
        integer(c_int64_t) :: begin_ticks, wait_ticks, suspend_ticks, bytes
        type(c_ptr) :: place
    end type

    interface netprof_begin
        procedure begin_id, begin_name
    end interface
    interface netprof_end
        procedure end_id, end_name
    end interface
    interface netprof_span_begin
        procedure span_begin_id, span_begin_name
    end interface
    interface netprof_bytes
        procedure bytes_32, bytes_64
    end interface

    interface
        function c_region(name) bind(c, name='netprof_region') result(id)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int32_t) :: id
        end function
        subroutine begin_id(region) bind(c, name='netprof_begin')
            import
            integer(c_int32_t), value :: region
        end subroutine
        subroutine end_id(region) bind(c, name='netprof_end')
            import
            integer(c_int32_t), value :: region
        end subroutine
        function span_begin_id(region) bind(c, name='netprof_span_begin') result(span)
            import
            integer(c_int32_t), value :: region
            type(netprof_span) :: span
        end function
        subroutine netprof_span_end(span) bind(c, name='netprof_span_end')
            import
            type(netprof_span), value :: span
        end subroutine
        subroutine netprof_span_bytes(span, bytes) bind(c, name='netprof_span_bytes') ! that it moves
            import
            type(netprof_span), intent(inout) :: span
            integer(c_int64_t), value :: bytes
        end subroutine
        subroutine netprof_span_wait(span) bind(c, name='netprof_span_wait') ! from here on the program waits for it
            import
            type(netprof_span), intent(inout) :: span
        end subroutine
        subroutine netprof_value(name, value) bind(c, name='netprof_value') ! name: of netprof_region
            import
            integer(c_int32_t), value :: name
            integer(c_int64_t), value :: value
        end subroutine
        subroutine bytes_64(bytes) bind(c, name='netprof_bytes')
            import
            integer(c_int64_t), value :: bytes
        end subroutine
        subroutine netprof_region_every(region, n) bind(c, name='netprof_region_every') ! measure every n-th call
            import
            integer(c_int32_t), value :: region
            integer(c_int), value :: n
        end subroutine
        subroutine netprof_set_mode(mode) bind(c, name='netprof_set_mode')
            import
            integer(c_int), value :: mode
        end subroutine
        subroutine netprof_set_rank(rank, ranks) bind(c, name='netprof_set_rank') ! -1: not known
            import
            integer(c_int), value :: rank, ranks
        end subroutine
        function c_flush(error) bind(c, name='netprof_flush') result(code)
            import
            type(c_ptr), value :: error
            integer(c_int) :: code
        end function
    end interface

contains

    ! The number of a name, for the whole run. Blanks at the end are no part of it.
    function netprof_region(name) result(id)
        character(len=*), intent(in) :: name
        integer(netprof_region_id) :: id
        id = c_region(trim(name)//c_null_char)
    end function

    subroutine begin_name(name)
        character(len=*), intent(in) :: name
        call begin_id(netprof_region(name))
    end subroutine

    subroutine end_name(name)
        character(len=*), intent(in) :: name
        call end_id(netprof_region(name))
    end subroutine

    function span_begin_name(name) result(span)
        character(len=*), intent(in) :: name
        type(netprof_span) :: span
        span = span_begin_id(netprof_region(name))
    end function

    subroutine bytes_32(bytes)
        integer(c_int32_t), intent(in) :: bytes
        call bytes_64(int(bytes, c_int64_t))
    end subroutine

    ! Writes the file now; .true. when that worked.
    function netprof_flush() result(done)
        logical :: done
        done = c_flush(c_null_ptr) == 0
    end function
end module
