! SPDX-License-Identifier: BSD-3-Clause
! Computes in ways that leave the compiler's own code and the run-time library's on the stack: whole
! arrays, matmul, transpose, formatted output into a string, recursion with sections. Argument: rounds.
program foreign
    implicit none
    integer, parameter :: n = 200
    real(8), allocatable :: a(:, :), b(:, :), c(:, :)
    real(8) :: total
    integer :: round, rounds, i, j
    character(len=40) :: text
    call get_command_argument(1, text)
    read (text, *) rounds
    allocate (a(n, n), b(n, n), c(n, n))
    total = 0
    do round = 1, rounds
        call random_number(a)
        b = transpose(a)
        c = matmul(a, b)
        do j = 1, n
            do i = 1, n
                c(i, j) = c(i, j) + sin(a(i, j))*exp(-b(i, j))
            end do
            write (text, '(f20.10, i8)') c(1, j), j
            total = total + sum(c(:, j)) + len_trim(text)
        end do
        call descend(c, n, total)
    end do
    if (total > 0) print '(a)', 'done'
contains
    recursive subroutine descend(x, m, r)
        integer, intent(in) :: m
        real(8), intent(inout) :: x(:, :), r
        integer :: l
        if (m < 4) return
        do l = 1, m, 8
            r = r + maxval(x(1:m:2, l)) + dot_product(x(1:m, l), x(l, 1:m))
            where (x(:, l) > 10.) x(:, l) = x(:, l)/2
        end do
        call descend(x, m - 2, r)
    end subroutine
end program
