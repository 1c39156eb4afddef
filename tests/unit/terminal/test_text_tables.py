"""Tables of commands."""

import contextlib
import io

import fixtures
from rich import cells
import testtools

from nova_lite.terminal import text_tables


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(columns, rows, out=None):
    out = out or io.StringIO()
    with contextlib.redirect_stdout(out):
        text_tables.show(columns, rows)
    return out.getvalue().splitlines()


class TablesTest(testtools.TestCase):
    def test_frame(self):
        expected = [
            '+------+-------+',
            '| name | count |',
            '+------+-------+',
            '| h1   | 3     |',
            '| h2   | None  |',
            '+------+-------+',
        ]
        self.assertEqual(expected, shown(('name', 'count'), [('h1', 3), ('h2', None)]))

    def test_values_are_printed_as_they_are(self):
        [line] = shown(('reason',), [['[compute]driver :x: [bold]']])[3:-1]
        self.assertEqual('| [compute]driver :x: [bold] |', line)

    def test_wide_characters_keep_the_columns(self):
        lines = shown(('name', 'host'), [('日本', 'h1'), ('web', 'h2')])
        self.assertEqual(1, len({cells.cell_len(line) for line in lines}))

    def test_rows_stay_one_line_unless_a_terminal_is_narrower(self):
        row = [f'{"x" * 36}-{number}' for number in range(10)]
        self.assertIn(' | '.join(row), shown(row, [row])[3])
        self.useFixture(fixtures.EnvironmentVariable('COLUMNS', '100'))
        folded = shown(('first', 'second', 'third'), [row[:3]], Terminal())[3:-1]
        self.assertEqual({100}, set(map(len, folded)))
        parts = [[part.strip() for part in line.split('|')[1:-1]] for line in folded]
        self.assertEqual(row[:3], [''.join(column) for column in zip(*parts, strict=True)])

    def test_colours_that_are_forced_change_nothing_for_programs(self):
        row = ['x' * 90]
        plain = shown(['first'], [row])
        self.useFixture(fixtures.EnvironmentVariable('FORCE_COLOR', '1'))
        self.assertEqual(plain, shown(['first'], [row]))
