"""Code that is out for harm, or just wrong, and what must come of it, wherever it is run.

Whatever runs these must afterwards run `AFTER` as if nothing had been.
"""

from dataclasses import dataclass, field

AFTER = "print(6 * 7)"
AFTER_STDOUT = "42\n"
PATIENCE_S = 1.0
"""The time to give to what never ends."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One piece of code.

    Attributes:
        code: what is run.
        exit_codes: those that may come of it.
        stdout: what it has printed, whole; `None` is not looked at.
        stderr: what is in what it has printed there.
        is_endless: it ends when its time is over, and not before.
        at_most: how many characters each of stdout and stderr may have.
    """

    code: str
    exit_codes: tuple[int, ...] = (0,)
    stdout: str | None = ""
    stderr: tuple[str, ...] = ()
    is_endless: bool = False
    at_most: int = field(default=60_000)


def _endless(code: str, *, stdout: str | None = "") -> Attack:
    return Attack(code=code, exit_codes=(124,), stdout=stdout, stderr=("Timeout",), is_endless=True)


def _fails(code: str, *stderr: str, stdout: str | None = "") -> Attack:
    return Attack(code=code, exit_codes=(1,), stdout=stdout, stderr=stderr)


ENDLESS = {
    "loop": _endless("while True: pass"),
    "partial output": _endless("print('so far', end='')\nwhile True: pass", stdout="so far"),
    "sleep": _endless("import time; time.sleep(600)"),
    "a C loop": _endless("print('x')\nsum(range(10**12))", stdout="x\n"),
    "regular expression": _endless("import re; re.match('(a+)+$', 'a' * 60 + 'b')"),
    "repr": _endless("class A:\n def __repr__(self):\n  while True: pass\nA()"),
    "str of an error": _endless(
        "class E(Exception):\n def __str__(self):\n  while True: pass\nraise E"
    ),
    "catches everything": _endless(
        "while True:\n try:\n  while True: pass\n except BaseException: pass"
    ),
    "ignores signals": _endless(
        "import signal\nfor n in range(1, 65):\n"
        " try: signal.signal(n, signal.SIG_IGN)\n except (OSError, ValueError): pass\n"
        "while True: pass"
    ),
    "stops itself": _endless("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"),
    "fork bomb": _endless(
        "import os\nwhile True:\n try: os.fork()\n except OSError: pass", stdout=None
    ),
    "thread bomb": Attack(
        code="import threading, time\nwhile True:\n"
        " try: threading.Thread(target=time.sleep, args=(600,)).start()\n"
        " except RuntimeError: pass",
        exit_codes=(1, 124, 137),  # as their stacks take the memory, or not
        is_endless=True,
    ),
    "child that holds its pipes": _endless(
        "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True).wait()"
    ),
}

ENDS = {
    "SystemExit": Attack(code="raise SystemExit(3)", exit_codes=(3,)),
    "sys.exit": Attack(code="import sys; sys.exit()", exit_codes=(0,)),
    "sys.exit with a message": _fails("import sys; sys.exit('that is all')", "that is all\n"),
    "KeyboardInterrupt": Attack(
        code="raise KeyboardInterrupt", exit_codes=(130,), stderr=("KeyboardInterrupt",)
    ),
    "GeneratorExit": _fails("raise GeneratorExit", "GeneratorExit"),
    "os._exit": Attack(code="import os; os._exit(5)", exit_codes=(5,), stderr=("exit code 5",)),
    "os._exit(0)": Attack(code="import os; print('x'); os._exit(0)", stdout="x\n"),
    "kills itself": Attack(
        code="import os; os.kill(os.getpid(), 9)", exit_codes=(137,), stderr=("SIGKILL",)
    ),
    "segmentation fault": Attack(
        code="import ctypes; ctypes.string_at(0)", exit_codes=(139,), stderr=("SIGSEGV",)
    ),
    "kills everybody": Attack(
        code="import os\ntry: os.kill(-1, 9)\nexcept OSError: pass", exit_codes=(0, 137)
    ),
}

BOMBS = {
    "one large object": _fails("x = bytearray(64 << 30)", "MemoryError"),
    "more and more": Attack(
        code="x = []\nwhile True: x.append(bytearray(1 << 24))",
        exit_codes=(1, 137),
        stderr=("e",),
    ),
    "disk": _fails(
        "with open('big', 'wb') as file:\n while True: file.write(bytes(1 << 20))", "OSError"
    ),
    "10 MB printed": Attack(code="print('y' * 10_000_000)", stdout=None),
    "1000 times 10 kB": Attack(code="for _ in range(1000): print('y' * 10_000)", stdout=None),
    "10 MB on stderr": Attack(code="import sys\nprint('y' * 10_000_000, file=sys.stderr)"),
    "a flood": Attack(
        code="while True: print('y' * 100_000)",
        exit_codes=(124, 137),
        stdout=None,
        is_endless=True,
    ),
    "a value of 10 MB": Attack(code="'z' * 10_000_000", stdout=None),
    "an error of 10 MB": _fails("raise ValueError('z' * 10_000_000)", "ValueError"),
    "a descriptor bomb": _fails("x = []\nwhile True: x.append(open('/dev/null'))", "OSError"),
    "recursion": _fails("def f(): return f()\nf()", "RecursionError", "<cell"),
    "recursion of two": _fails(
        "def f(): return g()\ndef g(): return f()\nf()", "RecursionError", "<cell"
    ),
    "nested data": _fails("x = []\nfor _ in range(100_000): x = [x]\nx", "RecursionError"),
}

