# SPDX-License-Identifier: BSD-3-Clause
"""Commands for gdb: what pcollect has measured of the process that gdb holds.

    (gdb) source PREFIX/share/pcollect/pcollect-gdb.py
    (gdb) help pcollect

The command pcollect reads the files of the process and makes all figures. This file runs it, and compares the frames of
gdb with the paths of its tables. It calls no function in the process, and changes nothing there.
"""
import collections
import glob
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile

import gdb

# Frames that are in no report: of pcollect, of GNU's OpenMP, of MPI, and of libc below the first function of a thread.
OWN_LIBRARY = re.compile(r'/libpcollect\.so|/pcollect/[^/]+\.so|/libgomp\.so')
MPI_LIBRARY = re.compile(r'/libp?mpi[^/]*\.so')
LIBC = re.compile(r'/(libc|libpthread|ld-[^/]*|ld)[-.][^/]*$')
# MPI_Send, PMPI_Send, pmpi_send_ of Fortran, mpi_send_f08_ and pmpir_send_f08ts_large_ of its module mpi_f08, and the
# function of pcollect that calls it.
MPI_FUNCTION = re.compile(r'(?:wrap_)?p?(mpi)(?:(?<=pmpi)r)?(_\w*?)(?:_f08(?:ts)?(_large)?)?_*$', re.IGNORECASE)

# An element of a path: a function, or an MPI function with all frames inside of it. `names` are those that gdb knows.
Place = collections.namedtuple('Place', 'names file line mpi tail pc')


# ---- Frames of gdb as a path -------------------------------------------------------------------

def said(command):
    """The first line that gdb's command says; '': it fails."""
    try:
        return gdb.execute(command, to_string=True).split('\n')[0]
    except gdb.error:
        return ''


def mpi_name(function):
    """The MPI function that a function stands for, in letters of any case; None: it stands for none."""
    match = MPI_FUNCTION.match(function)
    return match and match.group(1) + match.group(2) + ('_c' if match.group(3) else '')


def linker_name(frame):
    """The linker's name of a function that is not inlined, demangled as in tables: main::{lambda(int)#1}::operator()(int)
    const, which gdb calls operator(). None: the linker has no name for it."""
    newer = frame.newer()
    is_return = newer and newer.type() != gdb.SIGTRAMP_FRAME  # it may be the first address after the function
    match = re.match(r'(.*?)(?: \+ \d+)? in section ', said('info symbol %#x' % (frame.pc() - bool(is_return))))
    return match.group(1) if match and frame.type() != gdb.INLINE_FRAME else None


def place_of(frame, mpi):
    symbol, sal = frame.function(), frame.find_sal()
    names = {frame.name(), linker_name(frame)}
    if symbol:
        names |= {symbol.name, symbol.linkage_name}
    names = {said('demangle -- ' + name) if name and name.startswith('_Z') else name for name in names}
    names = {name[5:] if name.startswith('__GI_') else name for name in names if name}
    return Place(names, os.path.basename(sal.symtab.filename) if sal.symtab else None, sal.line, mpi,
                 frame.type() == gdb.TAILCALL_FRAME, frame.pc())


def frames_from_outermost(frame):
    """Frames with their libraries, from the outermost one of the program or thread on, and True if that is main of a stripped
    program."""
    frames = []
    while frame:
        frames.append((frame, gdb.solib_name(frame.pc()) or ''))
        frame = frame.older()
    frames.reverse()
    names = [one.name() for one, _ in frames]
    if 'main' in names:
        return frames[names.index('main'):], False
    # A program begins in _start, which calls libc, which calls main. Both have no name if the program is stripped.
    called = frames[0][0].newer()
    is_start = bool(names[0] in (None, '_start') and called and LIBC.search(gdb.solib_name(called.pc()) or ''))
    after_libc = list(itertools.dropwhile(lambda one: LIBC.search(one[1]), frames[is_start:]))
    return after_libc, is_start and not LIBC.search(frames[0][1])


