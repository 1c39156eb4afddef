"""Groups of resources in the query string of GET /allocation_candidates.

Source: reference/nova/scheduling 3.2.
"""

from collections.abc import Iterable
from collections.abc import Iterator

from nova_lite.objects import request_spec


def pairs(suffix: str, group: request_spec.RequestGroup) -> Iterator[tuple[str, str]]:
    """Yield the (key, value) pairs of one group."""
    amounts = ','.join(
        f'{name}:{amount}' for name, amount in sorted(group.resources.items()) if amount
    )
    if amounts:
        yield f'resources{suffix}', amounts
    conditions = traits(group.required_traits, group.forbidden_traits)
    if conditions:
        yield f'required{suffix}', conditions
    for uuids in group.member_of:
        yield f'member_of{suffix}', 'in:' + ','.join(sorted(uuids.split(',')))
    if group.forbidden_aggregates:
        yield f'member_of{suffix}', '!in:' + ','.join(sorted(set(group.forbidden_aggregates)))
    if group.in_tree:
        yield f'in_tree{suffix}', group.in_tree


def traits(required: Iterable[str], forbidden: Iterable[str]) -> str:
    """Return traits as a value of `required`."""
    return ','.join([*sorted(set(required)), *(f'!{name}' for name in sorted(set(forbidden)))])
