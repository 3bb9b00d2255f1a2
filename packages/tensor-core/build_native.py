"""Compiles csrc into facula/tensor_core/_native.abi3.so, writes _ops.py from the table that it carries, and the types of what Python sees.

Used by the wheel (hatch_build.py) and by developers (tools/build). Needs a C compiler, and cffi when facula_api.h is new.
Objects are kept by content: a unit is compiled again only when its preprocessed text or its flags change, so a comment
costs nothing and a new row of ops.def recompiles only the files whose text it changes.
"""

import atexit
import contextlib
import hashlib
import importlib.machinery
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import build_binding
from build_binding import MODULE

# --- what is compiled how: the first pattern that fits decides -----------------------------------------------------

LEVELS = ("v2", "v3", "v4")  # x86-64 microarchitecture levels; an "ISA file" exports FC_ISA_NAME(symbol)
HOT = ("f32", "f64")  # the dtypes whose cells are worth a third level
RARE = ("u16", "u32", "u64")  # and those that are not worth a second
CELLS = (*HOT, *"bool u8 i8 i16 i32 i64 c64 c128".split(), *RARE)  # halves are staged through f32
ONCE, ANY = (None,), (None,)

RULES = (
    # pattern (below csrc)     dtypes: -DFC_DT=   levels: -DFC_ISA= and -march=
    ("test/*",                 (),                ()),
    ("*/map.c",                CELLS,             LEVELS),
    ("*_simd.c",               ANY,               LEVELS),
    ("*/pool_lines.c",         ANY,               LEVELS[:2]),
    ("*/pool_last.c",          ANY,               LEVELS[:2]),
    ("*/fold_complex.c",       ANY,               LEVELS[:2]),
    ("*/norm_short.c",         ANY,               LEVELS[1:2]),  # without AVX rows go one by one
    ("*",                      ANY,               ONCE),  # but LEVELS[:2] if it says FC_OWN_TWO_LEVELS(, LEVELS if FC_ISA_NAME( or FC_OWN_LEVELS(
)  # fmt: skip

CC = shlex.split(os.environ.get("CC", "cc"))
FLAGS = shlex.split(
    "-fPIC -fvisibility=hidden -fwrapv -ffp-contract=off -fno-math-errno -fno-trapping-math -fcx-limited-range "
    "-ftls-model=initial-exec -D_DEFAULT_SOURCE -Wall -Wextra -Icsrc -Icsrc/include"
)
# What makes the library small, and what each is worth: docs/decisions/041-two-megabytes.md
LOOPS = shlex.split("-O2 -ftree-vectorize -fvect-cost-model=dynamic --param=vect-epilogues-nomask=0 -falign-loops=64")  # gcc vectorises what is long, once; a short loop lies in one cache line
UNSWITCHED = ["-funswitch-loops"]  # *_norm.c: without weights they run at half speed otherwise
FAST = shlex.split("-O3 --param=vect-epilogues-nomask=0")  # *_simd.c, loops over registers to be unrolled whole; core, which every call goes through
SMALL = ["-Os"]  # level v2, for machines from before 2013: right, and small
PLAIN = ["-fno-asynchronous-unwind-tables"]  # nothing in C throws
GCCS = ("-fcx-limited-range", "-fvect-cost-model=dynamic", "--param=vect-epilogues-nomask=0", "-funswitch-loops")  # clang does without them
# what clang says of gcc's pragmas and attributes, of `a | b ? x : y`, of C11's second typedef; a developer's build ends at a warning
CLANGS = shlex.split(
    "-Wno-unknown-attributes -Wno-unknown-pragmas -Wno-bitwise-conditional-parentheses -Wno-typedef-redefinition -Wno-gnu-variable-sized-type-not-at-end"
)
LINK = shlex.split("-shared -Wl,-z,now -Wl,--as-needed -lm -lpthread -ldl")
LIBRARY, OPS, STUBS = "_native.abi3.so", "_ops.py", "_ops.pyi"
TYPES = ("api.pyi", "_tensor.pyi", "return_types.pyi")
MADE = (LIBRARY, OPS, STUBS, *TYPES)
KEEP_DAYS = 14


@dataclass(frozen=True)
class Unit:
    """One compilation: a source, relative to the root that holds csrc, and its flags."""

    source: str
    flags: tuple[str, ...]

    def __str__(self):
        return " ".join([self.source, *(f for f in self.flags if f.startswith(("-DFC_", "-march")))])


