"""Finding: one thing that breaks an invariant."""

import collections

Finding = collections.namedtuple('Finding', 'invariant what detail')
