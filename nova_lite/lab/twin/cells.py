"""The cells of a twin. The APIs of a cloud do not show which host is in which cell."""

from collections.abc import Sequence
import fnmatch

from nova_lite.lab.maintenance import client


def divided(hosts: Sequence[str], patterns: Sequence[str]) -> list[list[str]]:
    """Return the names of the hosts of each cell. Raise WrongUse.

    patterns: for each cell the patterns of its hosts, with commas; without any there is one cell
    """
    cells = [
        [host for host in hosts if any(fnmatch.fnmatchcase(host, each) for each in text.split(','))]
        for text in patterns
    ]
    if not cells:
        return [list(hosts)]
    for text, found in zip(patterns, cells, strict=True):
        if not found:
            raise client.WrongUse(reason=f'--cell {text} fits no host. Correct the patterns')
    for host in hosts:
        count = sum(host in found for found in cells)
        if count != 1:
            fits = f'{count} cells' if count else 'no cell'
            raise client.WrongUse(reason=f'host {host} is in {fits}. Correct the --cell patterns')
    return cells
