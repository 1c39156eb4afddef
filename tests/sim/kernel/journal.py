"""The log of a history."""

import hashlib
import re

ADDRESS = re.compile(r'0x[0-9a-f]{6,}')


class Journal:
    """lines: so far; on_line: called with each line, or None"""

    def __init__(self):
        self.lines = []
        self.on_line = None

    def write(self, now_us, thread, what, detail):
        """Add a line: virtual time, process, thread, what, detail."""
        seconds, micros = divmod(now_us, 1_000_000)
        process, name = (thread.process.name, thread.name) if thread else ('-', '-')
        line = f'{seconds:6d}.{micros:06d} {process} {name} {what}'
        if detail != '':
            text = str(detail)
            if '0x' in text:
                text = ADDRESS.sub('0x…', text)
            line += ': ' + text.replace('\n', '\\n')
        self.lines.append(line)
        if self.on_line:
            self.on_line(line)

    def begin(self):
        """Continue with a line that stands for all that were written before."""
        digest = self.hash()
        self.lines.clear()
        self.lines.append('log of the start: %s' % digest[:16])

    def hash(self):
        """Return the SHA-256 of the log."""
        return hashlib.sha256('\n'.join(self.lines).encode()).hexdigest()
