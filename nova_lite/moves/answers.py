"""What hosts answer to sagas, as far as these read it."""

import typing

from nova_lite import saga


class Guest(saga.Answer):
    """A guest that was made or started, with the volumes as its host reaches them.

    block_devices: [{'uuid', 'connection_info'}]
    """

    power_state: int
    block_devices: typing.Sequence[saga.Data] = ()


class Departed(saga.Answer):
    """A guest that was stopped, or copied. handover: what the destination needs of it"""

    handover: saga.Data


class Device(saga.Answer):
    """How a volume was plugged in; detached: False where what was to go was not there."""

    connection_info: saga.Data | None = None
    detached: bool = True
