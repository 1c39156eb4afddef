"""Resources that Tempest needs in a cloud in addition to those of `nova-lite up`."""

import dataclasses

from nova_lite.lab.launcher import client_connections

# devstack's flavors for Tempest: {id: (name, MiB of RAM)}
FLAVORS = {'42': ('m1.nano', 192), '84': ('m1.micro', 256)}
IMAGE, IMAGE_COPY = 'cirros', 'cirros-copy'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Resources:
    """Ids, and what the administrator's session says of the cloud.

    extensions: aliases of the network service
    auth: {option of clouds.yaml: value} of the administrator
    """

    image: str
    image_copy: str
    flavor: str
    flavor_alt: str
    public_network: str
    extensions: tuple
    auth: dict


def make(state_dir):
    """Make what is missing in the cloud of a state directory; return Resources."""
    cloud = client_connections.connect(f'{state_dir}/clouds.yaml')
    for flavor_id, (name, ram) in FLAVORS.items():
        if cloud.compute.find_flavor(flavor_id) is None:
            cloud.compute.create_flavor(id=flavor_id, name=name, ram=ram, disk=1, vcpus=1)
    extensions = tuple(sorted(each.alias for each in cloud.network.extensions()))
    image = cloud.image.find_image(IMAGE, ignore_missing=False)
    return Resources(
        image=image.id,
        image_copy=_copy(cloud, image).id,
        flavor='42',
        flavor_alt='84',
        public_network=cloud.network.find_network('public', ignore_missing=False).id,
        extensions=extensions,
        auth=cloud.config.config['auth'],
    )


def _copy(cloud, image):
    found = cloud.image.find_image(IMAGE_COPY)
    if found is None:
        found = cloud.image.create_image(
            name=IMAGE_COPY,
            data=cloud.image.download_image(image).content,
            disk_format=image.disk_format,
            container_format=image.container_format,
            visibility='public',
        )
    return found
