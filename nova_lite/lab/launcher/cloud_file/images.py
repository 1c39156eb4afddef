"""Images, whose disks are empty."""

import typing

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.simcloud.image import qcow2

Json: typing.TypeAlias = dict[str, typing.Any]
GIB = 2**30
FORMATS = {'disk_format': 'qcow2', 'container_format': 'bare'}
# Names in an answer that are not properties of the image.
STANDARD = frozenset(
    (
        *FORMATS, 'name', 'visibility', 'protected', 'os_hidden', 'owner', 'min_disk', 'min_ram',
        'tags', 'id', 'status', 'size', 'virtual_size', 'checksum', 'os_hash_value', 'os_hash_algo',
        'created_at', 'updated_at', 'file', 'self', 'schema', 'locations', 'direct_url', 'stores',
    )
)  # fmt: skip


def create(api: apis.Api, entry: Json) -> None:
    """Create an image and upload an empty disk. Raise Refused."""
    wanted = {
        **entry.get('properties', {}),
        **FORMATS,
        **{name: entry[name] for name in ('min_disk', 'min_ram', 'tags') if name in entry},
        'name': entry['name'],
        'visibility': entry.get('visibility', 'public'),
        'owner': api.project_id(entry.get('project', 'admin')),
    }
    image = api.call('image', 'POST', '/v2/images', wanted)
    path = f'/v2/images/{image["id"]}'
    api.call(
        'image',
        'PUT',
        f'{path}/file',
        data=qcow2.empty_disk(round(entry.get('disk_gb', 1) * GIB)),
        headers={'Content-Type': 'application/octet-stream'},
    )
    if entry.get('protected'):
        change = [{'op': 'replace', 'path': '/protected', 'value': True}]
        kind = 'application/openstack-images-v2.1-json-patch'
        api.call('image', 'PATCH', path, json=change, headers={'Content-Type': kind})


def delete(api: apis.Api, name: str) -> None:
    """Delete an image. Raise Refused."""
    api.call('image', 'DELETE', f'/v2/images/{api.id_of("image", "/v2/images", "images", name)}')


def read(api: apis.Api, projects: dict[str, str]) -> tuple[list[Json], list[str]]:
    """Return (entries of images, notes on images that no file can have). projects: {id: name}"""
    found, notes = [], []
    for image in api.list('image', '/v2/images', 'images'):
        is_usual = all(image[name] == value for name, value in FORMATS.items())
        if image['status'] != 'active' or not is_usual or not image['name']:
            notes.append(f'image {image["name"] or image["id"]}')
            continue
        entry = {'name': image['name'], 'disk_gb': gib(image['virtual_size'] or image['size'])}
        project = projects.get(image['owner'], 'admin')
        more = {
            'project': None if project == 'admin' else project,
            'visibility': None if image['visibility'] == 'public' else image['visibility'],
            'properties': {k: v for k, v in image.items() if k not in STANDARD},
            **{name: image[name] for name in ('min_disk', 'min_ram', 'protected', 'tags')},
        }
        found.append(entry | {name: value for name, value in more.items() if value})
    return sorted(found, key=lambda entry: str(entry['name'])), notes


def gib(size: int) -> float | int:
    """Return a size in bytes as the number of GiB."""
    found = size / GIB
    return int(found) if found == int(found) else found