@cache
def is_known(flag):
    """Whether this compiler has the flag. Asked about gcc's own, without which finite numbers are the same, and loops slower or larger; and
    about clang's, of which gcc takes any -Wno- without a word, so the first is asked for without it."""
    if flag in CLANGS:
        flag = CLANGS[0].replace("-Wno-", "-W")
    elif flag not in GCCS:
        return True
    with tempfile.TemporaryDirectory() as scratch:
        command = [*CC, "-Werror", flag, "-x", "c", "-c", os.devnull, "-o", Path(scratch, "nothing.o")]
        return subprocess.run(command, capture_output=True).returncode == 0


def units(csrc):
    """Every compilation that the rules ask for, in a fixed order."""
    found = []
    for path in sorted(csrc.rglob("*.c")):
        name = path.relative_to(csrc).as_posix()
        dtypes, levels = next((d, i) for pattern, d, i in RULES if fnmatch(name, pattern))
        if levels == ONCE and re.search(r"^[^/]*\bFC_(ISA_NAME|OWN_LEVELS)\(", path.read_text(), re.M):
            levels = LEVELS[:2] if "FC_OWN_TWO_LEVELS(" in path.read_text() else LEVELS
        simd = name.endswith("_simd.c")
        standard = "-std=gnu11" if simd else "-std=c99"
        for dtype in dtypes:
            for level in levels if dtype is None or dtype in HOT else levels[: 1 if dtype in RARE else 2]:
                optimised = SMALL if level == LEVELS[0] else FAST if simd or (name.startswith("core/") and not level) else LOOPS
                flags = [standard, f"-march=x86-64-{level or LEVELS[0]}", *optimised, *FLAGS, *CLANGS, *PLAIN]
                flags += UNSWITCHED * (optimised is LOOPS and name.endswith("_norm.c"))
                # whole registers: heavy bodies run 1.2 to 1.6 times faster than on halves of them, which is what gcc prefers
                flags += ["-mprefer-vector-width=512"] * (level == "v4" and name.endswith("/map.c"))
                flags += [f"-DFC_DT={dtype}"] * bool(dtype) + [f"-DFC_ISA={level}"] * bool(level)
                found.append(Unit(f"csrc/{name}", tuple(filter(is_known, flags))))
    return found


# --- the cache: closure of a source -> preprocessed text -> object ------------------------------------------------


def digest(*parts):
    h = hashlib.blake2b(digest_size=16)
    for part in parts:
        h.update(part if isinstance(part, bytes) else str(part).encode())
        h.update(b"\0")
    return h.hexdigest()


@cache
def own_folder():
    """A folder that goes with this process."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def cache_folder():
    """Where objects are kept; this process's own where there is no home, or none to write in."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(root, "facula", "objects")
    if not folder.is_absolute():  # a user without an entry in passwd
        return own_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder if os.access(folder, os.W_OK | os.X_OK) else own_folder()


PROBE = "#include <Python.h>\n#include <math.h>\n#include <pthread.h>\nint probe(int x) { return x; }\n"
REMEDIES = (  # the first whose pattern is in what the compiler said
    (r"(?<!/)Python\.h", "Python's own headers are missing: install python3-dev, python3-devel, or whatever your system calls them."),
    ("-march", "It is too old: gcc 11 and clang 12 know -march=x86-64-v4."),
    (r"\.h\b", "The C library's headers are missing: install libc6-dev, glibc-devel, or whatever your system calls them."),
    ("", "Install gcc or clang, or set CC."),
)
MOST_ERRORS = 3  # what is wrong in a header is wrong in two hundred units


def check_compiler():
    """Says in one sentence what two hundred compilations would say otherwise."""
    if not shutil.which(CC[0]):
        raise CompileError(f"no C compiler: {CC[0]} is not on PATH. Install gcc or clang, or set CC.")
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch, "probe.c")
        source.write_text(PROBE)
        command = [*CC, f"-march=x86-64-{LEVELS[-1]}", "-fPIC", f"-I{sysconfig.get_path('include')}", source, "-o", Path(scratch, "probe.so"), *LINK]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        remedy = next(text for pattern, text in REMEDIES if re.search(pattern, done.stderr))
        said = done.stderr.strip() or "nothing"
        raise CompileError(f"the C compiler does not work: {shlex.join(CC)} ended with {done.returncode} over three #include lines, and said: {said}\n{remedy}")


