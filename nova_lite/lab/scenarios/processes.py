"""Commands of nova-lite that a drill runs as a user runs them: each in a process."""

from collections.abc import Sequence
import subprocess
import sys
import tempfile
import typing

from nova_lite import runtime

COMMAND = (sys.executable, '-m', 'nova_lite.cmd.main')
LOOK_S = 0.05
END_S = 30.0


class Processes:
    """The processes of one drill.

    directory: the state directory of the cloud
    lock: descriptor that the processes inherit. If the process of the drill is killed, theirs keep
        the next drill waiting until they have ended
    """

    def __init__(self, directory: str, lock: int) -> None:
        self._directory, self._lock = directory, lock
        self._running: dict[str, tuple[subprocess.Popen[bytes], typing.IO[bytes]]] = {}

    def start(self, name: str, words: Sequence[str]) -> None:
        """Start a command under a name."""
        # The process writes to the file, which `end` closes.
        output = tempfile.TemporaryFile()  # noqa: SIM115
        command = [*COMMAND, *words, '--state-dir', self._directory]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=(self._lock,),
        )
        self._running[name] = process, output

    def wait(self, name: str, within_s: float) -> int | None:
        """Return the exit code of a command, None if it still runs after `within_s`."""
        process, _output = self._running[name]
        deadline = runtime.monotonic() + within_s
        while process.poll() is None and runtime.monotonic() < deadline:
            runtime.sleep(LOOK_S)
        return process.returncode

    def last_line(self, name: str) -> str:
        """Return the last line that a command has printed, '' if it has printed none."""
        _process, output = self._running[name]
        output.seek(0)
        lines = output.read().decode(errors='replace').strip().splitlines()
        return lines[-1] if lines else ''

    def end(self) -> list[str]:
        """End all commands. Return the names of the commands that still run."""
        for process, _output in self._running.values():
            if process.poll() is None:
                process.terminate()
        left = [name for name in self._running if self.wait(name, END_S) is None]
        for _process, output in self._running.values():
            output.close()
        self._running.clear()
        return left
