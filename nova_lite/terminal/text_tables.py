"""Tables that commands print."""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import sys

from rich import box
from rich import table
from rich import text

from nova_lite.terminal import pipes

# Characters in a line where no person reads it: enough for any row.
WIDEST = 100_000


def show(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table to standard output. columns: their titles; rows: lists of values.

    It is fitted to a terminal. Elsewhere each row is one line, so that programs can read it.
    """
    titles = (table.Column(title, overflow='fold') for title in columns)
    shown = table.Table(*titles, box=box.ASCII2)
    for row in rows:
        shown.add_row(*(text.Text(str(value)) for value in row))
    # Not as rich decides it: FORCE_COLOR makes a terminal of what a program reads.
    is_terminal = sys.stdout.isatty()
    out = pipes.Console(highlight=False, force_terminal=is_terminal)
    if not is_terminal:
        out.width = WIDEST
    out.print(shown)


def show_fields(fields: Mapping[str, object]) -> None:
    """Print {name: value} as a table with a row for each.

    Items of a list are joined by commas, as are those of a mapping with their keys, if there are
    several.
    """
    show(('Field', 'Value'), [(name, _text(value)) for name, value in fields.items()])


def _text(value: object) -> str:
    if value is None:
        return ''
    if isinstance(value, dict):
        value = [each if len(value) == 1 else f'{key} {each}' for key, each in value.items()]
    return ', '.join(map(str, value)) if isinstance(value, list | tuple) else str(value)
