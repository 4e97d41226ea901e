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
    end interface

contains

    subroutine call_region(function, name)
        character(len=*), intent(in) :: function, name
        character(kind=c_char, len=:), allocatable, target :: text
        type(c_funptr) :: found
        procedure(region_call), pointer :: region
        found = find_symbol(c_null_ptr, function // c_null_char)
        if (.not. c_associated(found)) return
        call c_f_procpointer(found, region)
        if (len_trim(name) == 0 .and. function == "pcollect_region_end") then
            call region(c_null_ptr)
        else
            text = trim(name) // c_null_char
            call region(c_loc(text))
        end if
    end subroutine call_region

    subroutine pcollect_region_begin(name)
        character(len=*), intent(in) :: name
        call call_region("pcollect_region_begin", name)
    end subroutine pcollect_region_begin

    subroutine pcollect_region_end(name)
        character(len=*), intent(in), optional :: name
        if (present(name)) then
            call call_region("pcollect_region_end", name)
        else
            call call_region("pcollect_region_end", "")
        end if
    end subroutine pcollect_region_end
end module pcollect
