"""Which hosts a server may stand on, stated plainly: zones, traits, isolated aggregates.

Shared by I12 and the property test of the scheduler. It imports nothing of the
scheduler on purpose: an error there must not be repeated here.
Source: reference/scheduling 2 and 2.1.
"""

import collections

# aggregates: metadata of those the host is in; traits: of its provider
Place = collections.namedtuple('Place', 'host aggregates traits')
# extra_specs: the flavor's; properties: the image's; zone: the one asked for, or None
Wish = collections.namedtuple('Wish', 'extra_specs properties zone')

ZONE = 'availability_zone'


def wish_of(spec):
    """The Wish of a stored request spec (plain values)."""
    return Wish(
        (spec.get('flavor') or {}).get('extra_specs') or {},
        (spec.get('image') or {}).get('properties') or {},
        spec.get('availability_zone'),
    )


def demanded(wish):
    """Traits that flavor (in whatever group) and image require."""
    found = set()
    for key, value in wish.extra_specs.items():
        kind, colon, name = key.partition(':')
        if kind.startswith('trait') and colon and value == 'required':
            found.add(name)
    for key, value in wish.properties.items():
        if key.startswith('trait:') and value == 'required':
            found.add(key.removeprefix('trait:'))
    return found


def refused(wish):
    """Traits that the flavor forbids; an image can forbid none."""
    return {
        key.partition(':')[2]
        for key, value in wish.extra_specs.items()
        if key.startswith('trait') and value == 'forbidden'
    }


def is_outside_zone(place, wish, zones):
    """Whether the host is in no aggregate of the zone. zones: all that aggregates name."""
    return wish.zone in zones and not any(
        metadata.get(ZONE) == wish.zone for metadata in place.aggregates
    )


def unlicensed(place, wish):
    """Traits that an aggregate of the host requires and the server does not ask for."""
    wanted = {
        key.removeprefix('trait:')
        for metadata in place.aggregates
        for key, value in metadata.items()
        if key.startswith('trait:') and value == 'required'
    }
    return wanted - demanded(wish)


def may_enter(place, wish, zones, *, isolation):
    """Whether a server that wishes so may be put on the host."""
    if is_outside_zone(place, wish, zones):
        return False
    if isolation and unlicensed(place, wish):
        return False
    return demanded(wish) <= place.traits and not refused(wish) & place.traits
