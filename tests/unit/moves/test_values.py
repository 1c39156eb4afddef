"""Arguments and results of moves equal those of a golden file, by version."""

import ast
import importlib
import json
import pathlib
import pkgutil

import testtools

from nova_lite import moves
from nova_lite import saga
from nova_lite.moves import kinds
from nova_lite.saga import journal
from nova_lite.saga import values

GOLDEN = pathlib.Path(__file__).with_name('values.json')
CHANGED = (
    'What the journal keeps of a kind of saga has changed. Raise VERSION of that Value and have '
    '`upgrade` make it of the former one. Then write the file again: '
    'python -m tests.unit.moves.test_values'
)


def shape(kind):
    """{'version', fields} of a Value; of another class its name."""
    if isinstance(kind, type) and issubclass(kind, saga.Value):
        return {'version': kind.VERSION, **{f.name: name(f.type) for f in values.fields(kind)}}
    return name(kind)


def name(kind):
    """The name of a type."""
    return kind.__name__ if isinstance(kind, type) and type(kind) is type else str(kind)


def modules():
    """Every module of moves."""
    found = pkgutil.walk_packages(moves.__path__, 'nova_lite.moves.')
    return [importlib.import_module(each.name) for each in found]


def shapes():
    """Return what the journal keeps, as the code has it."""
    left = {
        f'{kind}: {name}': shape(name.kind)
        for kind in kinds.KINDS
        for name in (each.id for each in kinds.steps(kind).values())
        if isinstance(name, saga.Result)
    }
    names = {step for kind in kinds.KINDS for step in kinds.steps(kind)}
    notes = {
        str(each): shape(each.kind)
        for module in modules()
        for each in vars(module).values()
        if isinstance(each, saga.Result) and each not in names
    }
    given = {kind: shape(values.given(each)) for kind, each in kinds.KINDS.items()}
    inner = {
        each.__name__: shape(each)
        for kind in kinds.KINDS.values()
        for each in values.given(kind).inner.values()
    }
    return {'arguments': given, 'inner': inner, 'results': left, 'notes': notes}


class ValuesTest(testtools.TestCase):
    def test_are_those_of_the_file(self):
        self.assertEqual(json.loads(GOLDEN.read_text()), shapes(), CHANGED)

    def test_what_the_api_gives(self):
        given = {'flavor': {'id': 1}, 'host': None}
        self.assertEqual(given, kinds.arguments('resize', given))
        self.assertRaises(journal.UnknownPlan, kinds.arguments, 'resize', {'flavour': {}})
        self.assertRaises(journal.UnknownPlan, kinds.arguments, 'resize', {})

    def test_moves_read_results_by_what_they_are_declared_as(self):
        """Not what the journal has of them, under whatever name."""
        found = [
            f'{module.__name__}:{node.lineno}'
            for module in modules()
            for node in ast.walk(ast.parse(pathlib.Path(module.__file__).read_text()))
            if isinstance(node, ast.Attribute)
            and node.attr == 'data'
            and ast.unparse(node.value) in ('self', 'move', 'self.move', 'saga')
        ]
        self.assertEqual([], found)


if __name__ == '__main__':
    GOLDEN.write_text(json.dumps(shapes(), indent=1, sort_keys=True) + '\n')
