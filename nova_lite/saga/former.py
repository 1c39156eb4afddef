"""Ids of steps and notes by the names of several words that they had in a former release.

An id is such a name without articles and with hyphens, or another one: `Saga.former_ids` has those.
"""

import collections.abc
import re
import typing

Ids: typing.TypeAlias = collections.abc.Mapping[str, str]
ARTICLE = re.compile(' (the|a) ')


def id_of(name: str, ids: Ids) -> str:
    """Return the id of a former name, or an id as it is. ids: {former name: id}, see above"""
    return ids.get(name, ARTICLE.sub(' ', name).replace(' ', '-'))
