! SPDX-License-Identifier: BSD-3-Clause
!
! hang FILE: each rank waits for a message of the next. Makes FILE.RANK.PID before.
program hang
    use mpi
    implicit none
    character(len=4096) :: name
    character(len=32) :: number
    integer :: rank, n_ranks, ierr
    call get_command_argument(1, name)
    call mpi_init(ierr)
    call mpi_comm_rank(mpi_comm_world, rank, ierr)
    call mpi_comm_size(mpi_comm_world, n_ranks, ierr)
    write (number, '(i0, ".", i0)') rank, getpid()
    open (10, file=trim(name) // '.' // trim(number))
    close (10)
    call receive_in_a_circle(mod(rank + 1, n_ranks))
    call mpi_finalize(ierr)
contains
    subroutine receive_in_a_circle(from)
        integer, intent(in) :: from
        integer :: token(1), error
        call mpi_recv(token, 1, mpi_integer, from, 0, mpi_comm_world, mpi_status_ignore, error)
    end subroutine
end program
