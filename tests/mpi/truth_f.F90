! SPDX-License-Identifier: BSD-3-Clause
!
! Truth program in Fortran, built three times: with mpif.h, with `use mpi` (-DUSE_MPI) and with
! `use mpi_f08` (-DUSE_F08). It keeps its account as the C programs do (truth.h). CALLS(f, sent,
! received)(arguments) is one call of f. The preprocessor is the traditional one, which also replaces
! macro arguments inside strings.
#ifdef USE_F08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define DATATYPE type(MPI_Datatype)
#define OPERATOR_T type(MPI_Op)
#define STATUS_T type(MPI_Status)
#define MODULE use mpi_f08
#define HEADER
#define STATUSES(s, n) type(MPI_Status) :: s(n)
#define SOURCE(s) s%MPI_SOURCE
#define SOURCE_OF(s, i) s(i)%MPI_SOURCE
#else
#define COMM integer
#define REQUEST integer
#define DATATYPE integer
#define OPERATOR_T integer
#define STATUS_T integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(s, n) integer :: s(MPI_STATUS_SIZE, n)
#define SOURCE(s) s(MPI_SOURCE)
#define SOURCE_OF(s, i) s(MPI_SOURCE, i)
#ifdef USE_MPI
#define MODULE use mpi
#define HEADER
#else
#define MODULE
#define HEADER include 'mpif.h'
#endif
#endif

#define CALLS(f, s, r) call truth_call("f"//c_null_char, __LINE__, int(s, 8), int(r, 8)); call f
#define DO(f) call truth_line(__LINE__); call f
#define ENTER(f) call truth_enter("f"//c_null_char)
#define LEAVE call truth_leave()

module account
    use iso_c_binding
    implicit none
    interface
        subroutine truth_enter(name) bind(C)
            import
            character(kind=c_char), intent(in) :: name(*)
        end subroutine
        subroutine truth_leave() bind(C)
        end subroutine
        subroutine truth_line(line) bind(C)
            import
            integer(c_int), value :: line
        end subroutine
        subroutine truth_rank(rank) bind(C)
            import
            integer(c_int), value :: rank
        end subroutine
        subroutine truth_call(name, line, sent, received) bind(C)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), value :: line
            integer(c_int64_t), value :: sent, received
        end subroutine
    end interface
end module account

module parts
    use account
    MODULE
    implicit none
    HEADER
    COMM :: world
    integer :: rank, n_ranks, right, left
    integer :: out(256), in(256), room(256)