class Closures:
    """The text of a source with all that it includes by quotes, as one digest; each file is read once."""

    def __init__(self, root):
        self.root, self.known = root, {}

    def _read(self, path):
        if path not in self.known:
            text = path.read_bytes()
            names = [n.decode() for n in re.findall(rb'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', text, re.M)]
            places = (path.parent, self.root / "csrc", self.root / "csrc/include")
            found = (next((p / n for p in places if (p / n).is_file()), None) for n in names)
            self.known[path] = text, [Path(os.path.normpath(f)) for f in found if f]
        return self.known[path]

    def digest(self, source):
        seen, todo = {}, [self.root / source]
        while todo:
            path = todo.pop()
            if path not in seen:
                seen[path], more = self._read(path)
                todo += more
        return digest(*(x for path in sorted(seen) for x in (path.relative_to(self.root), seen[path])))


class CompileError(Exception):
    """What the compiler said."""


def run(command, root, said=None):
    """What the command wrote; `said` is called with what it had to say besides."""
    done = subprocess.run(command, cwd=root, capture_output=True)
    notes = done.stderr.decode(errors="replace")
    if done.returncode:
        raise CompileError(f"{shlex.join(map(str, command))}\n{notes}")
    if notes and said:
        said(notes)
    return done.stdout


def refuse(warnings):
    """What developers' builds do with warnings; a user's compiler may know new ones, and builds."""
    raise CompileError(warnings)


def compile_unit(unit, root, cache, closure, say, warned):
    """The path of the unit's object, made if no cached one has the same text and flags."""
    alias = cache / f"{digest(CC, unit, unit.flags, closure)}.key"
    if alias.exists():
        made = cache / f"{alias.read_text()}.o"
        if made.exists():
            os.utime(alias), os.utime(made)
            return made
    text = run([*CC, *unit.flags, "-E", "-P", unit.source], root)
    key = digest(CC, unit.flags, text)
    made = cache / f"{key}.o"
    if not made.exists():
        start = time.perf_counter()
        part = cache / f"{key}.{os.getpid()}.part"
        run([*CC, *unit.flags, "-c", "-o", part, unit.source], root, warned)
        part.replace(made)
        say(f"  {time.perf_counter() - start:5.1f} s  {unit}")
    alias.write_text(key)
    return made


def binding_unit(root, cache):
    """The C file of the module, kept by what it is made from."""
    header = (root / "csrc/include/facula_api.h").read_text()
    key = digest("binding", header, CC, Path(build_binding.__file__).read_bytes(), *(p.read_bytes() for p in build_binding.PARTS))
    source = cache / f"{key}.c"
    if not source.exists():
        part = cache / f"{key}.{os.getpid()}.c"
        build_binding.write(header, part)
        part.replace(source)
    flags = ["-std=gnu99", "-O2", *PLAIN, "-fPIC", "-fvisibility=hidden", "-fwrapv", "-w", "-Icsrc/include", f"-I{sysconfig.get_path('include')}"]
    return Unit(str(source), (*flags, "-DPy_LIMITED_API=0x030a0000"))


def compile_all(root, jobs, say, binding=True, warned=refuse):
    """Objects of everything in csrc, and of cffi's binding unless a C program is wanted. warned: called with a compiler's warnings."""
    cache = cache_folder()
    closures = Closures(root)
    work = [(u, closures.digest(u.source)) for u in units(root / "csrc")]
    if binding:
        unit = binding_unit(root, cache)
        work.insert(0, (unit, digest(Path(unit.source).read_bytes(), closures.digest("csrc/include/facula.h"))))
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(compile_unit, u, root, cache, closure, say, warned) for u, closure in work]
        errors = [f.exception() for f in futures if f.exception()]
    if errors:
        more = [f"and {len(errors) - MOST_ERRORS} more units"] * (len(errors) > MOST_ERRORS)
        raise CompileError("\n".join([*map(str, errors[:MOST_ERRORS]), *more]))
    return [f.result() for f in futures]


def prune():
    """Forget objects that no build has used for a while."""
    limit = time.time() - KEEP_DAYS * 86400
    for path in cache_folder().iterdir():
        with contextlib.suppress(FileNotFoundError):  # another build's unfinished object
            if path.stat().st_mtime < limit:
                path.unlink()