def path_to(frame):
    """The path as reports write it, from the outermost frame: what is inside an MPI function is this function."""
    path, inside, program = [], False, {''}
    frames, begins_in_main = frames_from_outermost(frame)
    for one, library in frames:
        name = one.name() or ''
        mpi = mpi_name(name)
        inside = inside and library not in program
        if inside and mpi and mpi.lower() == path[-1].mpi.lower():
            path[-1] = path[-1]._replace(mpi=max(path[-1].mpi, mpi, key=str.swapcase))  # MPI_X of mpi_x
        if inside or one.type() == gdb.SIGTRAMP_FRAME:
            continue
        if mpi and (MPI_LIBRARY.search(library) or OWN_LIBRARY.search(library) or 'MPI_' in name):
            path.append(place_of(one, mpi))
            inside = True
        elif not OWN_LIBRARY.search(library):
            path.append(place_of(one, None))
            if not LIBC.search(library) and not MPI_LIBRARY.search(library):
                program.add(library)
    if path and begins_in_main and not path[0].names:
        path[0] = path[0]._replace(names={'main'})
    if not path:
        raise gdb.GdbError('No frame of the program is here: the selected frame belongs to libc or to pcollect.')
    return path


def text_of(path):
    def text(place, last):
        if place.mpi:
            return place.mpi
        name = min(place.names, key=len) if place.names else '%#x' % place.pc
        return '%s (%s:%d)' % (name, place.file, place.line) if place.file and not last else name
    return ' > '.join(text(place, place is path[-1]) for place in path)


# ---- Paths of gdb and of tables ----------------------------------------------------------------

def without_arguments(name):
    """The name of a C++ function without its result and the arguments of templates and of itself."""
    shorter = None
    while shorter != name:
        shorter, name = name, re.sub(r'<[^<>]*>', '', name)
    return name.split('(')[0].split(' ')[-1]


def is_name(name, own):
    """True if gdb's name of a function is that of a table, which may lack a namespace or have what C++ adds. An inlined
    lambda is operator() to gdb, main::{lambda#1}::operator() to tables; as the argument of a template it has two names,
    too."""
    if own == 'operator()':
        return '{lambda' in name and name.endswith('}::operator()')
    if 'lambda' in own and '<' in own:
        return without_arguments(name) == without_arguments(own)
    return name == own or name.startswith(own + '(') or name.endswith(' ' + own) or own.endswith('::' + name)


def is_same(place, frame, innermost):
    """True if gdb's place is a frame of a table. The line that calls counts, save for the innermost function."""
    if 'primitive' in frame or place.mpi:
        return (place.mpi or '').lower() == frame.get('primitive', '').lower()
    if 'cut' in frame:
        return False
    # Load addresses are whole pages: the low bits of an address in a module are those of its offset.
    same_address = 'offset' in frame and (place.pc - frame['offset']) % 4096 == 0
    same_file = os.path.basename(frame['file'] or '') == place.file
    same_line = same_file and frame['line'] == place.line
    if not any(is_name(frame['function'] or '', own) for own in place.names):
        is_nameless = not frame['function'] and not (innermost and place.names)
        return same_address and (is_nameless or same_line and not innermost)
    # In optimised code gdb may name a line of an inlined function, in another file.
    return innermost or same_address or same_line or not same_file or not frame['line'] or not place.line


def length_of_match(path, frames, whole=False):
    """How many frames of the table the path of gdb takes; None: it is another path. Frames that a tail call removed may
    be missing on one side. `whole`: the line of the last place counts, too."""
    at = 0
    if frames and frames[0].get('function') == 'main' and any(re.search('MAIN__|omp_', name) for name in path[0].names):
        # gdb may end at the main program of Fortran, and knows not who opened the parallel region of a thread.
        at = next((k for k, frame in enumerate(frames) if is_same(path[0], frame, False)), 0)
    for place in path:
        last = place is path[-1] and not whole
        while at < len(frames) and frames[at].get('tail_call') and not is_same(place, frames[at], last):
            at += 1
        if at < len(frames) and is_same(place, frames[at], last):
            at += 1
        elif not place.tail or place is path[-1]:
            return None
    return at


def frames_of_call(row):
    """The frames of a row of `contexts`, and its MPI function as the innermost one."""
    frames = [f for f in row['frames'] if 'phase' not in f and 'region' not in f]
    return frames + [{'primitive': row['primitive']}]


def is_cut(frames):
    return any('cut' in frame for frame in frames)


def frames_of_labels(row):
    """The frames of a row of `computation`, whose path has functions without lines."""
    labels = [label for label in row['path'].split(' > ') if not label.startswith(('(phase ', '(region '))]
    names = [re.sub(r'\\([@>\\])', r'\1', re.split(r'(?<!\\)@', label)[0]) for label in labels]
    return [{'primitive': name} if name.startswith('MPI_') else {'function': name, 'file': None, 'line': 0}
            for name in names]


# ---- The command pcollect ----------------------------------------------------------------------

