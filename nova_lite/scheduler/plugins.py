"""Filters and weighers by class name: those of nova_lite, and those that other packages add.

Another package names its class in an entry point of the family's group. The entry point has the
name of the class.
"""

import collections.abc
import difflib
import importlib.metadata
import inspect
import types
import typing

from oslo_config import cfg

# In an option: every class of nova_lite, if the family allows that.
ALL = 'all'
# nova's options name classes with their modules.
NOVAS = 'nova.scheduler.'
# Filters and weighers that nova has or had, and nova_lite has not.
ABSENT = (
    'AvailabilityZoneFilter',
    'CoreFilter',
    'RamFilter',
    'DiskFilter',
    'AggregateCoreFilter',
    'AggregateRamFilter',
    'AggregateDiskFilter',
    'ExactCoreFilter',
    'ExactRamFilter',
    'ExactDiskFilter',
    'RetryFilter',
    'TypeAffinityFilter',
)
# Names of filters all end alike.
SIMILAR = 0.8
NOVAS_ALL = 'nova.scheduler.weights.all_weighers'


class Plugin(typing.Protocol):
    """Base class of filters and weighers."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        """Read the options that the class needs."""


Kind = typing.TypeVar('Kind', bound=Plugin)


class Family(typing.Generic[Kind]):
    """Classes of one kind.

    base: their base class; modules: the modules of nova_lite with such classes
    group: the group of entry points; option: the option of [filter_scheduler] that names the
        classes in use
    """

    def __init__(
        self,
        base: type[Kind],
        modules: collections.abc.Iterable[types.ModuleType],
        *,
        group: str,
        option: str,
    ) -> None:
        self._base, self._modules = base, modules
        self._group, self._option = group, option

    def known(self) -> dict[str, type[Kind]]:
        """Return {class name: class} of the classes of nova_lite."""
        return {
            name: value
            for module in self._modules
            for name, value in vars(module).items()
            if inspect.isclass(value) and issubclass(value, self._base)
        }

    def load(self, conf: cfg.ConfigOpts, *, allow_all: bool = False) -> list[Kind]:
        """Return objects of the classes that the option names, in that order.

        A name that begins with NOVAS stands for the class after its last dot.
        allow_all: whether ALL, or NOVAS_ALL, may stand for every class of nova_lite
        Raises ValueError for an unknown name, and for a class of another package that
        cannot be imported or is not derived from the base class.
        """
        classes = self.known()
        names: list[str] = []
        for name in map(_own_name, conf.filter_scheduler[self._option]):
            names += classes if allow_all and name == ALL else [name]
        names = list(dict.fromkeys(names))
        added = self._added(set(names) - classes.keys())
        unknown = [name for name in names if name not in classes and name not in added]
        if unknown:
            known = [*[ALL] * allow_all, *sorted(classes), *self._offered()]
            raise ValueError(f'[filter_scheduler]{self._option}: {_unknown(unknown, known)}')
        return [{**added, **classes}[name](conf) for name in names]

    def _offered(self) -> list[str]:
        return sorted({point.name for point in importlib.metadata.entry_points(group=self._group)})

    def _added(self, names: collections.abc.Iterable[str]) -> dict[str, type[Kind]]:
        """Return {class name: class} of the entry points with these names."""
        found = {}
        for name in sorted(names):
            for point in importlib.metadata.entry_points(group=self._group, name=name):
                found[name] = self._class_of(point)
        return found

    def _class_of(self, point: importlib.metadata.EntryPoint) -> type[Kind]:
        try:
            value = point.load()
        except (ImportError, AttributeError) as error:
            raise ValueError(f'{self._group}: {point.value} cannot be loaded: {error}') from error
        if not (inspect.isclass(value) and issubclass(value, self._base)):
            raise ValueError(
                f'{self._group}: {point.value} is not derived from {self._base.__name__}'
            )
        return value


def _unknown(names: list[str], known: list[str]) -> str:
    """Return why names are refused, and the names to write instead."""
    absent = [name for name in names if name in ABSENT]
    similar = {name: difflib.get_close_matches(name, known, n=1, cutoff=SIMILAR) for name in names}
    text = f'unknown {", ".join(names)}'
    if absent:
        text += f'. nova_lite has no {", ".join(absent)}: remove the name'
    proposed = [f'{found[0]} for {name}' for name, found in similar.items() if found]
    if proposed:
        text += f'. Did you mean {", ".join(proposed)}?'
    if any(name not in ABSENT and not similar[name] for name in names):
        text += f'. Use one of: {", ".join(known)}'
    return text


def _own_name(name: str) -> str:
    """Return the name here of a class that an option names."""
    if name == NOVAS_ALL:
        return ALL
    return name.rpartition('.')[2] if name.startswith(NOVAS) else name
