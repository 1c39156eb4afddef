"""Undocumented names of a library are used only of tested versions that have the names.

Otherwise nova_lite goes the public way, which needs more time. The log has one line about it.
"""

from collections.abc import Iterator
import contextlib
import functools
import importlib
from importlib import metadata
import inspect
import os
import typing

from oslo_log import log
from packaging import version

LOG = log.getLogger(__name__)

# For tests: names of libraries whose undocumented names are not used, with commas; or `all`.
VARIABLE = 'NOVA_LITE_DOCUMENTED_ONLY'


class Unsupported(ImportError):
    """An installed library lacks an undocumented name that we use."""


class Library:
    """One library, as it is installed.

    name: name of its distribution; lowest, newest: versions with which the tests run
    """

    def __init__(self, name: str, *, lowest: str, newest: str) -> None:
        self.name, self.lowest, self.newest = name, lowest, newest
        self._missing: Unsupported | None = None

    @contextlib.contextmanager
    def declared(self) -> Iterator[None]:
        """Remember the names declared inside that the library lacks."""
        try:
            yield
        except Unsupported as error:
            self._missing = error

    @functools.cached_property
    def is_used(self) -> bool:
        """Return whether its undocumented names are used. If not, the log says why once."""
        reason = self._reason()
        if reason is not None:
            LOG.warning('%s is used by its documented names alone: %s', self.name, reason)
        return reason is None

    def _reason(self) -> str | None:
        off = os.environ.get(VARIABLE, '').split(',')
        if 'all' in off or self.name in off:
            return f'{VARIABLE} is set'
        if self._missing is not None:
            return str(self._missing)
        if not self.is_tested():
            installed = metadata.version(self.name)
            return f'{installed} is installed, and {self.lowest} to {self.newest} were tested'
        return None

    def is_tested(self) -> bool:
        """Return whether the installed version is one with which the tests run."""
        lowest, installed, newest = (
            version.parse(each) for each in (self.lowest, metadata.version(self.name), self.newest)
        )
        return lowest <= installed <= newest

    def module(self, path: str) -> typing.Any:
        """Import a module of the library. Raises Unsupported."""
        try:
            return importlib.import_module(path)
        except ImportError as error:
            raise self._lacks(path) from error

    def has(self, owner: typing.Any, *names: str) -> None:
        """Raise Unsupported unless a module or class has all these attributes."""
        for name in names:
            if not hasattr(owner, name):
                raise self._lacks(f'{owner.__name__}.{name}')

    def takes(self, owner: typing.Any, name: str, *arguments: str) -> None:
        """Raise Unsupported unless a method or function has these arguments."""
        self.has(owner, name)
        found = inspect.signature(getattr(owner, name)).parameters
        for argument in arguments:
            if argument not in found:
                raise self._lacks(f'{owner.__name__}.{name}({argument}=)')

    def keeps(self, owner: typing.Any, *names: str) -> None:
        """Raise Unsupported unless the constructors of a class use all these attributes."""
        inits = [vars(each)['__init__'] for each in owner.__mro__ if '__init__' in vars(each)]
        codes = [init.__code__ for init in inits if inspect.isfunction(init)]
        known = {name for code in codes for name in code.co_names}
        for name in names:
            if name not in known:
                raise self._lacks(f'{owner.__name__}().{name}')

    def uses(self, owner: typing.Any, name: str, *attributes: str) -> None:
        """Raise Unsupported unless a method of a class uses all these attributes.

        They are what a class of ours gives that method, in place of the library's own.
        """
        self.has(owner, name)
        known = inspect.unwrap(getattr(owner, name)).__code__.co_names
        for attribute in attributes:
            if attribute not in known:
                raise self._lacks(f'{attribute} in {owner.__name__}.{name}()')

    def _lacks(self, what: str) -> Unsupported:
        return Unsupported(
            f'{self.name} {metadata.version(self.name)} has no {what}, which nova_lite uses. '
            f'nova_lite was tested with {self.name} {self.lowest} to {self.newest}'
        )
