! SPDX-License-Identifier: BSD-3-Clause
!
! Counts page faults of an allocation from Fortran: "COUNTED PAGES".
program self_count
    use pcollect_count
    use, intrinsic :: iso_fortran_env, only: int64, int8
    implicit none
    integer, parameter :: pages = 20000
    type(pccount) :: c, none
    integer(int64) :: values(2)
    integer(int8), allocatable :: memory(:)
    logical :: done, known
    none = pccount_new("no-such-event")
    if (pccount_is_good(none)) stop 1
    print '(a)', pccount_error()
    c = pccount_new("page-faults,task-clock")
    if (.not. pccount_is_good(c)) stop 2
    call pccount_thread(c, values, known)
    if (known .or. index(pccount_why(c), "has not counted") == 0) stop 4
    allocate(memory(pages * 4096))
    call pccount_begin(c, done)
    if (.not. done) stop 3
    memory = 1_int8
    call pccount_end(c)
    call pccount_thread(c, values)
    print *, values(1), pages, memory(size(memory))
    call pccount_total(c, values, known)
    if (.not. known .or. pccount_why(c) /= "" .or. pccount_why(none) /= "") stop 5
    print *, values(1), pages, merge(1, 0, values(2) > 0)
    call pccount_free(c)
end program self_count