contains

    subroutine neighbours()
        STATUS_T :: s
        integer :: n, m, ierr
        ENTER(neighbours)
        n = rank + 1
        m = left + 1
        CALLS(MPI_Sendrecv, 4*n, 4*m)(out, n, MPI_INTEGER, right, 1, in, 64, MPI_INTEGER, left, 1, world, s, ierr)
        CALLS(MPI_Sendrecv, 8, 8)(out, 1, MPI_DOUBLE_PRECISION, right, 1, in, 1, MPI_DOUBLE_PRECISION, left, 1, world, MPI_STATUS_IGNORE, ierr)
        CALLS(MPI_Sendrecv_replace, 12, 12)(in, 3, MPI_INTEGER, right, 2, left, 2, world, s, ierr)
        CALLS(MPI_Send, 0, 0)(out, 3, MPI_INTEGER, MPI_PROC_NULL, 2, world, ierr)
        CALLS(MPI_Recv, 0, 0)(in, 3, MPI_INTEGER, MPI_PROC_NULL, 2, world, MPI_STATUS_IGNORE, ierr)
        LEAVE
    end subroutine neighbours

    subroutine pairs()
        STATUS_T :: s
        integer :: ierr, from
        ENTER(pairs)
        if (mod(rank, 2) == 0 .and. rank + 1 < n_ranks) then
            CALLS(MPI_Send, 4*rank, 0)(out, rank, MPI_INTEGER, rank + 1, 3, world, ierr)
            CALLS(MPI_Ssend, 16, 0)(out, 2, MPI_DOUBLE_PRECISION, rank + 1, 3, world, ierr)
            CALLS(MPI_Send, 5, 0)(out, 5, MPI_BYTE, rank + 1, 3, world, ierr)
        else if (mod(rank, 2) == 1) then
            CALLS(MPI_Probe, 0, 0)(MPI_ANY_SOURCE, 3, world, s, ierr)
            from = SOURCE(s)
            CALLS(MPI_Recv, 0, 4*(rank - 1))(in, 64, MPI_INTEGER, from, 3, world, MPI_STATUS_IGNORE, ierr)
            CALLS(MPI_Recv, 0, 16)(in, 64, MPI_DOUBLE_PRECISION, rank - 1, 3, world, s, ierr)
            CALLS(MPI_Recv, 0, 5)(in, 64, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE, ierr)
        end if
        LEAVE
    end subroutine pairs

    subroutine nonblocking()
        REQUEST :: r(4)
        STATUS_T :: s
        integer :: i, n, m, which, ierr
        logical :: flag
        ENTER(nonblocking)
        n = rank
        m = left
        do i = 1, 10
            CALLS(MPI_Irecv, 0, 4*m)(in, 64, MPI_INTEGER, left, 4, world, r(1), ierr)
            CALLS(MPI_Irecv, 0, 8)(in(65), 8, MPI_INTEGER, left, 5, world, r(2), ierr)
            CALLS(MPI_Isend, 4*n, 0)(out, n, MPI_INTEGER, right, 4, world, r(3), ierr)
            CALLS(MPI_Issend, 8, 0)(out, 2, MPI_INTEGER, right, 5, world, r(4), ierr)
            if (mod(i, 2) == 0) then
                CALLS(MPI_Waitall, 0, 0)(4, r, MPI_STATUSES_IGNORE, ierr)
            else
                CALLS(MPI_Waitany, 0, 0)(4, r, which, s, ierr)
                CALLS(MPI_Waitany, 0, 0)(4, r, which, MPI_STATUS_IGNORE, ierr)
                flag = .false.
                do while (.not. flag)
                    CALLS(MPI_Testall, 0, 0)(4, r, flag, MPI_STATUSES_IGNORE, ierr)
                end do
            end if
        end do
        LEAVE
    end subroutine nonblocking

    subroutine persistent()
        REQUEST :: r(2)
        integer :: i, ierr
        ENTER(persistent)
        CALLS(MPI_Recv_init, 0, 0)(in, 64, MPI_INTEGER, left, 6, world, r(1), ierr)
        CALLS(MPI_Send_init, 0, 0)(out, 7, MPI_INTEGER, right, 6, world, r(2), ierr)
        do i = 1, 3
            CALLS(MPI_Startall, 28, 28)(2, r, ierr)
            CALLS(MPI_Waitall, 0, 0)(2, r, MPI_STATUSES_IGNORE, ierr)
        end do
        CALLS(MPI_Request_free, 0, 0)(r(1), ierr)
        CALLS(MPI_Request_free, 0, 0)(r(2), ierr)
        LEAVE
    end subroutine persistent

    subroutine derived()
        DATATYPE :: row
        integer :: ierr
        ENTER(derived)
        CALLS(MPI_Type_vector, 0, 0)(6, 2, 8, MPI_INTEGER, row, ierr)
        CALLS(MPI_Type_commit, 0, 0)(row, ierr)
        CALLS(MPI_Sendrecv, 48, 48)(out, 1, row, right, 7, in, 12, MPI_INTEGER, left, 7, world, MPI_STATUS_IGNORE, ierr)
        CALLS(MPI_Type_free, 0, 0)(row, ierr)
        LEAVE
    end subroutine derived

    subroutine collectives(root)
        integer, intent(in) :: root
        integer :: n, me, ierr, counts(n_ranks), offsets(n_ranks), i
        REQUEST :: r
        ENTER(collectives)
        n = n_ranks
        me = 0
        if (rank == root) me = 1
        counts = (/(i, i=1, n)/)
        offsets = (/((i - 1)*n, i=1, n)/)
        CALLS(MPI_Barrier, 0, 0)(world, ierr)
        CALLS(MPI_Bcast, me*12, (1 - me)*12)(in, 3, MPI_INTEGER, root, world, ierr)
        CALLS(MPI_Reduce, 8, me*8)(out, in, 1, MPI_DOUBLE_PRECISION, MPI_SUM, root, world, ierr)
        CALLS(MPI_Allreduce, 12, 12)(out, in, 3, MPI_INTEGER, MPI_SUM, world, ierr)
        CALLS(MPI_Allreduce, 8, 8)(MPI_IN_PLACE, in, 2, MPI_INTEGER, MPI_MAX, world, ierr)
        CALLS(MPI_Gather, 8, me*8*n)(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, root, world, ierr)
        CALLS(MPI_Scatter, me*8*n, 8)(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, root, world, ierr)
        CALLS(MPI_Allgather, 4, 4*n)(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, world, ierr)
        CALLS(MPI_Allgather, 4, 4*n)(MPI_IN_PLACE, 0, MPI_INTEGER, in, 1, MPI_INTEGER, world, ierr)
        CALLS(MPI_Alltoall, 4*n, 4*n)(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, world, ierr)
        CALLS(MPI_Allgatherv, 4*(rank + 1), 2*n*(n + 1))(out, rank + 1, MPI_INTEGER, in, counts, offsets, MPI_INTEGER, world, ierr)
        CALLS(MPI_Scan, 4, 4)(out, in, 1, MPI_INTEGER, MPI_SUM, world, ierr)
        CALLS(MPI_Iallreduce, 12, 12)(out, room, 3, MPI_INTEGER, MPI_SUM, world, r, ierr)
        CALLS(MPI_Wait, 0, 0)(r, MPI_STATUS_IGNORE, ierr)
        LEAVE
    end subroutine collectives

    subroutine communicators()
        COMM :: half, dup
        integer :: size, ierr
        ENTER(communicators)
        CALLS(MPI_Comm_dup, 0, 0)(world, dup, ierr)
        CALLS(MPI_Comm_split, 0, 0)(dup, mod(rank, 2), rank, half, ierr)
        CALLS(MPI_Comm_size, 0, 0)(half, size, ierr)
        CALLS(MPI_Allgather, 4, 4*size)(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, half, ierr)
        CALLS(MPI_Comm_free, 0, 0)(half, ierr)
        CALLS(MPI_Comm_free, 0, 0)(dup, ierr)
        LEAVE
    end subroutine communicators

