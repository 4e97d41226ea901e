# SPDX-License-Identifier: BSD-3-Clause
# Finds an interpreter whose frames are read: $python, $python_version; else the script ends with a skip.
python=
for candidate in /usr/bin/python3 python3; do
    python_version=$($candidate -c 'import ctypes, sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
    case $python_version in
    3.11 | 3.12 | 3.13)
        # Must not be a script that starts another interpreter.
        python=$($candidate -c 'import os, sys; print(os.path.realpath(sys.executable))')
        break
        ;;
    esac
done
[ -n "$python" ] || skip_all "there is no python3 of version 3.11 to 3.13 with ctypes"
