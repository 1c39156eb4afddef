"""Combinations of the parts of `POST /servers`, for tools.judge_answers.

Each value of each part is sent alone by both users; then come random pairs and groups of three.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import copy
import dataclasses
import functools
import json
import re
import typing

from nova_lite import runtime
from nova_lite.api import microversion
from nova_lite.api import operation
from nova_lite.api import schema
from tools.comparison import answer_cases
from tools.comparison import creation_devices
from tools.comparison import creation_values

# The microversions that change the request, those before some of them, and others.
MINORS = (1, 19, 31, 32, 33, 36, 37, 41, 42, 52, 56, 57, 59, 60, 63, 67, 71, 72, 74, 90, 94, 96)
USERS = answer_cases.OWNER, answer_cases.ADMIN
DEVICES, LEGACY, HINTS, OTHER_HINTS = 'devices', 'legacy', 'hints', 'other hints'
PLACES = {
    DEVICES: 'block_device_mapping_v2',
    LEGACY: 'block_device_mapping',
    HINTS: 'os:scheduler_hints',
    OTHER_HINTS: 'OS-SCH-HNT:scheduler_hints',
}
# Parts that decide about each other get more combinations.
HEAVY = ('networks', 'image', 'flavor', 'count', 'zone', 'host', DEVICES, DEVICES, DEVICES, HINTS)
SHARE_OF_OFFERED, SHARE_OF_FITTING = 0.85, 0.85
REQUEST = 'POST', '/servers'
# A word that stands for an object, and an id.
WORD, SOME_ID = re.compile(r'\{[a-z_]+\}'), '5f0e3a1c-6b1f-4a52-9d0e-0c9a34b2f7aa'
SHOWN = 60
Body: typing.TypeAlias = dict[str, typing.Any]
# (dimension, value): fields of the server, or the devices or hints.
Part: typing.TypeAlias = tuple[str, object]


@dataclasses.dataclass(frozen=True)
class Creation:
    """A request for new servers. parts: those that differ from BASE"""

    user: str
    minor: int
    parts: tuple[Part, ...]

    def __str__(self) -> str:
        texts = [f'{name} {_short(json.dumps(value))}' for name, value in self.parts]
        return f'{self.user} 2.{self.minor} {"; ".join(texts) or "base"}'

    def body(self, name: str) -> Body:
        """Return the body with words for objects. name: of a server that no part names"""
        server: Body = {
            'name': name,
            'flavorRef': '{flavor}',
            'imageRef': '{image}',
            'networks': [{'uuid': '{network}'}],
        }
        body: Body = {'server': server}
        for dimension, value in self.parts:
            if dimension in (HINTS, OTHER_HINTS):
                body[PLACES[dimension]] = value
            elif dimension in PLACES:
                server[PLACES[dimension]] = value
            else:
                server.update(typing.cast(Mapping[str, typing.Any], value))
        for field in [key for key, value in server.items() if value == creation_values.ABSENT]:
            del server[field]
        return copy.deepcopy(body)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f'{text[:SHOWN]}...{len(text)}'


def values() -> dict[str, Sequence[object]]:
    """Return {dimension: its values}."""
    return {
        **creation_values.SERVER,
        HINTS: creation_values.HINTS,
        OTHER_HINTS: creation_values.HINTS[:1],
        LEGACY: creation_devices.LEGACY,
        DEVICES: list(creation_devices.fixed()),
    }


def singles(chance: runtime.Random) -> Iterator[Creation]:
    """Yield each value alone with a random user and microversion that offers its field."""
    for user in USERS:
        for minor in MINORS:
            yield Creation(user, minor, ())
    for dimension, known in values().items():
        for value in known:
            parts = ((dimension, value),)
            yield Creation(chance.choice(USERS), _minor(chance, parts), parts)


def combinations(chance: runtime.Random, number: int) -> Iterator[Creation]:
    """Yield so many pairs and groups of three."""
    known = values()
    for _each in range(number):
        case = _combination(chance, known)
        if chance.random() < SHARE_OF_FITTING:
            while not fits(case):
                case = _combination(chance, known)
        yield case


def _combination(chance: runtime.Random, known: Mapping[str, Sequence[object]]) -> Creation:
    names = _dimensions(chance, list(known))
    parts = tuple((name, _value(chance, name, known[name])) for name in names)
    return Creation(chance.choice(USERS), _minor(chance, parts), parts)


def fits(case: Creation) -> bool:
    """Return whether the schema accepts a request, so that other checks are reached."""
    schemas = _operation().body
    found = schemas and schemas.at(microversion.Version(2, case.minor))
    try:
        if found:
            found.check(json.loads(WORD.sub(SOME_ID, json.dumps(case.body('judged')))))
    except schema.InvalidInput:
        return False
    return True


@functools.cache
def _operation() -> operation.Operation:
    return next(each for each in operation.load_all() if (each.method, each.path) == REQUEST)


def _dimensions(chance: runtime.Random, names: list[str]) -> list[str]:
    """Return two or three different dimensions, at least one of which is of HEAVY."""
    first = chance.choice(HEAVY)
    others = [chance.choice(HEAVY) if chance.random() < 0.5 else chance.choice(names)]
    if chance.random() < 0.4:
        others.append(chance.choice(names))
    return list(dict.fromkeys([first, *others]))


def _value(chance: runtime.Random, name: str, known: Sequence[object]) -> object:
    if name == DEVICES and chance.random() < 0.7:
        return creation_devices.drawn(chance)
    return chance.choice(known)


def _minor(chance: runtime.Random, parts: Sequence[Part]) -> int:
    """Return a microversion, which mostly offers the fields of all parts."""
    offered = [creation_values.OFFERED.get(name, (1, None)) for name, _value in parts]
    least = max((first or 1 for first, _last in offered), default=1)
    most = min((last for _first, last in offered if last), default=MINORS[-1])
    fit = [minor for minor in MINORS if least <= minor <= most]
    if fit and chance.random() < SHARE_OF_OFFERED:
        # The newest one is what most clients send.
        return fit[-1] if chance.random() < 0.3 else chance.choice(fit)
    return chance.choice(MINORS)


def chosen(number: int, seed: int) -> list[Creation]:
    """Return so many cases: at most half of them with one part, the others with more."""
    chance = runtime.seeded_random(seed)
    alone = list(singles(chance))
    some = chance.sample(alone, min(len(alone), (number + 1) // 2))
    return [*some, *combinations(chance, number - len(some))]