#ifdef USE_F08
    subroutine add_up(from, to, n, kind)
        type(c_ptr), value :: from, to
        integer :: n
        DATATYPE :: kind
        integer, pointer :: a(:), b(:)
        integer :: size, ierr
        ENTER(add_up)
        CALLS(MPI_Comm_size, 0, 0)(MPI_COMM_SELF, size, ierr)
        call c_f_pointer(from, a, (/n/))
        call c_f_pointer(to, b, (/n/))
        b = b + a*size
        LEAVE
    end subroutine add_up
#else
    subroutine add_up(a, b, n, kind)
        integer :: n, kind
        integer :: a(n), b(n)
        integer :: size, ierr
        ENTER(add_up)
        CALLS(MPI_Comm_size, 0, 0)(MPI_COMM_SELF, size, ierr)
        b = b + a*size
        LEAVE
    end subroutine add_up
#endif

    subroutine reduction()
        OPERATOR_T :: op
        integer :: one, total, ierr
        ENTER(reduction)
        one = 1
        CALLS(MPI_Op_create, 0, 0)(add_up, .true., op, ierr)
        CALLS(MPI_Allreduce, 4, 4)(one, total, 1, MPI_INTEGER, op, world, ierr)
        if (total /= n_ranks) stop 3
        CALLS(MPI_Op_free, 0, 0)(op, ierr)
        LEAVE
    end subroutine reduction

    subroutine at_end(comm_self, key, value, extra, ierr)
        COMM :: comm_self
        integer :: key, ierr
        integer(kind=MPI_ADDRESS_KIND) :: value, extra
        integer :: total
        ENTER(at_end)
        CALLS(MPI_Allreduce, 4, 4)(rank, total, 1, MPI_INTEGER, MPI_SUM, world, ierr)
        ierr = MPI_SUCCESS
        LEAVE
    end subroutine at_end

    subroutine attribute()
        integer :: key, ierr
        integer(kind=MPI_ADDRESS_KIND) :: nothing
        logical :: found
        ENTER(attribute)
        nothing = 0
        CALLS(MPI_Comm_create_keyval, 0, 0)(MPI_COMM_NULL_COPY_FN, at_end, key, nothing, ierr)
        CALLS(MPI_Comm_set_attr, 0, 0)(MPI_COMM_SELF, key, nothing, ierr)
        CALLS(MPI_Comm_get_attr, 0, 0)(world, MPI_TAG_UB, nothing, found, ierr)
        if (.not. found .or. nothing < 32767) stop 4
        LEAVE
    end subroutine attribute

    ! Calls on a communicator that has a name: the test compares the calls on it.
    subroutine named()
        COMM :: copy
        integer :: key, i, got, ierr
        integer(kind=MPI_ADDRESS_KIND) :: value
        logical :: found
        ENTER(named)
        CALLS(MPI_Comm_dup, 0, 0)(world, copy, ierr)
        CALLS(MPI_Comm_set_name, 0, 0)(copy, "a copy", ierr)
        CALLS(MPI_Comm_create_keyval, 0, 0)(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, value, ierr)
        value = 5
        CALLS(MPI_Comm_set_attr, 0, 0)(copy, key, value, ierr)
        value = 0
        do i = 1, 2
            CALLS(MPI_Comm_get_attr, 0, 0)(copy, key, value, found, ierr)
            if (.not. found .or. value /= 5) stop 11
        end do
        CALLS(MPI_Comm_delete_attr, 0, 0)(copy, key, ierr)
