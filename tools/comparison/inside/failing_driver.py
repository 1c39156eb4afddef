"""A fake driver of nova whose operations fail on request; nova-compute imports it.

[DEFAULT] compute_driver names the class, and PYTHONPATH its directory. A file `VERB.UUID` in the
directory that the variable NOVA_LITE_JUDGED names makes the operation fail for this server, with
the class of nova.exception that the file contains, or RuntimeError. Imports nothing of nova_lite.
"""

from collections.abc import Callable
import functools
import os
import typing

from nova import exception
from nova.virt import fake

DIRECTORY = 'NOVA_LITE_JUDGED'
VERBS = (
    'attach_volume',
    'check_can_live_migrate_destination',
    'check_can_live_migrate_source',
    'confirm_migration',
    'destroy',
    'finish_migration',
    'finish_revert_migration',
    'live_migration',
    'migrate_disk_and_power_off',
    'post_live_migration',
    'post_live_migration_at_destination',
    'post_live_migration_at_source',
    'power_off',
    'pre_live_migration',
    'set_admin_password',
    'snapshot',
    'soft_delete',
    'spawn',
)
Method: typing.TypeAlias = Callable[..., object]


def failing(verb: str, method: Method) -> Method:
    """Return a method of the driver that fails when a file asks for it."""

    @functools.wraps(method)
    def called(self: object, *args: object, **kwargs: object) -> object:
        for value in (*args, *kwargs.values()):
            path = os.path.join(os.environ[DIRECTORY], f'{verb}.{getattr(value, "uuid", None)}')
            if os.path.exists(path):
                with open(path, encoding='utf-8') as file:
                    name = file.read()
                if name:
                    raise getattr(exception, name)(reason=f'injected failure of {verb}')
                raise RuntimeError(f'injected failure of {verb}')
        return method(self, *args, **kwargs)

    return called


class FailingDriver(fake.FakeDriver):  # type: ignore[misc]  # is not typed
    """Nova's fake driver, with operations that fail."""


for _verb in VERBS:
    setattr(FailingDriver, _verb, failing(_verb, getattr(fake.FakeDriver, _verb)))
