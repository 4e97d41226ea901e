! SPDX-License-Identifier: BSD-3-Clause
! Phases and regions from Fortran: prints the lines that scopes_show.c must print of the profile.
program scopes_f
    use mpi
    use pcollect
    implicit none
    integer :: ierr, n, i
    call MPI_Init(ierr)
    call pcollect_region_begin("solve  ")
    do i = 1, 3
        call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
    end do
    call pcollect_region_begin("inner")
    call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
    call pcollect_region_end()
    call pcollect_region_end("solve")
    call MPI_Pcontrol(7)
    call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
    print '(a)', "calls solve 3", "calls solve/inner 1", "calls phase7 1", "entered phase7 1", &
        "entered solve 1", "entered solve/inner 1"
    print '(a)', "lost room 0", "lost open 0", "lost ends 0"
    call MPI_Finalize(ierr)
end program scopes_f