#ifndef USE_F08
        CALLS(MPI_Attr_put, 0, 0)(copy, key, 3, ierr)
        do i = 1, 3
            CALLS(MPI_Attr_get, 0, 0)(copy, key, got, found, ierr)
        end do
        if (.not. found .or. got /= 3) stop 12
#endif
        CALLS(MPI_Comm_free, 0, 0)(copy, ierr)
        CALLS(MPI_Comm_free_keyval, 0, 0)(key, ierr)
        LEAVE
    end subroutine named

    subroutine type_at_end(kind, key, value, extra, ierr)
        DATATYPE :: kind
        integer :: key, ierr
        integer(kind=MPI_ADDRESS_KIND) :: value, extra
        integer :: size
        ENTER(type_at_end)
        CALLS(MPI_Comm_size, 0, 0)(world, size, ierr)
        ierr = MPI_SUCCESS
        if (value /= 7 .or. extra /= 11) stop 5
        LEAVE
    end subroutine type_at_end

    ! Functions that the Fortran binding of some MPI implements without calling the C function.
    subroutine bound()
        DATATYPE :: real8, kind
        integer :: key, ierr
        integer(kind=MPI_ADDRESS_KIND) :: value, extra
        logical :: found
        ENTER(bound)
        value = 7
        extra = 11
        CALLS(MPI_Type_match_size, 0, 0)(MPI_TYPECLASS_REAL, 8, real8, ierr)
        CALLS(MPI_Type_dup, 0, 0)(real8, kind, ierr)
        CALLS(MPI_Type_create_keyval, 0, 0)(MPI_TYPE_NULL_COPY_FN, type_at_end, key, extra, ierr)
        CALLS(MPI_Type_set_attr, 0, 0)(kind, key, value, ierr)
        value = 0
        CALLS(MPI_Type_get_attr, 0, 0)(kind, key, value, found, ierr)
        if (.not. found .or. value /= 7) stop 6
        CALLS(MPI_Type_free, 0, 0)(kind, ierr)
        CALLS(MPI_Type_free_keyval, 0, 0)(key, ierr)
        CALLS(MPI_Pcontrol, 0, 0)(1)
        LEAVE
    end subroutine bound

    subroutine strided()
        REQUEST :: r(2)
        integer :: ierr, n
        integer, allocatable :: a(:,:), b(:,:)
        ENTER(strided)
        n = 4
        allocate (a(6, 8), b(6, 8))
        a = rank
        b = -1
