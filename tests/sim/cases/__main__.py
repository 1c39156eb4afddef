"""Play tests in the simulation: seeds come from standard input, a line each.

A seed is a number and the id of a test. Arguments are the descriptor to which answers
are written, and the directory for files.
"""
# ruff: noqa: E402 what is imported after the patch gets the simulated primitives

from tests.sim.kernel import patch

patch.apply()

import json
import os
import sys

from tests.sim.cases import loading
from tests.sim.cases import playing

if __name__ == '__main__':
    loading.inside = True
    answers = int(sys.argv[1])
    os.set_inheritable(answers, False)
    with playing.Player(sys.argv[2]) as player:
        for line in sys.stdin:
            os.write(answers, json.dumps(player.play(line.strip())).encode() + b'\n')
