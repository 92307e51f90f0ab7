"""Faults: a full disk, a quota, rights, broken calls; the old file stays, and the error says why."""

import os
import random
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

from attack.attempts import Bench, Broken, Kind, Untried
from attack.program import Ended, complaint
from attack.samples import INPUTS, WRITINGS, Writing, contents
from attack.wholeness import check_outputs

REASONS = ("ENOSPC", "EDQUOT", "EIO", "EROFS", "EACCES", "EPERM", "EMFILE", "ENOLCK", "EINTR")


def _finish(bench: Bench, writing: Writing, before: dict[str, bytes], ended: Ended) -> None:
    problem = complaint(ended)
    if problem is not None:
        raise Broken(problem)
    new = check_outputs(bench, writing, before, drafts_allowed=False)
    if ended.code != 2 and not new:
        raise Broken(f"no failure, and yet no new file: {ended.said()}")


def _prepare(draw: random.Random, bench: Bench) -> tuple[Writing, dict[str, bytes]]:
    writing = draw.choice(WRITINGS)
    bench.samples.copy_to(bench.folder, writing, over=draw.random() < 0.7)
    return writing, contents(bench.folder)


def calls(draw: random.Random, bench: Bench) -> None:
    """Let one call that changes files fail."""
    writing, before = _prepare(draw, bench)
    fault = {"number": draw.randint(1, 12), "reason": draw.choice(REASONS)}
    arguments = bench.samples.arguments(writing)
    _finish(bench, writing, before, bench.program.run(bench.folder, *arguments, fault=fault))


def sizes(draw: random.Random, bench: Bench) -> None:
    """Let files grow to a drawn size only, as a quota does."""
    writing, before = _prepare(draw, bench)
    most = draw.choice([0, 1, 100, draw.randint(1, 5000), draw.randint(1, 200_000)])
    arguments = bench.samples.arguments(writing)
    # Error messages go to a file, too, which this limit would cut.
    limits = {"RLIMIT_FSIZE": max(most, 2000)}
    _finish(bench, writing, before, bench.program.run(bench.folder, *arguments, limits=limits))


def disks(draw: random.Random, bench: Bench) -> None:
    """Write to a disk that is nearly full."""
    space = bench.folder.parent / f"{bench.folder.name}-disk"
    space.mkdir()
    kilobytes = draw.choice([160, draw.randint(150, 600), draw.randint(150, 3000)])
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(space)]
    try:
        if os.getuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
            raise Untried("no small disk can be mounted")
        try:
            small = bench._replace(folder=space)
            writing = draw.choice([each for each in WRITINGS if each.name != "plant"])
            try:
                small.samples.copy_to(space, writing, over=draw.random() < 0.7)
            except OSError:
                return  # not even the inputs fit
            before = contents(space)
            ended = small.program.run(space, *small.samples.arguments(writing))
            _finish(small, writing, before, ended)
        finally:
            subprocess.run(["umount", "-l", str(space)], check=True)
    finally:
        space.rmdir()


def rights(draw: random.Random, bench: Bench) -> None:
    """Write where nobody may."""
    if os.getuid():
        raise Untried("rights are tried as root, by becoming nobody")
    writing, before = _prepare(draw, bench)
    bench.folder.chmod(draw.choice([0o555, 0o777, 0o755, 0o733, 0o1777]))
    for path in bench.folder.rglob("*"):
        path.chmod(draw.choice([0o755, 0o777, 0o555]) if path.is_dir() else draw.choice(_MODES))
    arguments = bench.samples.arguments(writing)
    ended = bench.program.run(bench.folder, *arguments, nobody=True)
    _finish(bench, writing, before, ended)


_MODES = (0o644, 0o666, 0o600, 0o444, 0o000, 0o666, 0o666, 0o666)


def places(draw: random.Random, bench: Bench) -> None:
    """Write to what is no ordinary file."""
    writing = draw.choice([each for each in WRITINGS if _is_free(each.outputs[0])])
    bench.samples.copy_to(bench.folder)
    output = bench.folder / writing.outputs[0]
    make = draw.choice([_directory, _loop, _dangling, _link, _readonly_disk, _device])
    make(output)
    before = contents(bench.folder)
    ended = bench.program.run(bench.folder, *bench.samples.arguments(writing))
    problem = complaint(ended)
    if problem is not None:
        raise Broken(f"{make.__name__}: {problem}")
    after = contents(bench.folder)
    if any(after.get(name) != content for name, content in before.items() if name != "real"):
        raise Broken(f"{make.__name__}: another file was changed")
    if make is _device and not output.is_char_device():
        raise Broken("a device is none any more")
    if make in (_link, _dangling) and ended.code != 2 and not output.is_symlink():
        raise Broken("a symbolic link was replaced by a file")


def _is_free(output: str) -> bool:
    """Return whether nothing is there yet, in a folder that is."""
    return "/" not in output and output not in INPUTS


def _directory(output: Path) -> None:
    output.mkdir()


def _loop(output: Path) -> None:
    output.symlink_to(output.name)


def _dangling(output: Path) -> None:
    output.symlink_to("real")


def _link(output: Path) -> None:
    (output.parent / "real").write_text("old")
    output.symlink_to("real")


def _readonly_disk(output: Path) -> None:
    output.symlink_to("/proc/version")


def _device(output: Path) -> None:
    """Make a device that is always full; one of our own if that is allowed."""
    own = output.with_name("device")
    try:
        os.mknod(own, stat.S_IFCHR | 0o666, os.makedev(1, 7))
    except OSError:
        own = Path("/dev/full")
    output.symlink_to(own)


WAYS: tuple[Callable[[random.Random, Bench], None], ...] = (calls, sizes, disks, rights, places)


def attempt(draw: random.Random, bench: Bench) -> None:
    """Let one fault happen."""
    draw.choice(WAYS)(draw, bench)


KIND = Kind("faults", 300, attempt)
