"""The profiles of clouds for tests: a profile, failures of a test, failures by metadata.

Operations fail of servers whose metadata has the key `nova-lite-fail` and a verb as its
value, so that a test selects failures through the API of Nova.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

import yaml

from nova_lite.virt.sim import profile as profile_module

DEFAULT = 'instant'
METADATA_KEY = 'nova-lite-fail'
# The key of a fault of requests to a service, which no profile has.
SERVICE = 'service'


def extended(profile: str, failures: Iterable[Mapping[str, typing.Any]] = ()) -> str:
    """Return the text of a profile with these failures before those by metadata.

    profile: the name of a bundled one, or a path
    failures: as in the document of a profile
    Raises ProfileError, OSError.
    """
    if profile in profile_module.bundled():
        document = {'extends': profile}
    else:
        profile_module.load(profile)
        with open(profile) as file:
            document = yaml.safe_load(file) or {}
    rules = [*document.get('failures', ()), *(dict(each) for each in failures), *_by_metadata()]
    text = yaml.safe_dump({**document, 'failures': rules})
    profile_module.parse(text, f'{profile} of a test')
    return text


def is_counted(failure: Mapping[str, typing.Any]) -> bool:
    """Return whether a failure depends on how many operations were before."""
    return bool({'first', 'nth'} & set(failure))


def is_by_chance(failure: Mapping[str, typing.Any]) -> bool:
    """Return whether a failure depends on chance, which is the same in each new cloud."""
    return 'probability' in failure


def _by_metadata() -> list[dict[str, typing.Any]]:
    return [
        {'verb': verb, 'when': 'during', 'match': {'metadata': {METADATA_KEY: verb}}}
        for verb in profile_module.VERBS
    ]
