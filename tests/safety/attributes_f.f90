! SPDX-License-Identifier: BSD-3-Clause
! As attributes.c, from Fortran.
program attributes
    use mpi
    implicit none
    integer :: rank, n_ranks, keyval, copied, ierror
    integer(MPI_ADDRESS_KIND) :: value = 7, extra = 0
    external copy
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, ierror)
    call MPI_Pcontrol(0)
    if (rank == n_ranks - 1) then
        call MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, keyval, extra, ierror)
        call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierror)
    end if
    call MPI_Comm_dup(MPI_COMM_WORLD, copied, ierror)
    call MPI_Comm_free(copied, ierror)
    call MPI_Finalize(ierror)
end program

subroutine copy(comm, keyval, extra, in, out, flag, ierror)
    use mpi
    implicit none
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    print '(a)', 'copied'
    out = in
    flag = .true.
    ierror = MPI_SUCCESS
end subroutine
