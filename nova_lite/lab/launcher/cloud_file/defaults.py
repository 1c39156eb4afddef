"""Names of the objects that every new cloud has."""

from nova_lite.lab.launcher import first_flavors as flavors
from nova_lite.simcloud import seed
from nova_lite.simcloud.volume import volume_types

# {section of a file: names}
NAMES = {
    'projects': frozenset(seed.PROJECTS),
    'users': frozenset(seed.USERS),
    'flavors': frozenset(name for _id, name, *_sizes in flavors.FLAVORS),
    'images': frozenset(seed.IMAGES),
    'networks': frozenset(('public', 'private')),
    'volume_types': frozenset((volume_types.DEFAULT_NAME, 'multiattach')),
}
# The objects that are not created with `defaults: false`.
OPTIONAL = ('flavors', 'images', 'networks')
ROUTER = 'router1'
