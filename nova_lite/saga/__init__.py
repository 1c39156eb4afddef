"""Sagas: operations of many steps that another process can continue.

`step` defines a saga, `engine` runs sagas, `journal` is the interface of their storage.
This package does not depend on particular moves, databases or buses.
"""

from nova_lite.saga.journal import Data
from nova_lite.saga.journal import LostLease
from nova_lite.saga.step import Clean
from nova_lite.saga.step import Effect
from nova_lite.saga.step import FOREVER
from nova_lite.saga.step import Leave
from nova_lite.saga.step import nothing
from nova_lite.saga.step import Pending
from nova_lite.saga.step import Saga
from nova_lite.saga.step import Skipped
from nova_lite.saga.step import Step
from nova_lite.saga.step import Steps
from nova_lite.saga.step import Transaction
from nova_lite.saga.step import Way
from nova_lite.saga.values import Answer
from nova_lite.saga.values import Result
from nova_lite.saga.values import Value

__all__ = (
    'FOREVER',
    'Answer',
    'Clean',
    'Data',
    'Leave',
    'LostLease',
    'Effect',
    'Pending',
    'Result',
    'Saga',
    'Skipped',
    'Step',
    'Steps',
    'Transaction',
    'Value',
    'Way',
    'nothing',
)
