"""Saved states of a cloud as people read them, for commands."""

import typing

from nova_lite.terminal import text_tables


def show_names(found: dict[str, typing.Any]) -> None:
    """Print the names of the saved states."""
    text_tables.show(('State',), [(name,) for name in found['states']])


def show_saved(found: dict[str, typing.Any]) -> None:
    """Print that a state was saved, and how long it took."""
    print(f'Saved state {found["state"]} in {found["seconds"] * 1000:.0f} ms')


def show_reset(found: dict[str, typing.Any]) -> None:
    """Print that the cloud was reset, and how long it took."""
    print(f'Reset to state {found["state"]} in {found["seconds"] * 1000:.0f} ms')
