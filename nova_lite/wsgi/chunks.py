"""The chunked transfer coding: bodies that come in pieces with their lengths."""

import re
import typing

from nova_lite.wsgi import heads

# Of the line before a chunk, and of all trailers.
MOST_LINE_BYTES, MOST_TRAILER_BYTES = 256, 8192
SIZE = re.compile(rb'([0-9a-fA-F]{1,8})[ \t]*(;[\t\x20-\x7e\x80-\xff]*)?')
WRONG = 'The body is not in chunks, as its Transfer-Encoding says.'


class Decoder:
    """Takes the chunks of one body from the beginning of a buffer. body: what has come so far"""

    def __init__(self) -> None:
        self.body = bytearray()
        # Bytes of the current chunk that have not come, and its end; None between two chunks.
        self._left: int | None = None
        self._trailer_bytes = 0
        self._take: typing.Callable[[bytearray], bool] = self._take_size

    def feed(self, data: bytearray) -> bool:
        """Remove the body from `data`; return whether all of it has come. Raise Refused."""
        self._is_whole = False
        while self._take(data):
            if self._is_whole:
                return True
        if len(self.body) + len(data) > heads.BODY_LIMIT + MOST_TRAILER_BYTES:
            raise heads.too_large()
        return False

    def _take_size(self, data: bytearray) -> bool:
        line = _line(data, MOST_LINE_BYTES)
        if line is None:
            return False
        found = SIZE.fullmatch(line)
        if found is None:
            raise heads.malformed(WRONG)
        self._left = int(found[1], 16)
        if len(self.body) + self._left > heads.BODY_LIMIT:
            raise heads.too_large()
        self._take = self._take_chunk if self._left else self._take_trailer
        return True

    def _take_chunk(self, data: bytearray) -> bool:
        """Take what has come of a chunk, and the line break after it."""
        assert self._left is not None
        part = data[: self._left]
        self.body += part
        del data[: len(part)]
        self._left -= len(part)
        if self._left or len(data) < 2:
            return False
        if data[:2] != b'\r\n':
            raise heads.malformed(WRONG)
        del data[:2]
        self._take = self._take_size
        return True

    def _take_trailer(self, data: bytearray) -> bool:
        """Take a line after the last chunk. No service reads these."""
        line = _line(data, MOST_TRAILER_BYTES)
        if line is None:
            return False
        self._is_whole = not line
        self._trailer_bytes += len(line)
        if self._trailer_bytes > MOST_TRAILER_BYTES:
            raise heads.malformed(WRONG)
        return True


def _line(data: bytearray, most: int) -> bytes | None:
    """Remove a line from the beginning of `data` and return it; None if it has not come."""
    end = data.find(b'\r\n', 0, most + 2)
    if end < 0:
        if len(data) > most:
            raise heads.malformed(WRONG)
        return None
    line = bytes(data[:end])
    del data[: end + 2]
    return line
