"""The `nova_lite.runtime` of a history: each answer is that of the process that asks."""

import base64
import datetime

from nova_lite import runtime
from tests.sim.kernel import process as processes

# The bits of a UUID that name its variant and version, and their values.
_VERSIONED, _VERSION = 0xF000 << 64 | 0xC000 << 48, 0x4000 << 64 | 0x8000 << 48


class Runtime(runtime.Runtime):
    """The runtime of all simulated processes. kernel: a core.Kernel"""

    def __init__(self, kernel):
        self._kernel = kernel
        self._leaps = {}

    @property
    def rng(self):
        """The generator of the calling process."""
        return self._kernel.here.random

    def now(self):
        return _datetime(self._kernel.here.wall_us())

    def database_now(self):
        return _datetime(processes.EPOCH_US + self._kernel.now_us())

    def monotonic(self):
        return self._kernel.here.monotonic_us() / 10**6

    def boottime(self):
        return self.monotonic()

    def boot_id(self):
        return self._kernel.here.boot_id

    def leap_s(self, within_s):
        here = self._kernel.here
        leaps = self._leaps.get(here)
        if leaps is None:
            leaps = self._leaps[here] = runtime.Leaps()
        return leaps.found(here.wall_us() / 10**6, self.monotonic(), within_s)

    def sleep(self, seconds):
        self._kernel.sleep(seconds)

    def cpu_time(self):
        return self._kernel.points() / 10**5

    def secret(self, bytes_):
        return base64.urlsafe_b64encode(self.rng.randbytes(bytes_)).rstrip(b'=').decode()

    def uuid(self):
        # As `str(uuid.UUID(bytes=..., version=4))`, without the object.
        number = int.from_bytes(self.rng.randbytes(16)) & ~_VERSIONED | _VERSION
        found = '%032x' % number
        return f'{found[:8]}-{found[8:12]}-{found[12:16]}-{found[16:20]}-{found[20:]}'


def _datetime(microseconds):
    return EPOCH + datetime.timedelta(microseconds=microseconds)


EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
