"""Replies of hosts to sagas, with the fields that sagas read."""

import typing

from nova_lite import saga


class Guest(saga.Answer):
    """A guest that was created or started, with the connections of its volumes to the host.

    block_devices: [{'uuid', 'connection_info'}]
    """

    power_state: int
    block_devices: typing.Sequence[saga.Data] = ()


class Departed(saga.Answer):
    """A guest that was stopped or copied.

    handover: facts that the destination needs, with the hash of the guest's password
    """

    handover: saga.Data


class Device(saga.Answer):
    """A volume on its host. detached: False if the device to detach was not there"""

    connection_info: saga.Data | None = None
    detached: bool = True
