"""A program that makes daemons as services do, and prints which hooks of the lab are set.

python -m tests.unit.daemons.hooks CONTROL_FILE CONDUCTOR_FILE COMPUTE_FILE
"""

import sys

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite import incarnation
from nova_lite import runtime
from nova_lite.daemons import compute
from nova_lite.daemons import conductor
from nova_lite.daemons import scheduler
from nova_lite.daemons import super_conductor
from nova_lite.rpc import transport


def main(control, cell, host):
    makes = {
        super_conductor.make: control,
        scheduler.make: control,
        conductor.make: cell,
        compute.make: host,
    }
    made = {make: make(conf_module.make_conf(files=[path])) for make, path in makes.items()}
    if made[super_conductor.make].manager.engine.debugger is not None:
        print('saga engine')
    if incarnation.current() is not incarnation.ENDLESS:
        print('databases')
    if runtime._current is not runtime._real:
        print('clock')
    try:
        print('bus', transport.driver_url('embedded://x'))
    except exception.Invalid:
        pass
    print(*(name for name in sys.modules if name.startswith('nova_lite.lab')))


if __name__ == '__main__':
    main(*sys.argv[1:])
