! SPDX-License-Identifier: BSD-3-Clause
!
! Fortran for the test of symbols: a main program, a module, a contained procedure.
module halo
    implicit none
    integer, volatile :: total = 0
contains
    subroutine exchange(n)
        integer, intent(in) :: n
        call add(n)
        call add(n + 1)
    end subroutine exchange

    subroutine add(n)
        integer, intent(in) :: n
        total = total + n
        if (total > 1000) write (*, *) total
    end subroutine add
end module halo

program poisson
    use halo
    implicit none
    call exchange(3)
    call local(4)
    if (total < 0) call exchange(total)
contains
    subroutine local(n)
        integer, intent(in) :: n
        call add(n)
        call exchange(n)
    end subroutine local
end program poisson
