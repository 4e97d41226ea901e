! SPDX-License-Identifier: BSD-3-Clause
! Tail calls of external procedures and of a module's, as in multigrid programs: the driver calls a
! cycle, which ends with a smoother.
module smoothers
    implicit none
    integer :: sink = 0
contains
    subroutine smooth(n)
        use mpi
        integer, intent(in) :: n
        integer :: ierror
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        sink = sink + n + ierror
    end subroutine smooth

    subroutine relax(n)
        integer, intent(in) :: n
        sink = sink + 1
        call smooth(n)
    end subroutine relax
end module smoothers

subroutine cycle_of(n)
    use smoothers
    implicit none
    integer, intent(in) :: n
    sink = sink * 2
    call relax(n)
end subroutine cycle_of

program tail
    use mpi
    use smoothers
    implicit none
    integer :: ierror
    external :: cycle_of
    call MPI_Init(ierror)
    call cycle_of(3)
    call relax(4)
    call smooth(5)
    call MPI_Finalize(ierror)
end program tail
