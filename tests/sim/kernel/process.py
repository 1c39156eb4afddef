"""Simulated processes: groups of threads with clocks of their own."""

import contextlib

from tests.sim.kernel import streams

BILLION = 10**9
# The wall clock at the start of every history: 2027-01-15T08:00:00Z, in microseconds.
EPOCH_US = 1_800_000_000 * 10**6


class Process:
    """A group of threads that is killed and frozen as one, on a machine with its own clock.

    machine: its name; processes of one machine have the time since its boot in common
    """

    def __init__(self, kernel, name, number, machine):
        self._kernel = kernel
        self.name = name
        # What os.getpid returns.
        self.pid = 1000 + number
        self.random = kernel.stream('process/%s/%d' % (name, number))
        # Machines were not all booted at the same time.
        self._booted_us = streams.derived(0, machine) % 10**12
        self.boot_id = '%08x-0000-4000-8000-000000000000' % (streams.derived(1, machine) >> 32)
        self._offset_us = self._drift_ppb = 0
        # Since when its clocks drift as they do now, by the true time and by its own.
        self._since_us = self._own_us = kernel.now_us()
        self.threads = []
        self.dead = self.frozen = False
        # Threads that would be ready if the process were not frozen.
        self.parked = []
        # Locks held by its threads, in the order of their acquisition; semaphores, how often.
        self.held = {}
        self._kill_hooks = []

    def set_clock(self, offset=0.0, drift=0.0):
        """Set the wall clock `offset` seconds ahead; all clocks gain `drift` s a second from now.

        The time since boot keeps what it has gained.
        """
        self._since_us, self._own_us = self._kernel.now_us(), self._elapsed_us()
        self._drift_ppb = round(drift * BILLION)
        self._offset_us = round(offset * 10**6) + self._since_us - self._own_us

    def _elapsed_us(self):
        passed = self._kernel.now_us() - self._since_us
        return self._own_us + passed + passed * self._drift_ppb // BILLION

    def wall_us(self):
        """Return the wall clock in microseconds since 1970."""
        return EPOCH_US + self._offset_us + self._elapsed_us()

    def monotonic_us(self):
        """Return the microseconds since this machine was booted."""
        return self._booted_us + self._elapsed_us()

    def deadline_us(self, seconds):
        """Return the true time at which `seconds` of this process's clock have passed."""
        own = max(0, round(seconds * 10**6))
        return self._kernel.now_us() + own * BILLION // (BILLION + self._drift_ppb)

    @contextlib.contextmanager
    def entered(self):
        """Make the calling thread start threads in this process and read its clocks.

        The thread itself goes on belonging to its own process.
        """
        thread = self._kernel.running
        before, thread.process = thread.process, self
        try:
            yield self
        finally:
            thread.process = before

    def spawn(self, function, *args, name=None):
        """Run `function(*args)` in a new thread of this process and return the thread."""
        with self.entered():
            return self._kernel.spawn(function, *args, name=name)

    def on_kill(self, function):
        """Call `function()` when the process is killed, to give up what it holds elsewhere.

        A thread of the world calls it, soon after, as an operating system does.
        """
        self._kill_hooks.append(function)

    def kill(self):
        """End the process: none of its threads runs again, not even a finally clause."""
        if self.dead:
            return
        self.dead = True
        with self._kernel.masked():
            self._kernel.log('kill', self.name)
            for thread in self.threads:
                self._kernel.unready(thread)
            for lock in list(self.held):
                lock.abandon(self)
            if self._kill_hooks:
                self._kernel.world.spawn(self._clean_up, name='end of %s' % self.name)
        self._kernel.leave_if_stopped()

    def _clean_up(self):
        for hook in self._kill_hooks:
            hook()

    def freeze(self):
        """Stop all threads of the process until it is thawed. Its clocks go on."""
        if self.frozen or self.dead:
            return
        self.frozen = True
        self._kernel.log('freeze', self.name)
        for thread in self.threads:
            if self._kernel.unready(thread):
                self.parked.append(thread)
        self._kernel.leave_if_stopped()

    def thaw(self):
        """Resume the process."""
        if not self.frozen or self.dead:
            return
        self.frozen = False
        self._kernel.log('thaw', self.name)
        parked, self.parked = self.parked, []
        for thread in parked:
            self._kernel.make_ready(thread)
