"""The chunked transfer coding: bodies in pieces, each with its length."""

import re
import typing

from nova_lite.daemons.wsgi import heads

# Limits of the line before a chunk, and of all trailers together.
MOST_LINE_BYTES, MOST_TRAILER_BYTES = 256, 8192
SIZE = re.compile(rb'([0-9a-fA-F]{1,8})[ \t]*(;[\t\x20-\x7e\x80-\xff]*)?')
WRONG = 'The body is not in chunks, as its Transfer-Encoding says.'


class Decoder:
    """Takes the chunks of one body from the beginning of a buffer. body: the chunks until now"""

    def __init__(self) -> None:
        self.body = bytearray()
        # Bytes of the current chunk that have not come; None before the first chunk.
        self._left: int | None = None
        self._trailer_bytes = 0
        self._take: typing.Callable[[bytearray], bool] = self._take_size

    def feed(self, data: bytearray) -> bool:
        """Remove chunks from `data`. Return whether the whole body has come. Raise Refused."""
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
        """Take the part of a chunk that has come, and the line break after the chunk."""
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
        """Take a line after the last chunk. No service reads these lines."""
        line = _line(data, MOST_TRAILER_BYTES)
        if line is None:
            return False
        self._is_whole = not line
        self._trailer_bytes += len(line)
        if self._trailer_bytes > MOST_TRAILER_BYTES:
            raise heads.malformed(WRONG)
        return True


def _line(data: bytearray, most: int) -> bytes | None:
    """Remove a line from the beginning of `data`. Return the line; None if it has not come."""
    end = data.find(b'\r\n', 0, most + 2)
    if end < 0:
        if len(data) > most:
            raise heads.malformed(WRONG)
        return None
    line = bytes(data[:end])
    del data[: end + 2]
    return line
