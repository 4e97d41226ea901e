! SPDX-License-Identifier: BSD-3-Clause
!
! Regions for Fortran (pcollect.h says what they are). Compile this file with the program and
!
!     use pcollect
!     call pcollect_region_begin("solve")
!     ...
!     call pcollect_region_end("solve")
!
! Nothing has to be linked; without libpcollect.so in the process nothing happens. Blanks at the end
! of a name are left out. An end without a name, or with a blank one, ends the innermost region.
module pcollect
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: pcollect_region_begin, pcollect_region_end

    abstract interface
        subroutine region_call(name) bind(c)
            import :: c_ptr
            type(c_ptr), value :: name
        end subroutine region_call
    end interface

    interface
        function find_symbol(handle, name) bind(c, name="dlsym")
            import :: c_ptr, c_funptr, c_char
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
            type(c_funptr) :: find_symbol
        end function find_symbol
        function take_error() bind(c, name="dlerror")
            import :: c_ptr
            type(c_ptr) :: take_error
        end function take_error
    end interface

    ! A function of the library, looked up once.
    type :: library_function
        logical :: absent = .false. ! there is no library
        type(c_funptr) :: address = c_null_funptr
    end type library_function

    type(library_function), save :: begin_function, end_function

contains

    subroutine call_region(function, symbol, name)
        type(library_function), intent(inout) :: function
        character(len=*), intent(in) :: symbol, name
        character(kind=c_char, len=:), allocatable, target :: text
        procedure(region_call), pointer :: region
        type(c_ptr) :: error
        if (function%absent) return
        if (.not. c_associated(function%address)) &
            function%address = find_symbol(c_null_ptr, symbol // c_null_char)
        function%absent = .not. c_associated(function%address)
        if (function%absent) error = take_error() ! that the program does not see it
        if (function%absent) return
        call c_f_procpointer(function%address, region)
        if (len_trim(name) == 0 .and. symbol == "pcollect_region_end") then
            call region(c_null_ptr)
        else
            text = trim(name) // c_null_char
            call region(c_loc(text))
        end if
    end subroutine call_region

    subroutine pcollect_region_begin(name)
        character(len=*), intent(in) :: name
        call call_region(begin_function, "pcollect_region_begin", name)
    end subroutine pcollect_region_begin

    subroutine pcollect_region_end(name)
        character(len=*), intent(in), optional :: name
        if (present(name)) then
            call call_region(end_function, "pcollect_region_end", name)
        else
            call call_region(end_function, "pcollect_region_end", "")
        end if
    end subroutine pcollect_region_end
end module pcollect
