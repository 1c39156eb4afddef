"""The server groups of a twin.

A host refuses a server whose group has a hard policy that the host would violate. In a real cloud
members may violate it, after evacuations or moves to hosts that were forced. These are no members
in the twin.
"""

import collections
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from nova_lite.lab.twin import names as names_
from nova_lite.terminal import plurals

Json: typing.TypeAlias = dict[str, typing.Any]
AFFINITY, ANTI_AFFINITY = 'affinity', 'anti-affinity'
POLICIES = (AFFINITY, ANTI_AFFINITY, 'soft-affinity', 'soft-anti-affinity')


def known(groups: Iterable[Json]) -> tuple[list[Json], list[str]]:
    """Return (entries of groups whose policy a twin has, notes on the others)."""
    found, others = [], []
    for entry in groups:
        if entry['policy'] in POLICIES:
            found.append(entry)
        else:
            others.append(str(entry['name']))
    if not others:
        return found, []
    text = f'{plurals.of(len(others), "server group")} without a policy that a twin has'
    return found, [f'{text} ({names_.listed(others)})']


def obeying(
    groups: Iterable[Json], members: Mapping[str, str], hosts: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """Return ({id of a member: name of its group}, notes on members that violate its policy).

    groups: entries; members: {id: name of its group}; hosts: {id: host of the server}
    """
    by_name = {entry['name']: entry for entry in groups}
    there = collections.defaultdict[str, list[str]](list)
    for server_id in sorted(hosts):
        if members.get(server_id) in by_name:
            there[members[server_id]].append(server_id)
    found: dict[str, str] = {}
    others = 0
    for name, ids in there.items():
        kept = _kept(by_name[name], ids, hosts)
        found |= dict.fromkeys(kept, name)
        others += len(ids) - len(kept)
    if not others:
        return found, []
    servers = plurals.of(others, 'server')
    return found, [f'the server groups of {servers} whose hosts violate the policies']


def _kept(group: Json, ids: Sequence[str], hosts: Mapping[str, str]) -> list[str]:
    """Return the servers that obey the policy of a group together. ids: of its members"""
    counts = collections.Counter(hosts[each] for each in ids)
    if group['policy'] == AFFINITY:
        most = max(sorted(counts), key=counts.__getitem__)
        return [each for each in ids if hosts[each] == most]
    if group['policy'] != ANTI_AFFINITY:
        return list(ids)
    number, kept = collections.Counter[str](), []
    for each in ids:
        number[hosts[each]] += 1
        if number[hosts[each]] <= group.get('max_server_per_host', 1):
            kept.append(each)
    return kept
