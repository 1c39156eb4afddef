"""Offer failing_driver as nova.virt.failing_driver: nova loads drivers of this package only.

The interpreters of nova import it at their start, because PYTHONPATH has this directory.
"""

from collections.abc import Sequence
import importlib.abc
import importlib.machinery
import importlib.util
import pathlib
import sys
import types

NAME = 'nova.virt.failing_driver'
PATH = pathlib.Path(__file__).with_name('failing_driver.py')


class Finder(importlib.abc.MetaPathFinder):
    """Finds the one module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return where the module is."""
        return importlib.util.spec_from_file_location(fullname, PATH) if fullname == NAME else None


sys.meta_path.append(Finder())
