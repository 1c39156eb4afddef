"""Errors by meaning, one module for each subject.

A class says what is wrong in the terms of the field; `kind` says what the HTTP
answer will be (api/faults.py holds the only table from kind to code). Messages
name what the reader can mend. Errors cross RPC by class name and message.

All other code uses the classes by the names in this package: `exception.PortInUse`.
"""

from nova_lite.exception.base import *
from nova_lite.exception.building import *
from nova_lite.exception.flavors import *
from nova_lite.exception.hosts import *
from nova_lite.exception.images import *
from nova_lite.exception.moves import *
from nova_lite.exception.networks import *
from nova_lite.exception.placement import *
from nova_lite.exception.requests import *
from nova_lite.exception.scheduling import *
from nova_lite.exception.servers import *
from nova_lite.exception.services import *
from nova_lite.exception.shares import *
from nova_lite.exception.volumes import *