#ifdef USE_F08
        if (MPI_SUBARRAYS_SUPPORTED) then
            CALLS(MPI_Irecv, 0, 16)(b(2, 1:8:2), n, MPI_INTEGER, left, 9, world, r(1), ierr)
            CALLS(MPI_Isend, 16, 0)(a(3, 2:8:2), n, MPI_INTEGER, right, 9, world, r(2), ierr)
            CALLS(MPI_Waitall, 0, 0)(2, r, MPI_STATUSES_IGNORE, ierr)
            CALLS(MPI_Sendrecv, 24, 24)(a(1:6:2, 1:3:2), 6, MPI_INTEGER, right, 9, b(2:6:2, 2:4:2), 6, MPI_INTEGER, left, 9, world, MPI_STATUS_IGNORE, ierr)
            if (any(b(2, 1:8:2) /= left) .or. any(b(2:6:2, 2:4:2) /= left) .or. count(b == -1) /= 38) stop 7
        end if
#endif
        ! If the MPI does not support subarrays, the compiler copies the section.
        CALLS(MPI_Bcast, merge(12, 0, rank == 0), merge(0, 12, rank == 0))(a(1:5:2, 3), 3, MPI_INTEGER, 0, world, ierr)
        if (any(a(1:5:2, 3) /= 0)) stop 8
        deallocate (a, b)
        LEAVE
    end subroutine strided

    subroutine constants()
        DATATYPE :: at
        STATUSES(s, 2)
        REQUEST :: r(2)
        integer, save, target :: here
        integer :: ierr, lengths(1)
        integer(kind=MPI_ADDRESS_KIND) :: offsets(1)
        ENTER(constants)
        here = rank
        lengths = 1
        CALLS(MPI_Get_address, 0, 0)(here, offsets(1), ierr)
        CALLS(MPI_Type_create_hindexed, 0, 0)(1, lengths, offsets, MPI_INTEGER, at, ierr)
        CALLS(MPI_Type_commit, 0, 0)(at, ierr)
        CALLS(MPI_Sendrecv, 4, 4)(MPI_BOTTOM, 1, at, right, 10, in, 1, MPI_INTEGER, left, 10, world, MPI_STATUS_IGNORE, ierr)
        if (in(1) /= left) stop 9
        CALLS(MPI_Type_free, 0, 0)(at, ierr)
        CALLS(MPI_Irecv, 0, 4)(in, 1, MPI_INTEGER, left, 11, world, r(1), ierr)
        CALLS(MPI_Irecv, 0, 8)(in(2), 2, MPI_INTEGER, left, 12, world, r(2), ierr)
        CALLS(MPI_Send, 4, 0)(out, 1, MPI_INTEGER, right, 11, world, ierr)
        CALLS(MPI_Send, 8, 0)(out, 2, MPI_INTEGER, right, 12, world, ierr)
        CALLS(MPI_Waitall, 0, 0)(2, r, s, ierr)
        if (SOURCE_OF(s, 2) /= left) stop 10
        LEAVE
    end subroutine constants
end module parts

program truth_f
    use account
    use parts
    implicit none
    integer :: ierr, i

    ENTER(truth_f)
    CALLS(MPI_Init, 0, 0)(ierr)
    world = MPI_COMM_WORLD
    CALLS(MPI_Comm_rank, 0, 0)(world, rank, ierr)
    CALLS(MPI_Comm_size, 0, 0)(world, n_ranks, ierr)
    call truth_rank(rank)
    right = mod(rank + 1, n_ranks)
    left = mod(rank + n_ranks - 1, n_ranks)
    do i = 1, 3
        DO(neighbours())
        DO(pairs())
        DO(nonblocking())
        DO(persistent())
        DO(derived())
        DO(collectives(0))
        DO(collectives(n_ranks - 1))
        DO(communicators())
        DO(reduction())
        DO(bound())
        DO(strided())
        DO(constants())
    end do
    DO(attribute())
    DO(named())
    CALLS(MPI_Finalize, 0, 0)(ierr)
    LEAVE
end program truth_f
