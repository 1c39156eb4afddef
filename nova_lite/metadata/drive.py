"""The files of a config drive.

A packed drive is plain JSON that keeps equal contents once: {'contents': [base64 text, ...],
'files': {path: index of its content}}. Each version of the documents has a directory.
"""

import base64
from collections.abc import Iterable
from collections.abc import Mapping
import json

from nova_lite.metadata import document_versions
from nova_lite.metadata import ec2
from nova_lite.metadata import instance_metadata
from nova_lite.metadata import openstack
from nova_lite.objects import base

CONTENT = 'content'


def files(
    facts: instance_metadata.Facts,
    *,
    admin_pass: str | None = None,
    injected: Iterable[tuple[str, bytes]] = (),
) -> dict[str, bytes]:
    """Return {path: content} of the drive.

    injected: [(path in the guest, content)] of personality
    """
    contents = {f'{CONTENT}/{index:04}': each for index, each in enumerate(injected)}
    found = {f'openstack/{path}': content for path, (_target, content) in contents.items()}
    extra: base.Data = {}
    if contents:
        extra['files'] = [
            {'path': target, 'content_path': f'/{path}'}
            for path, (target, _content) in contents.items()
        ]
    if admin_pass is not None:
        extra['admin_pass'] = admin_pass
    for version in openstack.VERSIONS:
        for name, content in openstack.documents(facts, version, extra).items():
            found[f'openstack/{version}/{name}'] = content
            if version == openstack.VERSIONS[-1]:
                found[f'openstack/{document_versions.LATEST}/{name}'] = content
    for version in (ec2.VERSIONS[-1], document_versions.LATEST):
        meta_data = ec2.meta_data(facts, ec2.VERSIONS[-1])
        found[f'ec2/{version}/meta-data.json'] = json.dumps(meta_data).encode()
        if facts.user_data is not None:
            found[f'ec2/{version}/user-data'] = facts.user_data
    return found


def pack(found: Mapping[str, bytes]) -> base.Data:
    """Return {path: content} as a packed drive."""
    contents = list(dict.fromkeys(found.values()))
    index = {content: number for number, content in enumerate(contents)}
    return {
        'contents': [base64.b64encode(content).decode() for content in contents],
        'files': {path: index[content] for path, content in found.items()},
    }


def unpack(packed: base.Data) -> dict[str, bytes]:
    """Return {path: content} of a packed drive."""
    contents = [base64.b64decode(text) for text in packed['contents']]
    return {path: contents[index] for path, index in packed['files'].items()}
