"""Names of the cells of a cloud, and the numbers and names of their hosts."""

from collections.abc import Sequence

from nova_lite.terminal import plurals


def cell_name(number: int) -> str:
    """Return the name of a cell. number: 1 of the first cell"""
    return f'cell{number}'


def counts(hosts: int | Sequence[int], cells: int) -> tuple[int, ...]:
    """Return the number of hosts of each cell. Raise ValueError.

    hosts: a number that holds for every cell, or a number for each cell
    """
    if isinstance(hosts, int):
        return (hosts,) * max(cells, 1)
    if len(hosts) != cells:
        raise ValueError(
            f'--hosts has {plurals.of(len(hosts), "number")} for {plurals.of(cells, "cell")}; '
            'give one for each cell'
        )
    return tuple(hosts)


def of_cell(cell: str, count: int, named: Sequence[str] = ()) -> list[str]:
    """Return the names of the hosts of a cell. named: those that its first hosts have"""
    numbered = [f'{cell}-host{number + 1}' for number in range(len(named), count)]
    return [*named[:count], *numbered]
