"""Attacks that want to know what they must not: files, hidden cases, other processes' memory."""

from __future__ import annotations

from tests.attacks.attack import Attack, at_import, inside, loot


def _steal(name: str, goal: str, source: str, safe_unjailed: bool = True) -> Attack:
    return Attack(name, goal, source, "secret", safe_unjailed=safe_unjailed)


def _look(name: str, goal: str, source: str) -> Attack:
    """Whether there is anything to find depends on the machine."""
    return Attack(name, goal, source, "secret", safe_unjailed=False)


_LIBC = "import ctypes\nlibc = ctypes.CDLL(None)\n"

ATTACKS = (
    _steal("open", "read a file", loot("open('@SECRET@').read()")),
    _steal("os-open", "read a file by descriptor",
           loot("os.read(os.open('@SECRET@', os.O_RDONLY), 1000)", "import os")),
    _steal("at-import", "read a file while the module loads",
           at_import("raise ValueError('loot: ' + open('@SECRET@').read())")),
    _steal("pathlib", "read every file of a directory",
           loot("[p.read_text() for p in pathlib.Path('@DIRECTORY@').rglob('*') if p.is_file()]",
                "import pathlib")),
    _steal("linecache", "let linecache read it",
           loot("linecache.getlines('@SECRET@')", "import linecache")),
    _steal("numpy", "let numpy read it",
           loot("numpy.fromfile('@SECRET@', dtype='uint8').tobytes()", "import numpy")),
    _look("torch", "let torch read it",
           loot("bytes(torch.from_file('@SECRET@', size=40, dtype=torch.uint8).tolist())")),
    _steal("mmap", "map it",
           loot("mmap.mmap(os.open('@SECRET@', os.O_RDONLY), 0, prot=mmap.PROT_READ)[:]",
                "import mmap, os")),
    _steal("libc", "let the C library read it",
           inside(_LIBC + "libc.fopen.restype = ctypes.c_void_p\n"
                  "file = libc.fopen(b'@SECRET@', b'r')\n"
                  "text = ctypes.create_string_buffer(1000)\n"
                  "libc.fread(text, 1, 999, ctypes.c_void_p(file))\n"
                  "raise ValueError(b'loot: ' + text.value)")),
    _steal("import-machinery", "let the import machinery read it",
           loot("SourceFileLoader('x', '@SECRET@').get_data('@SECRET@')",
                "from importlib.machinery import SourceFileLoader")),
    _steal("compile-it", "let an error message quote it",
           inside("import runpy\ntry:\n    runpy.run_path('@SECRET@')\n"
                  "except SyntaxError as error:\n    raise ValueError('loot: ' + error.text)")),
    _steal("link", "link it to where files may be read",
           loot("(os.symlink('@SECRET@', '@DIRECTORY@/link'), "
                "open('@DIRECTORY@/link').read())", "import os")),
    _steal("descriptor-left-open", "read whatever descriptor is open",
           inside("import os, glob\ntexts = [open('@SECRET@').read()]\n"
                  "for number in range(3, 200):\n    try:\n"
                  "        texts.append(os.pread(number, 500, 0))\n"
                  "    except OSError:\n        pass\n"
                  "raise ValueError(str(texts))")),
    _look("hidden-cases", "import the hidden cases",
          loot("vars(importlib.import_module('graders.course.vector_add.hidden'))",
               "import importlib, sys\nsys.path.insert(0, '@ROOT@')")),
    _look("hidden-file", "read the hidden cases",
          loot("open('@ROOT@/graders/course/vector_add/hidden.py').read()")),
    _look("solution", "read the model solution",
          loot("open('@ROOT@/solutions/vector_add.py').read()")),
    _look("references", "import the reference",
          loot("inspect.getsource(importlib.import_module('graders.course.vector_add.exercise'))",
               "import importlib, inspect, sys\nsys.path.insert(0, '@ROOT@')")),
    _look("modules", "find the judge among the loaded modules",
          loot("[(m.__name__, sorted(vars(m))) for m in list(sys.modules.values()) "
               "if 'exercises' in getattr(m, '__name__', '')"
               " or 'hidden' in getattr(m, '__name__', '')"
               " or 'SECRET' in vars(m)]", "import sys")),
    _look("strings-in-memory", "search all objects for the secret",
          loot("[s for s in gc.get_objects() if isinstance(s, dict) and 'TILEWISE_BAIT' in s]",
               "import gc")),
    _look("environment", "read the environment", loot("dict(os.environ)", "import os")),
    _look("parents-environment", "read the parent's environment",
          loot("open(f'/proc/{os.getppid()}/environ').read()", "import os")),
    _look("judges-environment", "read the judge's environment",
          loot("open('/proc/@JUDGE@/environ').read()")),
    _look("judges-command", "read the judge's memory map",
          loot("open('/proc/@JUDGE@/maps').read() + open('/proc/@JUDGE@/environ').read()")),
    _look("judges-memory", "read the judge's memory",
          inside("with open('/proc/@JUDGE@/mem', 'rb') as memory:\n    memory.seek(1 << 22)\n"
                 "    raise ValueError('@NEKOT@'[::-1] + str(memory.read(100)))")),
    _look("own-memory-file", "write the own memory by its file",
          inside("with open('/proc/self/mem', 'r+b') as memory:\n"
                 "    raise ValueError('@NEKOT@'[::-1])")),
    _look("process-vm-readv", "read the judge's memory by a system call",
          inside(_LIBC + "word = ctypes.create_string_buffer(8)\n"
                 "piece = (ctypes.c_uint64 * 2)(ctypes.addressof(word), 8)\n"
                 "other = (ctypes.c_uint64 * 2)(0x400000, 8)\n"
                 "if libc.process_vm_readv(@JUDGE@, piece, 1, other, 1, 0) > 0:\n"
                 "    raise ValueError('@NEKOT@'[::-1])")),
    _look("ptrace", "attach to the parent as a debugger",
          inside(_LIBC + "import os\nif libc.ptrace(16, os.getppid(), 0, 0) == 0:\n"
                 "    raise ValueError('@NEKOT@'[::-1])")),
)  # fmt: skip
