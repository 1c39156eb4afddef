"""The parts of a cloud that injected faults can strike."""

from nova_lite.lab.control import faults
from nova_lite.lab.launcher import layout


def of(places: layout.Layout) -> list[faults.Cell]:
    """Return the top and the cells of a cloud."""
    cells = [
        faults.Cell(
            name,
            places.bus_url(name),
            database=places.database_url(name),
            guests=places.guests_path(name),
            hosts=places.hosts(name),
        )
        for name in places.cell_names
    ]
    return [faults.Cell(layout.TOP, places.bus_url(layout.TOP)), *cells]
