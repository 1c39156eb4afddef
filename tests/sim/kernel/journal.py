"""The log of a history."""

import collections
import hashlib
import re

ADDRESS = re.compile(r'0x[0-9a-f]{6,}')


class Journal:
    """on_line: called with each line, or None; counts: {what: how often it happened}

    What is written becomes text only where somebody reads it: few histories are read.
    """

    def __init__(self):
        self.on_line = None
        self.counts = collections.Counter()
        self._beginning, self._written = [], []

    def write(self, now_us, thread, what, detail):
        """Add a line: virtual time, process, thread, what, detail."""
        process, name = (thread.process.name, thread.name) if thread else ('-', '-')
        # Other objects may change before they are read.
        entry = now_us, process, name, what, detail if type(detail) is str else str(detail)
        self._written.append(entry)
        if self.on_line:
            self.on_line(_line(entry))

    def begin(self):
        """Continue with a line that stands for all that was written and counted before."""
        self._beginning = ['log of the start: %s' % self.hash()[:16]]
        self._written.clear()
        self.counts.clear()

    def lines(self):
        """Return the lines so far."""
        return [*self._beginning, *(_line(entry) for entry in self._written)]

    def hash(self):
        """Return the SHA-256 of the log."""
        return hashlib.sha256('\n'.join(self.lines()).encode()).hexdigest()


def _line(entry):
    now_us, process, name, what, detail = entry
    seconds, micros = divmod(now_us, 1_000_000)
    line = f'{seconds:6d}.{micros:06d} {process} {name} {what}'
    if detail:
        if '0x' in detail:
            detail = ADDRESS.sub('0x…', detail)
        line += ': ' + detail.replace('\n', '\\n')
    return line