TEXTS = {
    "null byte": _fails("x = '\0'", "null byte"),
    "surrogate in the code": _fails("x = '\ud800'", "surrogates not allowed"),
    "surrogate printed": Attack(code="print('\\ud800')", stdout="\\ud800\n"),
    "bytes that are no text": Attack(
        code="import os; os.write(1, b'\\xff!')\nNone", stdout="\ufffd!"
    ),
    "right to left": Attack(code="print('\u202etxt.exe')", stdout="\u202etxt.exe\n"),
    "syntax": _fails("def f(:", "SyntaxError", "<cell"),
    "indentation": _fails("  x = 1", "IndentationError"),
    "parentheses": _fails("(" * 5000 + ")" * 5000, "Error"),
    "minus signs": _fails("-" * 200_000 + "1", "Error"),
    "attributes": _fails("a" + ".b" * 100_000, "Error"),
    "10 MB of code": _fails("x = 1\n" * 2_000_000, "CodeTooLong", "limit"),
    "nothing": Attack(code=""),
    "a comment": Attack(code="# nothing to do"),
    "input": _fails("input()", "EOFError"),
}

MEDDLING = {
    "closes its descriptors": Attack(
        code="import os; os.closerange(0, 200)", exit_codes=(0, 1), stdout=None
    ),
    "closes stdout": Attack(code="import os; os.close(1); os.close(2)"),
    "replaces sys.stdout": Attack(code="import io, sys\nsys.stdout = io.StringIO()\nprint('x')"),
    "deletes sys.stdout": Attack(code="import sys\ndel sys.stdout, sys.stderr, sys.stdin"),
    "overwrites builtins": Attack(
        code="import builtins\nfor name in [n for n in dir(builtins) if n[0] != '_']:\n"
        " builtins.__dict__[name] = None"
    ),
    "overwrites builtins and fails": Attack(
        code="import builtins\nfor name in [n for n in dir(builtins) if n[0] != '_']:\n"
        " builtins.__dict__[name] = None\nnothing",
        exit_codes=(1,),
        stderr=("Error",),
    ),
    "an error's line is no number": _fails(
        "class E(SyntaxError): lineno = 'x'\nraise E('no')", "E: no"
    ),
    "empties sys.modules": Attack(code="import sys\nsys.modules.clear()"),
    "sys.settrace": _fails(
        "import sys\nsys.settrace(lambda *_: 1 / 0)\nx = [i for i in [1]]\ndef f(): pass\nf()",
        "ZeroDivisionError",
    ),
    "signal handlers": Attack(
        code="import signal\nsignal.signal(signal.SIGALRM, lambda *_: 1 / 0)\n"
        "signal.setitimer(signal.ITIMER_REAL, 600)"
    ),
    "no recursion": Attack(code="import sys\nsys.setrecursionlimit(60)"),
    "a thread goes on": Attack(
        code="import threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\nprint('x')",
        stdout="x\n",
    ),
    "a process goes on": Attack(
        code="import subprocess\nx = subprocess.Popen(['sleep', '600'])\nprint('x')", stdout="x\n"
    ),
    "a pickle": _fails(
        "import os, pickle\nclass P:\n def __reduce__(self): return os._exit, ('no',)\n"
        "pickle.loads(pickle.dumps(P()))",
        "TypeError",
    ),
    "forged answers": Attack(
        code="import os\nfor fd in range(3, 100):\n"
        " for body in (b'', b'x', b'\\x05\\0\\0\\0\\x01\\x80', b'\\xff' * 9):\n"
        "  try: os.write(fd, body)\n  except OSError: pass",
        exit_codes=(0, 1, 137),
        stdout=None,
    ),
    "repr fails": _fails("class A:\n def __repr__(self): return 1 / 0\nA()", "ZeroDivisionError"),
    "str of an error fails": _fails(
        "class E(Exception):\n def __str__(self): return 1 / 0\nraise E", "E"
    ),
}

OUTSIDE = {
    "the network": _fails(
        "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=600)", "Error"
    ),
    "reads what is not its": _fails("open('/etc/shadow').read()", "Error"),
    "writes elsewhere": _fails("open('/usr/x', 'w')", "Error"),
    "mounts": Attack(
        code="import subprocess\nprint(subprocess.run(['mount', '-t', 'tmpfs', 'x', '/mnt'],"
        " capture_output=True).returncode == 0)",
        stdout="False\n",
        exit_codes=(0,),
    ),
}

HOSTILE: dict[str, Attack] = {
    **{f"never ends: {name}": attack for name, attack in ENDLESS.items()},
    **{f"ends: {name}": attack for name, attack in ENDS.items()},
    **{f"too much: {name}": attack for name, attack in BOMBS.items()},
    **{f"text: {name}": attack for name, attack in TEXTS.items()},
    **{f"meddles: {name}": attack for name, attack in MEDDLING.items()},
    **{f"outside: {name}": attack for name, attack in OUTSIDE.items()},
}
