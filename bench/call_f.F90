! SPDX-License-Identifier: BSD-3-Clause
!
! call_f: what bench/call measures, from Fortran. Prints nanoseconds an MPI call in the fastest of its
! batches, and the number of calls. Arguments: comm_rank, iprobe or self, and depth=N.
program call_f
    use mpi
    implicit none
    integer, parameter :: batches = 21, calls = 20000
    integer :: error, rank, depth
    character(len=32) :: what, option
    double precision :: ns
    integer :: per_turn

    depth = 5
    call get_command_argument(1, what)
    call get_command_argument(2, option)
    if (option(1:6) == 'depth=') read (option(7:), *) depth
    per_turn = 1
    if (what == 'self') per_turn = 3
    if (what /= 'comm_rank' .and. what /= 'iprobe' .and. what /= 'self') error stop 'call_f: which call?'
    call mpi_init(error)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
    ! The program, its C main, measure, batch and the function that calls are five of the frames.
    call descend(max(depth - 5, 0), ns)
    if (rank == 0) print '(f0.3, 1x, i0)', ns, batches * calls * per_turn
    call mpi_finalize(error)

contains

    recursive subroutine descend(n, time_ns)
        integer, intent(in) :: n
        double precision, intent(out) :: time_ns
        if (n > 0) then
            call descend(n - 1, time_ns)
        else
            call measure(time_ns)
        end if
        if (time_ns < 0) print *, n ! behind the call: it does not become a jump
    end subroutine

    subroutine measure(time_ns)
        double precision, intent(out) :: time_ns
        double precision :: time
        integer :: i
        time_ns = huge(time_ns)
        call batch(time)
        do i = 1, batches
            call batch(time)
            time_ns = min(time_ns, time / (calls * per_turn))
        end do
    end subroutine

    subroutine batch(time)
        double precision, intent(out) :: time
        integer(kind=8) :: begin, end, rate
        integer :: i
        call system_clock(begin, rate)
        select case (what)
        case ('comm_rank')
            do i = 1, calls
                call one_comm_rank()
            end do
        case ('iprobe')
            do i = 1, calls
                call one_iprobe()
            end do
        case default
            do i = 1, calls
                call one_self()
            end do
        end select
        call system_clock(end)
        time = dble(end - begin) * 1d9 / dble(rate)
    end subroutine

    subroutine one_comm_rank()
        integer :: r, e
        call mpi_comm_rank(MPI_COMM_WORLD, r, e)
    end subroutine

    subroutine one_iprobe()
        logical :: flag
        integer :: e
        call mpi_iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, e)
    end subroutine

    subroutine one_self()
        integer :: request, e
        integer :: outbox(1), inbox(1)
        call mpi_irecv(inbox, 0, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request, e)
        call mpi_send(outbox, 0, MPI_INTEGER, 0, 1, MPI_COMM_SELF, e)
        call mpi_wait(request, MPI_STATUS_IGNORE, e)
    end subroutine
end program
