! SPDX-License-Identifier: BSD-3-Clause
!
! Counting from inside a program in Fortran (count.h says what it is). Compile this file with the
! program, link it with -lpccount, and
!
!     use, intrinsic :: iso_fortran_env, only: int64
!     use pcollect_count
!     type(pccount) :: c
!     integer(int64) :: values(PCCOUNT_MOST_EVENTS)
!     logical :: known
!     c = pccount_new("page-faults,task-clock")
!     if (.not. pccount_is_good(c)) print *, pccount_error()
!     call pccount_begin(c)
!     ...
!     call pccount_end(c)
!     call pccount_total(c, values, known)
!     if (.not. known) print *, pccount_why(c)
!     call pccount_free(c)
module pcollect_count
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int64
    implicit none
    private
    public :: pccount, pccount_new, pccount_is_good, pccount_error, pccount_begin, pccount_end
    public :: pccount_thread, pccount_total, pccount_why, pccount_free

    integer, parameter, public :: PCCOUNT_MOST_EVENTS = 15
    integer, parameter :: ERROR_BYTES = 512

    type :: pccount
        type(c_ptr) :: handle = c_null_ptr
    end type pccount

    type, bind(c) :: count_values
        integer(c_int64_t) :: value(PCCOUNT_MOST_EVENTS), n_threads, n_ended
    end type count_values

    character(len=ERROR_BYTES), save :: last_error = ""

    interface
        function c_new(events, why) bind(c, name="pccount_new")
            import :: c_ptr, c_char
            character(kind=c_char), intent(in) :: events(*)
            character(kind=c_char), intent(out) :: why(*)
            type(c_ptr) :: c_new
        end function c_new
        function c_begin(c) bind(c, name="pccount_begin")
            import :: c_ptr, c_int
            type(c_ptr), value :: c
            integer(c_int) :: c_begin
        end function c_begin
        function c_end(c) bind(c, name="pccount_end")
            import :: c_ptr, c_int
            type(c_ptr), value :: c
            integer(c_int) :: c_end
        end function c_end
        function c_thread(c, values) bind(c, name="pccount_thread")
            import :: c_ptr, c_int, count_values
            type(c_ptr), value :: c
            type(count_values), intent(out) :: values
            integer(c_int) :: c_thread
        end function c_thread
        function c_total(c, values) bind(c, name="pccount_total")
            import :: c_ptr, c_int, count_values
            type(c_ptr), value :: c
            type(count_values), intent(out) :: values
            integer(c_int) :: c_total
        end function c_total
        function c_why(c) bind(c, name="pccount_why")
            import :: c_ptr
            type(c_ptr), value :: c
            type(c_ptr) :: c_why
        end function c_why
        function c_strlen(text) bind(c, name="strlen")
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: c_strlen
        end function c_strlen
        subroutine c_free(c) bind(c, name="pccount_free")
            import :: c_ptr
            type(c_ptr), value :: c
        end subroutine c_free
    end interface

contains

    function pccount_new(events) result(c)
        character(len=*), intent(in) :: events
        type(pccount) :: c
        character(kind=c_char) :: why(ERROR_BYTES)
        why = c_null_char
        c%handle = c_new(trim(events) // c_null_char, why)
        last_error = ""
        if (.not. c_associated(c%handle)) last_error = text_of(why)
    end function pccount_new

    ! The characters before the null character that ends a text of C, or all.
    function text_of(characters) result(text)
        character(kind=c_char), intent(in) :: characters(:)
        character(len=size(characters)) :: text
        integer :: i
        text = ""
        do i = 1, size(characters)
            if (characters(i) == c_null_char) exit
            text(i:i) = characters(i)
        end do
    end function text_of

    logical function pccount_is_good(c)
        type(pccount), intent(in) :: c
        pccount_is_good = c_associated(c%handle)
    end function pccount_is_good

    ! Why the last pccount_new failed.
    function pccount_error()
        character(len=:), allocatable :: pccount_error
        pccount_error = trim(last_error)
    end function pccount_error

    ! Why the last call of this thread failed; empty if it did not, or if there is no such count.
    function pccount_why(c)
        type(pccount), intent(in) :: c
        character(len=:), allocatable :: pccount_why
        character(kind=c_char), pointer :: text(:)
        type(c_ptr) :: why
        pccount_why = ""
        if (.not. c_associated(c%handle)) return
        why = c_why(c%handle)
        call c_f_pointer(why, text, [c_strlen(why)])
        pccount_why = text_of(text)
    end function pccount_why

    ! done: whether the thread counts.
    subroutine pccount_begin(c, done)
        type(pccount), intent(in) :: c
        logical, intent(out), optional :: done
        integer(c_int) :: status
        status = -1
        if (c_associated(c%handle)) status = c_begin(c%handle)
        if (present(done)) done = status == 0
    end subroutine pccount_begin

    subroutine pccount_end(c)
        type(pccount), intent(in) :: c
        integer(c_int) :: status
        if (c_associated(c%handle)) status = c_end(c%handle)
    end subroutine pccount_end

    ! Counts of the calling thread. known: false if there are none, or if others took its counters: pccount_why
    ! says why.
    subroutine pccount_thread(c, values, known)
        type(pccount), intent(in) :: c
        integer(int64), intent(out) :: values(:)
        logical, intent(out), optional :: known
        type(count_values) :: all
        integer(c_int) :: status
        status = -1
        all = count_values(0, 0, 0)
        if (c_associated(c%handle)) status = c_thread(c%handle, all)
        if (present(known)) known = status == 0
        call give(all, values)
    end subroutine pccount_thread

    ! Counts of all threads. known: false if they are not: pccount_why says why.
    subroutine pccount_total(c, values, known)
        type(pccount), intent(in) :: c
        integer(int64), intent(out) :: values(:)
        logical, intent(out), optional :: known
        type(count_values) :: all
        integer(c_int) :: status
        status = -1
        all = count_values(0, 0, 0)
        if (c_associated(c%handle)) status = c_total(c%handle, all)
        if (present(known)) known = status == 0
        call give(all, values)
    end subroutine pccount_total

    subroutine give(all, values)
        type(count_values), intent(in) :: all
        integer(int64), intent(out) :: values(:)
        integer :: n
        n = min(size(values), PCCOUNT_MOST_EVENTS)
        values = 0
        values(:n) = all%value(:n)
    end subroutine give

    subroutine pccount_free(c)
        type(pccount), intent(inout) :: c
        if (c_associated(c%handle)) call c_free(c%handle)
        c%handle = c_null_ptr
    end subroutine pccount_free

end module pcollect_count
