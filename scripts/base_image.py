"""Writes a root file system of this machine's own Debian packages: a tar for `docker import`.

usage: base_image.py PACKAGE... >base.tar

No network and no registry are needed. What the named packages depend on comes along;
documentation, translations and Python's own tests stay out. The tar holds this machine's
certificates: it is for tests, not for publishing.
"""

import io
import os
import re
import sys
import tarfile
from pathlib import Path

STATUS = Path("/var/lib/dpkg/status")
LISTS = Path("/var/lib/dpkg/info")
MERGED = ("/bin", "/sbin", "/lib64", "/lib")
FOLDERS = [
    *("/usr/lib64", "/usr/sbin", "/usr/bin", "/usr/lib", "/usr/local/bin", "/etc", "/tmp"),
    *("/var/tmp", "/root", "/proc", "/sys", "/dev", "/run", "/opt", "/srv", "/home", "/mnt"),
    *("/var/lib", "/var/log"),
]
UNUSED_PACKAGES = re.compile(r"perl|libperl|debconf$|dpkg$|apt$")
UNUSED_PATHS = re.compile(
    r"^/usr/share/(man|doc|locale|info|lintian|bug|bash-completion|common-licenses|perl5?|i18n)(/|$)"
    r"|/__pycache__(/|$)|^/usr/lib/python3/dist-packages/"
    r"|^/usr/lib/python3\.\d+/(test|idlelib|turtledemo|tkinter|lib2to3|pydoc_data|config-)"
    r"|^/usr/lib/[^/]+-linux-gnu/(gconv|perl)"
)
USERS = """\
root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
env:x:1000:1000:env:/home/env:/bin/sh
"""
GROUPS = "root:x:0:\nnogroup:x:65534:\nenv:x:1000:\n"
EPOCH = 1_700_000_000


def installed() -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """The installed packages by name, and who provides each virtual one."""
    packages, providers = {}, {}
    for paragraph in STATUS.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line[:1].strip() and ":" in line]
        fields = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
        if fields.get("Status", "").endswith(" installed"):
            packages[fields["Package"]] = fields
            for provided in names(fields.get("Provides", "")):
                providers.setdefault(provided, fields["Package"])
    return packages, providers


def names(relations: str) -> list[str]:
    """The package names in a list of relations; of alternatives, all of them."""
    parts = re.split(r"[,|]", relations)
    return [re.sub(r"\(.*?\)", "", part).split(":")[0].strip() for part in parts if part.strip()]


def closure(wanted: list[str]) -> dict[str, dict[str, str]]:
    """The named packages and all that they depend on, as far as it is installed."""
    packages, providers = installed()
    found: dict[str, dict[str, str]] = {}
    open_names = list(wanted)
    while open_names:
        name = open_names.pop()
        name = name if name in packages else providers.get(name, "")
        if name and name not in found:
            found[name] = packages[name]
            for field in ("Pre-Depends", "Depends"):
                open_names += names(packages[name].get(field, ""))
    return found


def files(packages: dict[str, dict[str, str]]) -> set[str]:
    """The paths of the packages' files, with the bytecode of those that are Python."""
    paths: set[str] = set()
    for name, fields in packages.items():
        if UNUSED_PACKAGES.match(name):
            continue
        lists = (LISTS / f"{name}.list", LISTS / f"{name}:{fields.get('Architecture')}.list")
        listed = next((path.read_text() for path in lists if path.exists()), "").splitlines()
        paths |= {line for line in listed if line != "/." and not UNUSED_PATHS.search(line)}
    for path in [path for path in paths if path.endswith(".py")]:
        folder, file = os.path.split(path)
        tag = sys.implementation.cache_tag
        if os.path.exists(compiled := f"{folder}/__pycache__/{file[:-3]}.{tag}.pyc"):
            paths |= {compiled, f"{folder}/__pycache__"}
    return paths


def in_usr(path: str) -> str:
    """Where a path really is on a Debian whose `/bin` is a link into `/usr`."""
    merged = any(path == top or path.startswith(f"{top}/") for top in MERGED)
    return f"/usr{path}" if merged else path


def add_text(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = len(content), 0o644, EPOCH
    tar.addfile(entry, io.BytesIO(content))


def add_link(tar: tarfile.TarFile, name: str, target: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.mtime = tarfile.SYMTYPE, target, EPOCH
    tar.addfile(entry)


def add_path(tar: tarfile.TarFile, path: str) -> None:
    """A file as it is, its time included: bytecode records that of its source."""
    entry = tar.gettarinfo(path, arcname=path.lstrip("/"))
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    if not entry.isreg():
        return tar.addfile(entry)
    entry.type, entry.linkname, entry.size = tarfile.REGTYPE, "", os.path.getsize(path)
    with open(path, "rb") as content:
        return tar.addfile(entry, content)


def main() -> None:
    paths = {in_usr(path) for path in files(closure(sys.argv[1:]))} | set(FOLDERS)
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(paths - set(MERGED)):
            if os.path.lexists(path):
                add_path(tar, path)
        for link in ("bin", "sbin", "lib", "lib64"):
            add_link(tar, link, f"usr/{link}")
        add_text(tar, "etc/passwd", USERS.encode())
        add_text(tar, "etc/group", GROUPS.encode())
        add_text(tar, "etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files dns\n")
        for file in ("/etc/ssl/certs/ca-certificates.crt", "/etc/ld.so.cache"):
            add_text(tar, file.lstrip("/"), Path(file).read_bytes())
        for name in ("awk", "which", "pager"):
            if os.path.islink(link := f"/etc/alternatives/{name}"):
                add_link(tar, link.lstrip("/"), os.readlink(link))


if __name__ == "__main__":
    main()
