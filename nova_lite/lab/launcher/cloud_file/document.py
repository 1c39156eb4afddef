"""YAML documents whose values know their lines."""

from collections.abc import Iterator
import re
import typing

import yaml

from nova_lite import exception
from nova_lite.lab.console import messages

Json: typing.TypeAlias = dict[str, typing.Any]
# The keys and indexes that lead to a value of a document.
Place: typing.TypeAlias = tuple[str | int, ...]

# Tags of keys: texts, and `<<`, which merges a mapping.
TEXTS = ('tag:yaml.org,2002:str', 'tag:yaml.org,2002:merge')
EMPTY = 'the file is empty. `nova-lite up` without -f starts a cloud without a file'
MOST_VALUES = 500_000
# A step of a path as people write it: `key` or `[index]`.
STEP = re.compile(r'\[(\d+)\]|([^.\[\]]+)')


class Wrong(exception.Invalid):
    """A file does not describe a cloud."""

    msg = '%(file)s, line %(line)s: %(reason)s'


class NotRead(exception.Invalid):
    msg = (
        '-f: %(file)s cannot be read: %(reason)s. Name a file that describes a cloud, as '
        '`nova-lite up --print-config` writes it'
    )


class Document:
    """A YAML mapping. path: of its file; value: the mapping"""

    def __init__(self, path: str, value: Json, lines: dict[Place, int]) -> None:
        self.path, self.value, self._lines = path, value, lines

    def line(self, place: Place) -> int:
        """Return the line of a value; for a value that the file lacks, the line of its parent."""
        while place not in self._lines:
            place = place[:-1]
        return self._lines[place]

    def wrong(self, place: Place, reason: str) -> Wrong:
        """Return the error to raise about a value."""
        text = written(place)
        return Wrong(
            file=self.path, line=self.line(place), reason=f'{text}: {reason}' if text else reason
        )


def written(place: Place) -> str:
    """Return a place as people write it, such as `servers[0].flavor`."""
    text = ''.join(f'[{step}]' if isinstance(step, int) else f'.{step}' for step in place)
    return text.removeprefix('.')


def place_of(text: str) -> Place:
    """Return the place from the text of `written`, if no key has points or brackets."""
    return tuple(int(index) if index else key for index, key in STEP.findall(text))


def read(path: str) -> Document:
    """Return the document in a file. Raise NotRead, Wrong."""
    try:
        with open(path, encoding='utf-8') as file:
            text = file.read()
    except (OSError, UnicodeError) as error:
        raise NotRead(file=path, reason=messages.cause(error)) from error
    return parse(path, text)


def parse(path: str, text: str) -> Document:
    """Return the document in a text. path: of its file. Raise Wrong."""
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            raise Wrong(file=path, line=1, reason=EMPTY)
        lines = dict(_limited(_walk(node, ()), node))
        value = loader.construct_document(node)
    except RecursionError as error:
        raise Wrong(file=path, line=1, reason='it has too many levels') from error
    except (yaml.YAMLError, TypeError, ValueError) as error:
        mark = getattr(error, 'problem_mark', None)
        line = mark.line + 1 if mark else 1
        reason = getattr(error, 'problem', None) or str(error)
        raise Wrong(file=path, line=line, reason=reason) from error
    found = Document(path, value or {}, {(): 1} | lines)
    if not isinstance(found.value, dict):
        raise found.wrong((), 'a file of a cloud is a mapping, such as `flavors: []`')
    return found


def _limited(found: Iterator[tuple[Place, int]], node: yaml.Node) -> Iterator[tuple[Place, int]]:
    """Yield places and lines. Raise ConstructorError for too many: aliases multiply values."""
    for number, each in enumerate(found):
        if number >= MOST_VALUES:
            raise _error(f'it has more than {MOST_VALUES} values, with those of aliases', node)
        yield each


def _walk(
    node: yaml.Node, place: Place, around: tuple[yaml.Node, ...] = ()
) -> Iterator[tuple[Place, int]]:
    """Yield (place, line) of a node and of all nodes below it. Raise ConstructorError."""
    if node in around:
        raise _error('a value contains itself', node)
    yield place, node.start_mark.line + 1
    around = (*around, node)
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _walk(item, (*place, index), around)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _error('a key is not a text', key)
            if key.tag not in TEXTS:
                raise _error(f'key {key.value} is not a text. Put it in quotes', key)
            if key.value in seen:
                raise _error(f'key {key.value!r} is given twice', key)
            seen.add(key.value)
            yield (*place, key.value), key.start_mark.line + 1
            for below, line in _walk(value, (*place, key.value), around):
                if below != (*place, key.value):
                    yield below, line


def _error(reason: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, reason, node.start_mark)
