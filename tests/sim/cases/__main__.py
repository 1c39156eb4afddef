"""Play tests in the simulation for the processes that connect, until standard input ends.

Arguments are the descriptor of a listening socket, and the directory for files.
"""
# ruff: noqa: E402 what is imported after the patch gets the simulated primitives

from tests.sim.kernel import patch

patch.apply()

import os
import socket
import sys

from tests.sim.cases import loading
from tests.sim.cases import playing
from tests.sim.cases import serving

if __name__ == '__main__':
    loading.inside = True
    listener = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(listener.fileno(), False)
    with playing.Player(sys.argv[2]) as player:
        serving.Server(listener, player).run(sys.stdin.fileno())
