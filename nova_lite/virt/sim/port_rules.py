"""Rules of profiles for plugging ports, for the stand-in of the network service."""

from collections.abc import Iterable
import dataclasses
import fnmatch
import typing

from nova_lite import runtime
from nova_lite.virt.sim import delay as delays
from nova_lite.virt.sim import strict_yaml

COMPLETED, FAILED, LOST = OUTCOMES = ('completed', 'failed', 'lost')


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """The rule for plugging ports whose host, network and name fit the patterns."""

    delay: delays.Distribution
    host: str = '*'
    network: str = '*'
    port: str = '*'
    outcome: str = COMPLETED
    probability: float = 1
    hybrid_plug: bool = False

    def fits(self, host: str, network: str, port: str) -> bool:
        return (
            fnmatch.fnmatchcase(host, self.host)
            and fnmatch.fnmatchcase(network, self.network)
            and fnmatch.fnmatchcase(port, self.port)
        )


class Plug(typing.NamedTuple):
    """The fate of a port. delay_s: seconds until it is plugged; outcome: one of OUTCOMES"""

    delay_s: float
    outcome: str


class PortRules:
    """The rules of a profile; the last one that fits prevails.

    speed: factor by which delays are shorter
    """

    def __init__(self, rules: Iterable[Rule], *, speed: float = 1) -> None:
        self._rules = tuple(reversed(tuple(rules)))
        self._speed = speed

    def draw(self, *, host: str, network: str, port: str) -> Plug | None:
        """Return the event of a port that a host is asked to plug; None: it is ACTIVE at once.

        A rule with a probability leaves the other ports to the rules before it.
        """
        rng = runtime.random()
        for rule in self._rules:
            if rule.fits(host, network, port) and rng.random() < rule.probability:
                seconds = _seconds(rule.delay, rng)
                return Plug(seconds / self._speed, rule.outcome)
        return None

    def is_hybrid(self, *, host: str, network: str, port: str) -> bool:
        """Return whether the host plugs the port through a Linux bridge, before its guest runs."""
        for rule in self._rules:
            if rule.fits(host, network, port):
                return rule.hybrid_plug
        return False


def _seconds(delay: delays.Distribution, rng: runtime.Random) -> float:
    return delay.seconds if isinstance(delay, delays.Fixed) else delay.draw(rng)


def read(item: strict_yaml.Reader) -> Rule:
    """Return the rule that an entry of `ports` in a profile is."""
    item.mapping(optional=('match', 'delay', 'outcome', 'probability', 'hybrid_plug'))
    patterns = {}
    if item.has('match'):
        match = item.at('match')
        match.mapping(optional=('host', 'network', 'port'))
        patterns = {key: value.string() for key, value in match.items()}
    return Rule(
        delay=delays.read(item.at('delay')) if item.has('delay') else delays.Fixed(0),
        outcome=item.at('outcome').choice(OUTCOMES) if item.has('outcome') else COMPLETED,
        probability=item.at('probability').number(0, 1) if item.has('probability') else 1,
        hybrid_plug=item.at('hybrid_plug').boolean() if item.has('hybrid_plug') else False,
        **patterns,
    )
