"""Readers of trace files, one module for each format.

A reader is a function from a path to the machines of the file, in its order. It raises TraceError
with the line that it cannot use.
"""

from collections.abc import Callable
from collections.abc import Iterator

from nova_lite.lab.replay import trace
from nova_lite.lab.replay.readers import own

Reader = Callable[[str], Iterator[trace.Machine]]
READERS: dict[str, Reader] = {'csv': own.read}
