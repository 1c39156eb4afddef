"""The feed: one document at most each second, for all who look, and none while no one looks.

Each viewer costs the server a thread, so their number is bounded: also of those that read
nothing more, whose threads wait for them while other feeds begin and end. Pauses last as long
as the system's clock says, whatever the clock of the cloud does.
"""

from collections.abc import Callable
from collections.abc import Iterator
import json
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime

LOG = log.getLogger(__name__)

MOST_VIEWERS = 8
PAUSE_S = 1.0
# A reading of a large cloud is followed by a pause so many times as long as the processor
# time that it took.
PAUSES = 20
# An idle viewer is written to so often: that shows whether it is still there.
BEAT_S = 5.0
# A viewer whose feed ended asks again after this time.
RETRY_MS = 1000
BEAT = b': \n\n'


class Feed:
    """Gives viewers the document whenever it changes.

    take: function that returns the document, plain values. Its NovaLiteError is sent as
        {'problem': text}
    seats: one for each viewer, which feeds share
    """

    def __init__(
        self,
        take: Callable[[], typing.Any],
        seats: runtime.Semaphore,
        *,
        pause_s: float = PAUSE_S,
        beat_s: float = BEAT_S,
    ) -> None:
        self._take, self._seats, self._pause_s, self._beat_s = take, seats, pause_s, beat_s
        lock = runtime.Lock()
        # The document changed or the feed ended; it ended.
        self._changed, self._over = runtime.Condition(lock), runtime.Condition(lock)
        self._viewers = 0
        self._ended = False
        self._thread: typing.Any = None
        self._text, self._version = '', 0

    def watch(self) -> 'Viewer | None':
        """Return a new Viewer; None if there are too many or the feed has ended."""
        with self._changed:
            if self._ended or not self._seats.acquire(blocking=False):
                return None
            self._viewers += 1
            if self._thread is None:
                # What the last viewers saw may be old.
                self._text, self._version = '', self._version + 1
                self._thread = runtime.spawn(self._run, name='page')
            return Viewer(self)

    def end(self) -> None:
        """End all viewers, and refuse others."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
            self._over.notify_all()

    def wait_ended(self) -> None:
        """Wait until the feed reads nothing any more."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def leave(self) -> None:
        """Count one viewer less."""
        with self._changed:
            self._viewers -= 1
        self._seats.release()

    def next(self, version: int) -> tuple[int, str] | None:
        """Return (version, document as JSON) as soon as it differs from `version`.

        An empty text is a beat: nothing has changed. None: the feed has ended.
        """
        with self._changed:
            if not self._ended and (not self._text or self._version == version):
                self._changed.wait_really(self._beat_s)
            if self._ended:
                return None
            if not self._text or self._version == version:
                return version, ''
            return self._version, self._text

    def _run(self) -> None:
        """Read until there is no viewer. A viewer that comes in a pause sees the last values."""
        while True:
            began = runtime.cpu_time()
            text = self._read()
            pause_s = max(self._pause_s, PAUSES * (runtime.cpu_time() - began))
            with self._changed:
                if text != self._text:
                    self._text, self._version = text, self._version + 1
                    self._changed.notify_all()
                if not self._ended:
                    self._over.wait_really(pause_s)
                if self._ended or not self._viewers:
                    self._thread = None
                    return

    def _read(self) -> str:
        try:
            return _as_json(self._take())
        except exception.NovaLiteError as error:
            LOG.info('The live page shows no data: %s', error)
            return _as_json({'problem': error.message})
        except Exception as error:
            LOG.exception('Unexpected error while data of the live page was read')
            text = f'Unexpected {type(error).__name__}. See the log of the cloud.'
            return _as_json({'problem': text})


def _as_json(found: typing.Any) -> str:
    return json.dumps(found, separators=(',', ':'))


class Viewer:
    """One who looks: an iterable of server-sent events as bytes, to be closed."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._version = -1
        self._greeted = self._closed = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if not self._greeted:
            self._greeted = True
            return f'retry: {RETRY_MS}\n\n'.encode()
        found = None if self._closed else self._feed.next(self._version)
        if found is None:
            raise StopIteration
        self._version, text = found
        return f'event: document\ndata: {text}\n\n'.encode() if text else BEAT

    def close(self) -> None:
        """Look no more."""
        if not self._closed:
            self._closed = True
            self._feed.leave()
