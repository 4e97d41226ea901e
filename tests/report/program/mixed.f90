! SPDX-License-Identifier: BSD-3-Clause
! A program of Fortran and C++ (mixed.cc) with phases, regions, and communicators made from others, for the test of the page.
program mixed
    use mpi
    use pcollect
    use iso_c_binding
    implicit none
    interface
        subroutine smooth(n) bind(c, name="smooth")
            import :: c_int
            integer(c_int), value :: n
        end subroutine smooth
    end interface
    integer :: ierr, rank, half, twin
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
    call MPI_Comm_dup(half, twin, ierr)
    call MPI_Comm_set_name(twin, "twin</script><img src=x onerror=window.ran=1>", ierr)
    call pcollect_region_begin("first steps")
    call step(2)
    call pcollect_region_end("first steps")
    call MPI_Pcontrol(4)
    call step(6)
    call MPI_Pcontrol(7)
    call step(4)
    call MPI_Pcontrol(1)
    call MPI_Comm_free(twin, ierr)
    call MPI_Comm_free(half, ierr)
    call MPI_Finalize(ierr)
contains
    subroutine step(n)
        integer, intent(in) :: n
        integer :: i, sizes, values(1000), sums(1000)
        values = rank
        do i = 1, n
            call pcollect_region_begin("</script><b onload=window.ran=1>&amp;")
            call smooth(20000 * (rank + 1))
            call pcollect_region_end("</script><b onload=window.ran=1>&amp;")
            call MPI_Comm_size(MPI_COMM_WORLD, sizes, ierr)
            call MPI_Sendrecv(values, 1000, MPI_INTEGER, mod(rank + 1, sizes), 0, sums, 1000, MPI_INTEGER, &
                mod(rank + sizes - 1, sizes), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
            call MPI_Bcast(values, 10 * i, MPI_INTEGER, 0, twin, ierr)
            call MPI_Barrier(half, ierr)
        end do
    end subroutine step
end program mixed
