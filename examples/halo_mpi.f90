! SPDX-License-Identifier: BSD-3-Clause
!
! The halo exchange of poisson.c in Fortran, with the `mpi` module (halo_f08.f90: with `mpi_f08`).
!
! Every rank owns a block of a grid that is periodic along its first dimension. Each cell holds its
! global number, so that after the exchange every ghost cell has a known value: all are checked.
! In Fortran the first index is contiguous: columns are sent as they are, rows by a strided type.
module halo
    use mpi
    implicit none
    private
    public :: grid, make_grid, free_grid, fill, exchange_halo, wrong_cells

    integer, parameter :: tag_halo = 1

    type grid
        integer :: comm, row                  ! communicator, datatype of one row
        integer :: rank, dims(2), coords(2)
        integer :: up, down, left, right      ! neighbours, or MPI_PROC_NULL
        integer :: n                          ! interior cells along an edge of the block
    end type grid

contains

    subroutine make_grid(g, n)
        type(grid), intent(out) :: g
        integer, intent(in) :: n
        integer :: n_ranks, ierr
        logical :: periodic(2)

        g%n = n
        g%dims = 0
        periodic = (/.true., .false./)
        call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, ierr)
        call MPI_Dims_create(n_ranks, 2, g%dims, ierr)
        call MPI_Cart_create(MPI_COMM_WORLD, 2, g%dims, periodic, .false., g%comm, ierr)
        call MPI_Comm_rank(g%comm, g%rank, ierr)
        call MPI_Cart_coords(g%comm, g%rank, 2, g%coords, ierr)
        call MPI_Cart_shift(g%comm, 0, 1, g%up, g%down, ierr)
        call MPI_Cart_shift(g%comm, 1, 1, g%left, g%right, ierr)
        call MPI_Type_vector(n, 1, n + 2, MPI_DOUBLE_PRECISION, g%row, ierr)
        call MPI_Type_commit(g%row, ierr)
    end subroutine make_grid

    subroutine free_grid(g)
        type(grid), intent(inout) :: g
        integer :: ierr

        call MPI_Type_free(g%row, ierr)
        call MPI_Comm_free(g%comm, ierr)
    end subroutine free_grid

    ! Global number of cell (i, j) of the block, for ghost cells that of their owner; `step` makes
    ! the values of each exchange different. -1: outside of the domain.
    double precision function number(g, i, j, step)
        type(grid), intent(in) :: g
        integer, intent(in) :: i, j, step
        integer :: y, x

        y = modulo(g%coords(1)*g%n + i - 1, g%dims(1)*g%n)
        x = g%coords(2)*g%n + j - 1
        number = -1
        if (x >= 0 .and. x < g%dims(2)*g%n) number = dble(y)*g%dims(2)*g%n + x + step
    end function number

    subroutine fill(g, field, step)
        type(grid), intent(in) :: g
        double precision, intent(out) :: field(0:, 0:)
        integer, intent(in) :: step
        integer :: i, j

        field = -1
        do j = 1, g%n
            do i = 1, g%n
                field(i, j) = number(g, i, j, step)
            end do
        end do
    end subroutine fill

    subroutine exchange_halo(g, field)
        type(grid), intent(in) :: g
        double precision, intent(inout), asynchronous :: field(0:g%n + 1, 0:g%n + 1)
        integer :: r(8), n, ierr

        n = g%n
        call MPI_Irecv(field(0, 1), 1, g%row, g%up, tag_halo, g%comm, r(1), ierr)
        call MPI_Irecv(field(n + 1, 1), 1, g%row, g%down, tag_halo + 1, g%comm, r(2), ierr)
        call MPI_Irecv(field(1, 0), n, MPI_DOUBLE_PRECISION, g%left, tag_halo, g%comm, r(3), ierr)
        call MPI_Irecv(field(1, n + 1), n, MPI_DOUBLE_PRECISION, g%right, tag_halo, g%comm, r(4), ierr)
        call MPI_Isend(field(1, 1), 1, g%row, g%up, tag_halo + 1, g%comm, r(5), ierr)
        call MPI_Isend(field(n, 1), 1, g%row, g%down, tag_halo, g%comm, r(6), ierr)
        call MPI_Isend(field(1, 1), n, MPI_DOUBLE_PRECISION, g%left, tag_halo, g%comm, r(7), ierr)
        call MPI_Isend(field(1, n), n, MPI_DOUBLE_PRECISION, g%right, tag_halo, g%comm, r(8), ierr)
        call MPI_Waitall(8, r, MPI_STATUSES_IGNORE, ierr)
    end subroutine exchange_halo

    ! Cells of all ranks, corners aside, that do not hold what they should.
    integer function wrong_cells(g, field, step)
        type(grid), intent(in) :: g
        double precision, intent(in) :: field(0:, 0:)
        integer, intent(in) :: step
        integer :: i, j, mine, ierr

        mine = 0
        do j = 0, g%n + 1
            do i = 0, g%n + 1
                if ((i == 0 .or. i == g%n + 1) .and. (j == 0 .or. j == g%n + 1)) cycle
                if (field(i, j) /= number(g, i, j, step)) mine = mine + 1
            end do
        end do
        call MPI_Allreduce(mine, wrong_cells, 1, MPI_INTEGER, MPI_SUM, g%comm, ierr)
    end function wrong_cells
end module halo

program halo_mpi
    use mpi
    use halo
    implicit none
    integer, parameter :: n = 64, n_steps = 100
    type(grid) :: g
    double precision :: field(0:n + 1, 0:n + 1)
    integer :: step, wrong, ierr

    call MPI_Init(ierr)
    call make_grid(g, n)
    wrong = 0
    do step = 1, n_steps
        call fill(g, field, step)
        call exchange_halo(g, field)
        wrong = wrong + wrong_cells(g, field, step)
    end do
    if (g%rank == 0) print '(a, i0, a, i0, a, i0, a)', 'halo_mpi: ', g%dims(1), ' x ', g%dims(2), &
        ' ranks, ', wrong, ' wrong cells'
    call free_grid(g)
    call MPI_Finalize(ierr)
    if (wrong /= 0) stop 1
end program halo_mpi
