"""Memory and threads of daemons, from their pid files and /proc."""

import glob
import os

from nova_lite import exception

# In an embedded cloud, the super-conductor shares the process `all` with the other daemons.
KINDS = ('super-conductor', 'all')


class Footprint:
    """Memory and threads of the processes with super-conductors of a cloud."""

    def __init__(self, directory: str) -> None:
        found = [
            path
            for kind in KINDS
            for path in glob.glob(os.path.join(directory, 'run', f'{kind}.*.pid'))
        ]
        if not found:
            raise exception.Invalid(reason=f'no pid file of a super-conductor in {directory}/run')
        self._pids = []
        for path in found:
            with open(path) as file:
                self._pids.append(int(file.read()))

    def look(self) -> dict[str, float]:
        """Return the present {'memory_mib', 'threads'} of all these processes."""
        memory_kib = threads = 0
        for pid in self._pids:
            try:
                with open(f'/proc/{pid}/status') as file:
                    fields = dict(line.split(':', 1) for line in file)
            except FileNotFoundError:
                continue  # the process has ended
            memory_kib += int(fields['VmRSS'].split()[0])
            threads += int(fields['Threads'])
        return {'memory_mib': round(memory_kib / 1024, 1), 'threads': threads}
