"""Sagas: operations of many steps that survive the death of whoever runs them.

`step` says what a saga is, `engine` runs one, `journal` says what must be
remembered. Nothing here knows a particular move, a database or a bus.
"""

from nova_lite.saga.step import Clean
from nova_lite.saga.step import Effect
from nova_lite.saga.step import FOREVER
from nova_lite.saga.step import Pending
from nova_lite.saga.step import Saga
from nova_lite.saga.step import Skipped
from nova_lite.saga.step import Step
from nova_lite.saga.step import Way

__all__ = ('FOREVER', 'Clean', 'Effect', 'Pending', 'Saga', 'Skipped', 'Step', 'Way')
