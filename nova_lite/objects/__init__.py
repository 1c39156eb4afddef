"""Versioned objects, one noun per module. `register_all` makes them known to RPC."""

import importlib
import pkgutil


def register_all() -> None:
    """Import every module here, so that the serializer finds each class by name."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f'{__name__}.{module.name}')


register_all()
