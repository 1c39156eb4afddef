"""Serve the processes that have tests played, each over a connection of its own.

A process sends a seed, a line, and is sent its answer, an object of JSON and a line, before it
sends another.
"""

import contextlib
import json

from tests.sim import kernel

# Seconds between two looks at the tests that run.
POLL_S = 0.02


class Server:
    """Plays tests at the same time for all that connect. player: a playing.Player"""

    def __init__(self, listener, player):
        self._listener, self._player = listener, player
        self._clients = []

    def run(self, owner):
        """Serve until the other end of the descriptor `owner` is closed."""
        try:
            while owner not in (ready := self._wait(owner)):
                if self._listener in ready:
                    self._clients.append(Client(self._listener.accept()[0], self._player))
                    self._player.share(len(self._clients))
                for client in list(self._clients):
                    if not client.go_on(client.socket in ready):
                        self._clients.remove(client)
                        client.close()
        finally:
            for client in self._clients:
                client.close()

    def _wait(self, owner):
        """Return what can be read or has ended, after POLL_S at most while a test is played."""
        sockets = [each.socket for each in self._clients]
        poll_s = POLL_S if any(each.is_playing for each in self._clients) else None
        return kernel.readable([owner, self._listener, *sockets], poll_s)


class Client:
    """A connection, and the test that is played for it."""

    def __init__(self, connection, player):
        self.socket = connection
        self._lines = connection.makefile()
        self._player = player
        self._playing = contextlib.ExitStack()
        self._steps = None

    @property
    def is_playing(self):
        return self._steps is not None

    def go_on(self, may_read):
        """Do what is possible without waiting; return whether the client is still there."""
        if may_read:
            # A process sends no seed while one is played: then it has ended.
            seed = self._lines.readline().strip()
            if not seed:
                return False
            self._steps = self._playing.enter_context(self._player.play(seed))
        if self._steps is not None:
            answer = next(self._steps)
            if answer is not None:
                self._end()
                self.socket.sendall(json.dumps(answer).encode() + b'\n')
        return True

    def _end(self):
        self._steps = None
        self._playing.close()

    def close(self):
        """End its test, if there is one."""
        self._end()
        self._lines.close()
        self.socket.close()