def find_command():
    """The pcollect that this file was installed with, else that of PATH."""
    beside = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..', 'bin', 'pcollect')
    command = beside if os.access(beside, os.X_OK) else shutil.which('pcollect')
    if not command:
        raise gdb.GdbError('The command pcollect is neither at %s nor in PATH: load this file from where it was '
                           'installed, or put pcollect into PATH.' % os.path.normpath(beside))
    return os.path.normpath(command)


def pcollect(*arguments, partly=False):
    """Runs the command and returns its output. `partly`: output is shown though some of it is missing."""
    done = subprocess.run([find_command(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding='utf-8', errors='backslashreplace')
    if done.returncode and not (partly and done.stdout):
        raise gdb.GdbError(done.stderr.strip() or 'pcollect ended with status %d.' % done.returncode)
    return done.stdout + (done.stderr if done.returncode else '')


def with_width(arguments):
    width = gdb.parameter('width')
    given = any(word.startswith('--width') for word in arguments)
    return ['--width', str(max(width, 40)), *arguments] if width and not given else arguments


def held_process():
    inferior = gdb.selected_inferior()
    target = getattr(getattr(inferior, 'connection', None), 'type', 'native')  # gdb 10 has no connections
    if not inferior.pid:
        raise gdb.GdbError('The program is not being run, or it has ended. Start it, attach to it, or name its profile '
                           'with `pcollect profile FILE`.')
    if target != 'native':
        raise gdb.GdbError('pcollect reads processes that run on this machine; this target is "%s". `pcollect recover` '
                           'makes the profile of a job that died.' % target)
    return inferior.pid


class Source:
    """The profile that commands show: the one that was named, else a checkpoint, which is removed at the end."""
    named = None

    def __enter__(self):
        self.folder, self.file = None, Source.named
        if self.file:
            return self
        pid = held_process()
        self.folder = tempfile.mkdtemp(prefix='pcollect-gdb-')
        try:
            pcollect('checkpoint', '-o', os.path.join(self.folder, 'checkpoint.pcol'), str(pid))
            self.file = glob.glob(os.path.join(self.folder, '*.pcol'))[0]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def without_file(self, text):
        """Commands that a report names, as they are typed here: a checkpoint that is removed is not their argument."""
        return re.sub(r'(\s+\\)?\s+' + re.escape(shlex.quote(self.file)), '', text) if self.folder else text

    def table(self, name):
        return json.loads(pcollect('report', '--format', 'json', '--table', name, self.file))[name]

    def title(self):
        header = self.table('header')
        of = ' of %d' % header['world_size'] if header['world_size'] > header['ranks'] else ''
        return '%s, %d%s rank%s' % (self.file if Source.named else 'the job so far', header['ranks'], of,
                                    '' if header['world_size'] == 1 else 's')


# ---- Figures -----------------------------------------------------------------------------------

def seconds(s):
    """A time as pct_text_time of analysis/buffer.c writes it: with four digits, and seconds from 10,000 on with all."""
    ns = round(s * 1e9)
    if ns < 1000:
        return '%d ns' % ns
    size, unit = next((u[1:] for u in ((999950, 10**3, 'us'), (999950000, 10**6, 'ms')) if ns < u[0]), (10**9, 's'))
    for decimals in 3, 2, 1, 0:
        scaled = (ns * 10**decimals + size // 2) // size
        if scaled < 10000:
            break
    return '{:,} {}'.format(scaled, unit) if scaled >= 10000 else '%.*f %s' % (decimals, scaled / 10**decimals, unit)


def figures(rows):
    """Calls, time, mean and bytes of rows of `contexts`, as words."""
    calls, time = sum(r['calls'] for r in rows), sum(r['time_s'] for r in rows)
    sent, received = sum(r['bytes_sent'] for r in rows), sum(r['bytes_received'] for r in rows)
    return '%d call%s, %s, mean %s, %d B sent, %d B received' % (
        calls, '' if calls == 1 else 's', seconds(time), seconds(time / calls if calls else 0), sent, received)


def lines_of_calls(rows):
    of = collections.defaultdict(list)
    for row in rows:
        of[row['primitive']].append(row)
    yield 'MPI calls from here: ' + (figures(rows) if rows else 'none that has ended')
    for name in sorted(of, key=lambda name: -sum(r['time_s'] for r in of[name])):
        yield '  %s: %s' % (name, figures(of[name]))


def lines_of_samples(path, rows):
    if not all(place.names for place in path):
        yield 'CPU time: not known, a function of this path has no name'
        return
    found = [row for row in rows for frames in [frames_of_labels(row)] if length_of_match(path, frames) == len(frames)]
    n = sum(row['inclusive_samples'] for row in found)
    if n:
        yield 'CPU time: %s, by %d sample%s in these functions, at any line' % (
            seconds(sum(row['cpu_inclusive_s'] for row in found)), n, '' if n == 1 else 's')
    else:
        yield 'CPU time: no sample yet'


# ---- Commands ----------------------------------------------------------------------------------

class Pcollect(gdb.Command):
    """What pcollect has measured of the process that gdb holds.

The program must have been started under pcollect, by `pcollect run` or in gdb:
  (gdb) set exec-wrapper env LD_PRELOAD=PREFIX/lib/libpcollect.so
Nothing is called in the process. Figures are of all ranks of the job on this machine."""

    def __init__(self):
        super().__init__('pcollect', gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)


class Command(gdb.Command):
    """A sub-command, whose name is that of its class. Errors become messages of gdb."""
    completer = gdb.COMPLETE_NONE

    def __init__(self):
        super().__init__('pcollect ' + type(self).__name__.lower(), gdb.COMMAND_DATA, self.completer)

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        try:
            self.run(gdb.string_to_argv(argument))
        except gdb.GdbError:
            raise
        except KeyError as error:
            raise gdb.GdbError('pcollect: tables have no %s: the command %s is of another version than this file.' % (
                error, find_command())) from None
        except (OSError, ValueError, gdb.error) as error:
            raise gdb.GdbError('pcollect: %s' % error) from None


class CommandWithOptions(Command):
    """A sub-command that passes its options to the command of the same name."""
    completer = None

    def __init__(self):
        gdb.Command.__init__(self, 'pcollect ' + type(self).__name__.lower(), gdb.COMMAND_DATA)

    def complete(self, text, word):
        if word is None:  # gdb 15 and later ask first where the word begins
            return []
        try:
            options = re.findall(r'^ .*?(--[a-z-]+)', pcollect(type(self).__name__.lower(), '--help'), re.MULTILINE)
        except (OSError, gdb.GdbError):
            return []
        typed = text.split(' ')[-1]
        return [option[len(typed) - len(word):] for option in options if option.startswith(typed)]


class Report(CommandWithOptions):
    """Show the profile of the job so far: pcollect report [OPTION]...

The options are those of the command `pcollect report`; see pcollect-report(1).
A checkpoint of the job is made for it, and removed."""

    def run(self, words):
        with Source() as source:
            gdb.write(source.without_file(pcollect('report', source.file, *with_width(words))))


class Here(Command):
    """Show what the profile so far says of the selected frame: pcollect here

MPI calls that were made from this function when it was called in this way, by
the functions and lines of the frames above it, and its CPU time; if none is
known yet, those of the nearest caller. For a thread
in an MPI function there is also a line for the calls from just this place."""

    def run(self, words):
        if words:
            raise gdb.GdbError('pcollect here has no arguments: select a frame with `frame`, `up` or `down`.')
        if not Source.named:
            held_process()
        path, inner = path_to(gdb.selected_frame()), path_to(gdb.newest_frame())
        with Source() as source:
            calls, samples = source.table('contexts'), source.table('computation')
            lines = ['%s: %s' % (source.title(), text_of(path))]
        calls = [(row, frames_of_call(row)) for row in calls if row['calls']]
        n_cut = sum(is_cut(frames) for _, frames in calls)
        for n in range(len(path), 0, -1):
            found = [row for row, frames in calls if length_of_match(path[:n], frames) is not None]
            cpu = list(lines_of_samples(path[:n], samples))
            if found or cpu != ['CPU time: no sample yet']:
                break
        else:
            n = 0
        if n < len(path):
            lines.append('This context has not been seen yet: no MPI call from it has ended, and no sample is in it.')
            lines += ['The nearest caller that has been: ' + text_of(path[:n])] if n else []
        lines += [*lines_of_calls(found), *cpu] if n else []
        if n_cut:
            lines.append('Not compared with this stack: %d of %d contexts in the profile, whose outer frames are missing' % (
                n_cut, len(calls)))
        if inner[-1].mpi:
            same = [row for row, frames in calls if length_of_match(inner, frames, True) == len(frames)]
            lines.append('In %s now%s: %s' % (
                text_of(inner[-1:]), ', in the profile from this place' if Source.named else
                ', which is not counted yet; before, from this place', figures(same) if same else 'no call'))
        gdb.write('\n'.join(lines) + '\n')


class Where(CommandWithOptions):
    """Show where all ranks of the job are: pcollect where [OPTION]...

The options are those of the command `pcollect where`; see pcollect-where(1).
Of the process that gdb holds, outer frames may be missing there: its path is
shown below."""

    def run(self, words):
        pid = held_process()
        gdb.write(pcollect('where', '--whole-job', *with_width(words), str(pid), partly=True))
        if not any(word.startswith('--format') for word in words):
            gdb.write('Process %d, which gdb holds: %s\n' % (pid, text_of(path_to(gdb.newest_frame()))))


class Profile(Command):
    """Name the profile that the other commands show: pcollect profile [FILE]

Without FILE they show the job so far again."""
    completer = gdb.COMPLETE_FILENAME

    def run(self, words):
        if len(words) > 1:
            raise gdb.GdbError('pcollect profile: give one FILE.')
        file = os.path.abspath(os.path.expanduser(words[0])) if words else None
        if file:
            pcollect('report', '--table', 'header', file)
        Source.named = file
        gdb.write('%s is shown.\n' % (file or 'The job so far'))


class CallInContext(gdb.Breakpoint):
    """Stops at calls of an MPI function in one context, when it has been called `nth` times there."""

    def __init__(self, primitive, context, paths, nth):
        super().__init__('-qualified -function ' + primitive)
        self.primitive, self.context, self.paths, self.nth, self.calls = primitive, context, paths, nth, 0
        self.entered = {}  # by thread: True from pcollect's function until MPI's own

    def is_again(self, newest):
        """True if this is the call that was counted last: a signal that comes while gdb steps over a breakpoint makes
        the thread hit it again. Only a call through pcollect's function, which has a breakpoint too, is known so."""
        thread, older = gdb.selected_thread().global_num, newest.older()
        was_entered = self.entered.get(thread, True)
        if thread in self.entered:
            self.entered[thread] = False
        return not was_entered and older and older.name() == 'wrap_' + self.primitive

    def stop(self):
        try:
            newest = gdb.newest_frame()
            library = gdb.solib_name(newest.pc())
            is_function = newest.name() in (self.primitive, 'P' + self.primitive)
            if is_function and library and OWN_LIBRARY.search(library):
                self.entered[gdb.selected_thread().global_num] = True
            if not is_function or library and not MPI_LIBRARY.search(library):
                return False  # pcollect, or MPI's Fortran: the call goes on to MPI's own function
            if self.is_again(newest):
                return False
            path = path_to(newest)
        except (gdb.error, gdb.GdbError):
            return False
        if not any(length_of_match(path, frames, True) == len(frames) for frames in self.paths):
            return False
        self.calls += 1
        if self.calls >= self.nth:
            gdb.write('pcollect: call %d of %s in context %s: %s\n' % (
                self.calls, self.primitive, self.context, text_of(path)))
        return self.calls >= self.nth


class Break(Command):
    """Stop at an MPI call in one context: pcollect break CONTEXT [N]

CONTEXT is the column `context` of `pcollect report --table contexts`, from the
job so far or from the profile that `pcollect profile` named. The process stops
when the MPI function is called in this context for the Nth time from now, and
each time after that. Delete or disable the breakpoint as any other."""

    def run(self, words):
        if not 1 <= len(words) <= 2 or not (words[1:] or ['1'])[0].isdigit() or int((words[1:] or ['1'])[0]) < 1:
            raise gdb.GdbError('Usage: pcollect break CONTEXT [N], with N from 1.')
        with Source() as source:
            rows = [row for row in source.table('contexts') if row['context'] == words[0]]
            title = source.title()
        if not rows:
            raise gdb.GdbError('%s: there is no context %s: `pcollect report --table contexts` shows them in its last '
                               'column.' % (title, words[0]))
        paths = [frames_of_call(row) for row in rows]
        if any(is_cut(frames) for frames in paths):
            raise gdb.GdbError('Context %s lacks its outer frames: it cannot be compared with a stack.' % words[0])
        for row in rows:
            gdb.write('%s > %s\n' % (row['path'], row['primitive']))
        CallInContext(rows[0]['primitive'], words[0], paths, int(words[1]) if len(words) > 1 else 1)


if __name__ == '__main__':
    # gdb runs all scripts in one namespace, and keeps __file__ for a moment only: this one gets its own.
    with open(__file__, encoding='utf-8') as text:
        exec(compile(text.read(), __file__, 'exec'), {'__name__': 'pcollect-gdb', '__file__': __file__})
else:
    for command in (Pcollect, Report, Here, Where, Profile, Break):
        command()
