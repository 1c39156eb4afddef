"""The guests of a node that its exporters report, each with its diagnostics."""

from collections.abc import Iterator

from nova_lite import exception
from nova_lite.virt import driver as drivers
from nova_lite.virt import model


def resident(driver: drivers.Driver, node: str) -> Iterator[tuple[model.Guest, model.Json]]:
    """Yield each guest that the node would run, and its diagnostics in the form since 2.48."""
    for guest in driver.list_guests(node):
        if guest.role is not model.Role.RESIDENT:
            continue
        try:
            found = driver.get_diagnostics(node, guest.uuid)
        except exception.GuestNotFound:
            # It has left since it was listed.
            continue
        yield guest, found


def cpu_seconds(found: model.Json) -> float:
    """Return the CPU time of all virtual CPUs of a guest. found: its diagnostics"""
    nanoseconds: int = sum(each['time'] for each in found['cpu_details'])
    return nanoseconds / 1e9
