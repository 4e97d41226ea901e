! SPDX-License-Identifier: BSD-3-Clause
!
! The same calls by mpif.h, use mpi and use mpi_f08 (-DBINDING=1, 2, 3): those for which a binding
! calls other functions for itself among them. Each is made a number of times that no other has, so
! that a call counted twice, or under another name, cannot be made up for.
#if BINDING == 1
#define REQUEST integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define COMM integer
#define TYPE_ integer
#elif BINDING == 2
#define REQUEST integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define COMM integer
#define TYPE_ integer
#else
#define REQUEST type(MPI_Request)
#define STATUS type(MPI_Status)
#define COMM type(MPI_Comm)
#define TYPE_ type(MPI_Datatype)
#endif

program adapter_fortran
#if BINDING == 2
    use mpi
#elif BINDING == 3
    use mpi_f08
#endif
    implicit none
#if BINDING == 1
    include 'mpif.h'
#endif
    integer :: rank, size, ierr, i, next, last, indices(4), n_done, got
    integer :: dims(1), coords(1), counts(8), displs(8), a(64), b(64), ok_rank, version, subversion
    logical :: flag, periods(1), remain(1)
    REQUEST :: requests(4), request
    STATUS :: status_
    COMM :: grid, copy, sub
    TYPE_ :: vector

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    do i = 1, 2
        call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
    end do
    next = mod(rank + 1, size)
    last = mod(rank + size - 1, size)
    a = rank
    do i = 1, 3 ! 12 bytes each way
        call MPI_Sendrecv(a, 3, MPI_INTEGER, next, 1, b, 3, MPI_INTEGER, last, 1, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end do
    do i = 1, 4
        call MPI_Irecv(b, 10, MPI_INTEGER, last, 2, MPI_COMM_WORLD, request, ierr)
        call MPI_Send(a, 5, MPI_INTEGER, next, 2, MPI_COMM_WORLD, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    end do
    do i = 1, 2
        call MPI_Irecv(b(1:10), 10, MPI_INTEGER, last, 3, MPI_COMM_WORLD, requests(1), ierr)
        call MPI_Isend(a(1:5), 5, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2), ierr)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    end do
    call MPI_Irecv(b, 10, MPI_INTEGER, last, 3, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(a, 5, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitsome(2, requests, n_done, indices, MPI_STATUSES_IGNORE, ierr)
    if (n_done < 2) call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    ! Not of none: then Open MPI's binding calls no function of C.
    if (n_done == 2) call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, ierr)

    call MPI_Recv_init(b, 10, MPI_INTEGER, last, 4, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Send_init(a, 6, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(2), ierr)
    do i = 1, 5
        call MPI_Startall(2, requests, ierr)
        call MPI_Wait(requests(1), status_, ierr)
        call MPI_Wait(requests(2), status_, ierr)
    end do
    call MPI_Get_count(status_, MPI_INTEGER, got, ierr)
    call MPI_Request_free(requests(1), ierr)
    call MPI_Request_free(requests(2), ierr)

    counts = 2
    displs = (/(2 * (i - 1), i = 1, 8)/)
    do i = 1, 6
        call MPI_Gatherv(a, 2, MPI_INTEGER, b, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    end do
    do i = 1, 7
        call MPI_Allgatherv(a, 2, MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    end do
    do i = 1, 8
        call MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    end do
    do i = 1, 9
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
    do i = 1, 10
        call MPI_Bcast(a, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end do
    call MPI_Reduce(a, b, 4, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
    call MPI_Alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)

    dims = size
    periods = .true.
    call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .false., grid, ierr)
    coords = rank
    do i = 1, 11
        call MPI_Cart_rank(grid, coords, ok_rank, ierr)
    end do
    do i = 1, 12
        call MPI_Cart_shift(grid, 0, 1, last, next, ierr)
    end do
    remain = .true.
    call MPI_Cart_sub(grid, remain, sub, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
    call MPI_Comm_free(copy, ierr)
    call MPI_Comm_free(sub, ierr)
    call MPI_Comm_free(grid, ierr)
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, vector, ierr)
    call MPI_Type_commit(vector, ierr)
    call MPI_Type_free(vector, ierr)
#if BINDING == 3
    ! A section with holes: the binding may make a datatype for it.
    if (MPI_SUBARRAYS_SUPPORTED) then
        call MPI_Bcast(a(1:7:2), 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    else
        call MPI_Bcast(a, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    end if
#else
    call MPI_Bcast(a, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
#endif
    call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
    call MPI_Initialized(flag, ierr)
    call MPI_Get_version(version, subversion, ierr)
    call MPI_Finalize(ierr)
end program
