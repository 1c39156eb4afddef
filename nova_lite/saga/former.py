"""Names that steps and notes had in a former release, and ids, which they have now.

An id is such a name with hyphens, or another one: `Saga.former_ids` has those.
"""

import collections.abc
import typing

Ids: typing.TypeAlias = collections.abc.Mapping[str, str]


def id_of(name: str, ids: Ids) -> str:
    """Return the id of a former name, or an id as it is. ids: {former name: id}, see above"""
    return ids.get(name, name.replace(' ', '-'))


def name_of(step: str, ids: Ids) -> str:
    """Return the former name of an id."""
    return {other: name for name, other in ids.items()}.get(step, step.replace('-', ' '))
