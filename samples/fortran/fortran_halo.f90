! Heat on a ring of blocks: in each step every block copies its neighbours' edges into its halo, then computes.
program fortran_halo
    use netprof
    use, intrinsic :: iso_fortran_env, only: int64, real64
    implicit none
    integer, parameter :: blocks = 4, cells = 1000, steps = 200
    real(real64) :: heat(0:cells + 1, blocks) = 0, next(cells)
    integer(netprof_region_id) :: compute_region
    integer(int64) :: copied = 0
    integer :: step, block

    compute_region = netprof_region('compute')
    heat(cells/2, 1) = 1
    do step = 1, steps
        call netprof_begin('step')
        call exchange()
        do block = 1, blocks
            call netprof_begin(compute_region)
            next = heat(1:cells, block) + 0.25_real64*(heat(0:cells - 1, block) - 2*heat(1:cells, block) &
                + heat(2:cells + 1, block))
            heat(1:cells, block) = next
            call netprof_end(compute_region)
        end do
        call netprof_end('step')
    end do
    print '(i0,a,i0,a,i0,a,f0.6)', blocks, ' blocks, ', steps, ' steps: ', copied, ' bytes of halo copied, heat ', &
        sum(heat(1:cells, :))

contains

    subroutine exchange()
        integer :: left, right, bytes
        bytes = 0
        call netprof_begin('halo exchange')
        do block = 1, blocks
            left = modulo(block - 2, blocks) + 1
            right = modulo(block, blocks) + 1
            heat(0, block) = heat(cells, left)
            heat(cells + 1, block) = heat(1, right)
            bytes = bytes + 2*storage_size(heat)/8
        end do
        call netprof_bytes(bytes)
        call netprof_end('halo exchange')
        copied = copied + bytes
    end subroutine
end program
