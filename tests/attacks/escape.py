"""Attacks that want to reach beyond their process: files, network, processes that stay."""

from __future__ import annotations

from tests.attacks.attack import Attack, at_import, inside


def _write(name: str, goal: str, source: str, safe_unjailed: bool = True) -> Attack:
    return Attack(name, goal, source, "file", safe_unjailed=safe_unjailed)


def _connect(name: str, goal: str, source: str) -> Attack:
    return Attack(name, goal, source, "connection")


def _stay(name: str, goal: str, source: str, safe_unjailed: bool = True) -> Attack:
    return Attack(name, goal, source, "process", safe_unjailed=safe_unjailed)


_LIBC = "import ctypes\nlibc = ctypes.CDLL(None)\n"

WRITING = (
    _write("write", "write a file", inside("open('@DIRECTORY@/here', 'w').write('x')")),
    _write("write-at-import", "write a file while the module loads",
           at_import("open('@DIRECTORY@/here', 'w').write('x')")),
    _write("make-directory", "make a directory", inside("import os\nos.mkdir('@DIRECTORY@/here')")),
    _write("numpy-save", "let numpy write",
           inside("import numpy\nnumpy.save('@DIRECTORY@/here', numpy.ones(3))")),
    _write("torch-save", "let torch write", inside("torch.save(x, '@DIRECTORY@/here')")),
    _write("libc-write", "let the C library write",
           inside(_LIBC + "libc.creat(b'@DIRECTORY@/here', 0o666)")),
    _write("symlink", "leave a link", inside("import os\nos.symlink('/', '@DIRECTORY@/here')")),
    _write("fifo", "leave a pipe", inside("import os\nos.mkfifo('@DIRECTORY@/here')")),
    _write("sqlite", "write a gradebook",
           inside("import sqlite3\ndb = sqlite3.connect('@DIRECTORY@/gradebook.db')\n"
                  "db.execute('create table grade (points int)')\ndb.commit()")),
    _write("unlink", "remove somebody's file", inside("import os\nos.unlink('@SECRET@')"), False),
    _write("rename", "rename somebody's file",
           inside("import os\nos.rename('@SECRET@', '@DIRECTORY@/here')"), False),
    _write("truncate", "empty somebody's file",
           inside("import os\nos.truncate('@SECRET@', 0)"), False),
    _write("chmod", "open somebody's file to all",
           inside("import os\nos.chmod('@SECRET@', 0o4777)"), False),
    _write("backdate", "change the time of a submission",
           inside("import os\nos.utime('@SECRET@', (1, 1))"), False),
    _write("triton-cache", "plant something in Triton's cache",
           inside("import os\nwritten = 0\n"
                  "for place in (os.environ.get('TRITON_CACHE_DIR', '/'), '@DIRECTORY@'):\n"
                  "    try:\n        written += open(place + '/here', 'w').write('x')\n"
                  "    except OSError:\n        pass\nassert written")),
    _write("site-packages", "plant a module for the next process",
           inside("import os\nfor place in (os.path.dirname(os.path.dirname(torch.__file__)),\n"
                  "              '@ROOT@', '@DIRECTORY@'):\n"
                  "    try:\n        open(place + '/sitecustomize_planted.pth', 'w').write('x')\n"
                  "    except OSError:\n        pass"), False),
    _write("shared-memory", "leave something in shared memory",
           inside("from multiprocessing import shared_memory\n"
                  "shared_memory.SharedMemory('tilewise_planted', create=True, size=64)"), False),
)  # fmt: skip

CONNECTING = (
    _connect("tcp", "call somebody",
             inside("import socket\nsocket.create_connection(('127.0.0.1', @PORT@), 2)")),
    _connect("tcp-at-import", "call somebody while the module loads",
             at_import("import socket\nsocket.create_connection(('127.0.0.1', @PORT@), 2)")),
    _connect("http", "fetch a page",
             inside("import urllib.request\n"
                    "urllib.request.urlopen('http://127.0.0.1:@PORT@/', timeout=1).read()")),
    _connect("libc-socket", "call somebody through the C library",
             inside(_LIBC + "import struct\n"
                    "address = struct.pack('<H', 2) + struct.pack('>H', @PORT@) + "
                    "bytes([127, 0, 0, 1]) + bytes(8)\n"
                    "libc.connect(libc.socket(2, 1, 0), address, 16)")),
)  # fmt: skip

_LINGER = "import os, time\n"
# It lets go of its pipes: the judge would wait for the end of a report that is still open.
_REST = "    os.closerange(0, 64)\n    time.sleep(20)\n    os._exit(0)\n"

STAYING = (
    _stay("fork", "leave a process",
          inside(_LINGER + "if os.fork() == 0:\n    os.setsid()\n" + _REST)),
    _stay("daemon", "leave a process in a session of its own",
          inside(_LINGER + "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
                 "        os.closerange(0, 64)\n        time.sleep(20)\n    os._exit(0)")),
    _stay("libc-fork", "leave a process by the C library",
          inside(_LINGER + _LIBC + "pid = libc.fork()\nif pid < 0:\n    raise OSError('no')\n"
                 "if pid == 0:\n    os.setsid()\n" + _REST)),
    _stay("raw-clone", "leave a process by a system call",
          inside(_LINGER + _LIBC + "pid = libc.syscall(@CLONE@, 17, 0, 0, 0, 0)\n"
                 "if pid < 0:\n    raise OSError('no')\n"
                 "if pid == 0:\n    os.setsid()\n" + _REST)),
    _stay("subprocess", "start a program",
          inside("import subprocess\nsubprocess.Popen(['/bin/sleep', '20'])"), False),
    _stay("exec", "become another program",
          inside("import os\nos.execv('/bin/sleep', ['sleep', '20'])"), False),
    _stay("multiprocessing", "start workers",
          inside("import multiprocessing\nmultiprocessing.Pool(2).map(abs, [1])"), False),
    _stay("fork-bomb", "fork without end",
          inside("import os\nwhile True:\n    os.fork()"), False),
    _stay("thread-bomb", "start threads without end",
          inside("import threading, time\nwhile True:\n"
                 "    threading.Thread(target=time.sleep, args=(20,)).start()"), False),
    _stay("kill-parent", "kill the warm process",
          inside("import os\nos.kill(os.getppid(), 9)"), False),
    _stay("kill-judge", "kill the judge", inside("import os\nos.kill(@JUDGE@, 9)"), False),
    _stay("stop-judge", "stop the judge", inside(_LIBC + "libc.kill(@JUDGE@, 19)"), False),
    _stay("slow-judge", "lower the judge's priority",
          inside("import os\nos.setpriority(os.PRIO_PROCESS, @JUDGE@, 19)"), False),
    _stay("become-root", "become root again", inside("import os\nos.setuid(0)"), False),
    _stay("namespaces", "leave by a namespace",
          inside(_LIBC + "assert libc.unshare(0x10000000) == 0"), False),
    _stay("raise-limits", "raise the limits again",
          inside("import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (1000, 1000))\n"
                 "import os\nos.fork()"), False),
)  # fmt: skip

ATTACKS = WRITING + CONNECTING + STAYING
