"""Drills as values, read from the files of the catalogue."""

from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
from importlib import resources
import typing

from nova_lite import exception
from nova_lite.lab.console import arguments
from nova_lite.lab.scenarios import schema
from nova_lite.terminal import plurals
from nova_lite.virt.sim import strict_yaml

Json: typing.TypeAlias = dict[str, typing.Any]

DIRECTORY, SUFFIX = 'drills', '.yaml'


class NoSuchDrill(exception.Invalid):
    msg = 'Scenario %(name)r does not exist.%(like)s `nova-lite scenario list` lists all.'


class WrongDrill(exception.Invalid):
    msg = 'Scenario %(name)s: %(reason)s'


@dataclasses.dataclass(frozen=True)
class Step:
    """A step. text: for people; action: a name in schema.ACTIONS; given: its arguments

    The texts and the arguments may contain `$NAME`: a role of a host, a cell, a server, or a value
    that an earlier request has kept.
    """

    text: str
    action: str
    given: Json

    @property
    def is_signal(self) -> bool:
        """Return whether the step only waits for a signal, and changes nothing."""
        return self.action in schema.SIGNALS


@dataclasses.dataclass(frozen=True)
class Exam:
    """The exam of a drill. after: text of the last step before the examinee takes over

    symptom, task: texts that the command prints for the examinee
    solved: signals that are judged, and requests that must succeed
    solution: steps that solve the task
    """

    after: str
    symptom: str
    task: str
    solved: Sequence[Step]
    solution: Sequence[Step]


@dataclasses.dataclass(frozen=True)
class Drill:
    """A drill. hosts: {role of a host: label of a cell}; hosts with equal labels are in one cell

    seconds: its approximate duration; leaves: text about lasting changes of the cloud, '' for none
    """

    name: str
    title: str
    purpose: str
    hosts: Mapping[str, str]
    seconds: int
    look_at: Sequence[str]
    steps: Sequence[Step]
    verify: str
    exam: Exam
    leaves: str = ''

    @property
    def cluster(self) -> str:
        """Return a text about the cloud that the drill needs."""
        cells = list(dict.fromkeys(self.hosts.values()))
        counts = [list(self.hosts.values()).count(cell) for cell in cells]
        if len(cells) == 1:
            return f'1 cell with {plurals.of(counts[0], "host")} without servers'
        each = ' and '.join(plurals.of(count, 'host') for count in dict.fromkeys(counts))
        return f'{len(cells)} cells with {each}{" each" * (len(set(counts)) == 1)} without servers'

    @property
    def servers(self) -> list[str]:
        """Return the names of all servers that the drill boots."""
        boots = (step.given for step in self.steps if step.action in ('boot', 'race'))
        return [name for given in boots for name in given['servers']]


def names() -> list[str]:
    """Return the names of all drills, sorted."""
    found = resources.files(__package__).joinpath(DIRECTORY).iterdir()
    return sorted(each.name.removesuffix(SUFFIX) for each in found if each.name.endswith(SUFFIX))


def read(name: str) -> Drill:
    """Return the drill with a name. Raise NoSuchDrill, or WrongDrill if its file is not valid."""
    known = names()
    if name not in known:
        raise NoSuchDrill(name=name, like=arguments.like(name, known))
    path = resources.files(__package__).joinpath(DIRECTORY, f'{name}{SUFFIX}')
    return parse(name, path.read_text(encoding='utf-8'))


def parse(name: str, text: str) -> Drill:
    """Return the drill of a YAML document. Raise WrongDrill."""
    try:
        found = strict_yaml.Reader.parse(name, text).value
        schema.DRILL.check(found)
    except exception.Invalid as error:
        raise WrongDrill(name=name, reason=str(error)) from error
    steps = [_step(each) for each in found.pop('steps')]
    exam = _exam(name, steps, found.pop('exam'))
    plain = {key: _plain(value) for key, value in found.items()}
    return Drill(name=name, steps=steps, exam=exam, **plain)


def _exam(name: str, steps: Sequence[Step], found: Json) -> Exam:
    """Return the exam. Its solution is what the drill does after it, unless it has another."""
    solved = [_step(each) for each in found.pop('solved')]
    solution = [_step(each) for each in found.pop('solution', ())]
    plain = {key: _plain(value) for key, value in found.items()}
    texts = [step.text for step in steps]
    if plain['after'] not in texts:
        raise WrongDrill(name=name, reason=f'no step is {plain["after"]!r}')
    solution = solution or [*steps[texts.index(plain['after']) + 1 :]]
    if all(step.is_signal for step in solution):
        raise WrongDrill(name=name, reason='its exam has no solution')
    return Exam(solved=solved, solution=solution, **plain)


def _step(entry: Json) -> Step:
    text = _plain(entry.pop('text'))
    ((action, given),) = entry.items()
    return Step(text, action, given)


def _plain(value: typing.Any) -> typing.Any:
    """Return a text of several lines as one line."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return ' '.join(value.split()) if isinstance(value, str) else value
