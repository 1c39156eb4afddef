"""Commands and daemons' entry points: they parse arguments and call a library.

Their processes look for cycles of garbage less often than Python does by default, from the
imports on: requests, rows and statements are made by the thousand and hardly any is part of
a cycle. A boot costs an eighth less CPU time, and the memory of a process is about the same.
"""

import gc

gc.set_threshold(10000, 20, 20)