# --- link, load, generate ------------------------------------------------------------------------------------------


def link(objects, library, strip):
    run([*CC, "-o", library, *objects, *LINK, *(["-Wl,-s"] if strip else [])], library.parent)


def load(library):
    spec = importlib.util.spec_from_file_location(MODULE, library, loader=importlib.machinery.ExtensionFileLoader(MODULE, str(library)))
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    except ImportError as error:
        listed = subprocess.run(["nm", "-D", "-u", library], capture_output=True, text=True).stdout
        missing = sorted(set(re.findall(r"\bfc_\w+", listed)))
        text = f"declared or used, but no C file defines: {', '.join(missing)}" if missing else str(error)
        raise CompileError(text) from None


def writers(package):
    """The modules codegen and stubs of the folder generate/, a package by itself here: facula, whose part it is, cannot be imported before it is built."""
    name, folder = "generate", package / "generate"
    for other in [m for m in sys.modules if m.partition(".")[0] == name]:  # of another tree
        del sys.modules[other]
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    sys.modules[name] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"{name}.codegen"), importlib.import_module(f"{name}.stubs")


def write_ops(lib, tables, package, target, stubs):
    """_ops.py, one flat Python function per row of the library's table, and its types. tables: csrc/ops, where the examples stand."""
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        codegen, types = writers(package)
        target.write_text(codegen.generate(lib, tables))
        stubs.write_text(types.generate(lib))
    finally:
        sys.dont_write_bytecode = before


def state(root, generators):
    """A digest of everything that the library, _ops.py and _ops.pyi are made from."""
    files = [p for p in sorted((root / "csrc").rglob("*")) if p.suffix in (".c", ".h", ".def")]
    files += [Path(__file__), Path(build_binding.__file__), *build_binding.PARTS, *generators]
    return digest(CC, *(x for p in files for x in (os.path.relpath(p, root), p.read_bytes())))


def write_types(package, target):
    """The types of what `facula` offers, written by the library itself; anew when a source of the package changed. True if they were."""
    stamp = target / ".types-stamp"
    sources = [p for p in sorted(package.rglob("*.py")) if p.name != OPS]
    now = digest(*(x for p in [*sources, target / OPS] for x in (p.name, p.read_bytes())))
    if stamp.exists() and stamp.read_text() == now and all((target / name).exists() for name in TYPES):
        return False
    done = subprocess.run([sys.executable, package / "generate/stubs_public.py", package, target, target], capture_output=True, text=True)
    if done.returncode:
        raise CompileError(f"facula.tensor_core compiles, and does not import:\n{done.stderr}")
    stamp.write_text(now)
    return True


def build(root, package, target, strip=False, jobs=None, say=print, warned=refuse):
    """Brings the files MADE in target up to date. True if something was made.

    root holds csrc/; package is the folder of facula/tensor_core's sources, whose folder generate/ writes the rest.
    """
    root, target, package = Path(root).resolve(), Path(target).resolve(), Path(package).resolve()
    compiled = build_library(root, package, target, strip, jobs, say, warned)
    return write_types(package, target) or compiled


def build_library(root, package, target, strip, jobs, say, warned):
    """The library, _ops.py and _ops.pyi."""
    stamp = target / ".native-stamp"
    now = f"{state(root, sorted(package.glob('generate/*.py')))} {strip}"
    outputs = [target / LIBRARY, target / OPS, target / STUBS]
    if stamp.exists() and stamp.read_text() == now and all(p.exists() for p in outputs):
        return False
    if platform.machine().lower() not in ("x86_64", "amd64"):
        raise CompileError(f"the kernels are written for x86-64, and this machine is {platform.machine()}. Build on an x86-64 machine, or in an emulated one.")
    check_compiler()
    objects = compile_all(root, jobs or min(os.cpu_count() or 1, 8), say, warned=warned)
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target) as scratch:
        made = [Path(scratch, path.name) for path in outputs]
        link(objects, made[0], strip)
        write_ops(load(made[0]), root / "csrc/ops", package, made[1], made[2])
        for new, old in zip(made, outputs):
            new.replace(old)  # a process that has the old library open keeps it; a failed build changes nothing
    stamp.write_text(now)
    prune()
    return True
