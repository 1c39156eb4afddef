"""The history of the API, and the version of a request.

`VERSIONS` is the only list: version document, negotiation and documentation are
made from it. Source: reference/nova/api-surface 1 and 4.
"""

from collections.abc import Mapping
import re
import typing

import microversion_parse

from nova_lite import exception

SERVICE = 'compute'
HEADER = 'OpenStack-API-Version'
LEGACY_HEADER = 'X-OpenStack-Nova-API-Version'
FORM = re.compile(r'([1-9]\d{0,99})\.([1-9]\d{0,99}|0)')

VERSIONS = (
    ('2.1', 'The first version: v2.0 with strict validation.'),
    ('2.2', 'Key pairs have a type; creating answers 201, deleting 204.'),
    ('2.3', 'More extended server attributes; delete_on_termination of volumes.'),
    ('2.4', 'Fixed IPs show whether they are reserved.'),
    ('2.5', 'Everyone may filter servers by ip6.'),
    ('2.6', 'One resource, remote-consoles, for every kind of console.'),
    ('2.7', 'Access to a public flavor cannot be added or removed.'),
    ('2.8', 'mks consoles.'),
    ('2.9', 'Servers show whether they are locked.'),
    ('2.10', 'Administrators manage key pairs of other users.'),
    ('2.11', 'Services can be forced down.'),
    ('2.12', 'Virtual interfaces show their network.'),
    ('2.13', 'Server groups show project and user.'),
    ('2.14', 'Evacuate detects shared storage itself and returns no password.'),
    ('2.15', 'Soft affinity and soft anti-affinity.'),
    ('2.16', 'Servers show the status of their host.'),
    ('2.17', 'Crash dumps can be triggered.'),
    ('2.18', 'URLs may omit the project.'),
    ('2.19', 'Servers have a description.'),
    ('2.20', 'Volumes attach to and detach from shelved servers.'),
    ('2.21', 'Actions of deleted servers can be read.'),
    ('2.22', 'A live migration can be forced to complete.'),
    ('2.23', 'Live migrations of a server can be listed and shown.'),
    ('2.24', 'A running live migration can be aborted.'),
    ('2.25', 'block_migration may be auto; no disk_over_commit.'),
    ('2.26', 'Servers have tags.'),
    ('2.27', 'The header OpenStack-API-Version.'),
    ('2.28', 'cpu_info of a hypervisor is an object.'),
    ('2.29', 'A host named for an evacuation is checked, unless forced.'),
    ('2.30', 'A host named for a live migration is checked, unless forced.'),
    ('2.31', 'Connection data can be read for tokens of all console types.'),
    ('2.32', 'Devices are tagged when a server is created.'),
    ('2.33', 'Hypervisors are listed in pages.'),
    ('2.34', 'Live migrations are checked after the response.'),
    ('2.35', 'Key pairs are listed in pages.'),
    ('2.36', 'The proxies for images, networks and volumes are removed.'),
    ('2.37', 'networks must be given; it may be auto or none.'),
    ('2.38', 'Filtering servers by an unknown status is an error.'),
    ('2.39', 'The proxy for image metadata is removed.'),
    ('2.40', 'Usage is listed in pages.'),
    ('2.41', 'Aggregates show their uuid.'),
    ('2.42', 'Device tags are accepted again.'),
    ('2.43', 'os-hosts is removed.'),
    ('2.44', 'The actions for fixed and floating IPs are removed.'),
    ('2.45', 'createImage and createBackup answer with the image id.'),
    ('2.46', 'The header X-OpenStack-Request-ID.'),
    ('2.47', 'Servers embed their flavor.'),
    ('2.48', 'Diagnostics have the same fields for all drivers.'),
    ('2.49', 'Devices are tagged when attached.'),
    ('2.50', 'Quota classes have server groups and no networks.'),
    ('2.51', 'Event volume-extended; all users see the events of actions.'),
    ('2.52', 'Servers are tagged when created.'),
    ('2.53', 'Services and hypervisors are identified by uuid.'),
    ('2.54', 'A rebuild may change the key pair.'),
    ('2.55', 'Flavors have a description.'),
    ('2.56', 'A cold migration may name the destination host.'),
    ('2.57', 'personality is removed; a rebuild may change user data.'),
    ('2.58', 'Actions are listed in pages.'),
    ('2.59', 'Migrations have a uuid and are listed in pages.'),
    ('2.60', 'Volumes attach to several servers.'),
    ('2.61', 'Flavors show their extra specs.'),
    ('2.62', 'Events of actions show the host.'),
    ('2.63', 'Trusted image certificates.'),
    ('2.64', 'Server groups have one policy, which may have rules.'),
    ('2.65', 'A queued or preparing live migration can be aborted.'),
    ('2.66', 'changes-before.'),
    ('2.67', 'Block devices have a volume type.'),
    ('2.68', 'Live migration and evacuation can no longer be forced.'),
    ('2.69', 'Servers of a cell that is down are shown with partial fields.'),
    ('2.70', 'Tags of attached devices are shown.'),
    ('2.71', 'Servers show their server groups.'),
    ('2.72', 'Servers may be created with ports that have a resource request.'),
    ('2.73', 'A lock has a reason; servers are filtered by locked.'),
    ('2.74', 'A create may name host and hypervisor_hostname.'),
    ('2.75', 'Unknown parameters are errors; all responses show all fields of a server.'),
    ('2.76', 'Event power-update.'),
    ('2.77', 'Unshelve may name a zone.'),
    ('2.78', 'The NUMA topology of a server can be shown.'),
    ('2.79', 'delete_on_termination may be set when a volume is attached.'),
    ('2.80', 'Migrations show and are filtered by user and project.'),
    ('2.81', 'Images are cached on the hosts of an aggregate.'),
    ('2.82', 'Event accelerator-request-bound.'),
    ('2.83', 'More filters for servers without being an administrator.'),
    ('2.84', 'Events of actions show details.'),
    ('2.85', 'A volume attachment can be updated.'),
    ('2.86', 'Known flavor extra specs are validated.'),
    ('2.87', 'Servers that boot from a volume can be rescued.'),
    ('2.88', 'Hypervisors no longer show resources, which placement has.'),
    ('2.89', 'Volume attachments show attachment_id and bdm_uuid instead of id.'),
    ('2.90', "A server's hostname can be chosen."),
    ('2.91', 'Unshelve may name a host, or unpin the availability zone.'),
    ('2.92', 'Key pairs can only be imported; their names may contain @ and dots.'),
    ('2.93', 'Servers that boot from a volume can be rebuilt.'),
    ('2.94', 'A hostname may be fully qualified.'),
    ('2.95', 'Evacuated servers stay stopped.'),
    ('2.96', 'Servers show the zone they are pinned to.'),
    ('2.97', 'Shares can be attached.'),
    ('2.98', 'Servers show the properties of their image.'),
    ('2.99', 'spice-direct consoles.'),
    ('2.100', 'Servers show their scheduler hints.'),
    ('2.101', 'Attaching a volume is asynchronous.'),
    ('2.102', 'Flavors are filtered by name; unknown parameters are errors everywhere.'),
    ('2.103', 'os-volumes_boot is removed.'),
    ('2.104', 'The zone a server is pinned to can be changed.'),
)


class Version(typing.NamedTuple):
    """A microversion; compares as numbers do."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f'{self.major}.{self.minor}'


class NotAcceptable(exception.NovaLiteError):
    """The API does not have the requested version. Answered with 406."""

    kind = 'not_acceptable'
    msg = (
        'Version %(version)s is not supported by the API. Minimum is %(minimum)s and '
        'maximum is %(maximum)s.'
    )


def parse(text: str) -> Version:
    """Return the Version that `text` (such as 2.90) names. Raise InvalidMicroversion."""
    found = FORM.fullmatch(text)
    if not found:
        raise exception.InvalidMicroversion(version=text)
    return Version(int(found[1]), int(found[2]))


MINIMUM = parse(VERSIONS[0][0])
MAXIMUM = parse(VERSIONS[-1][0])


def negotiate(headers: Mapping[str, str]) -> Version:
    """Return the version that a request names.

    headers: {name in lower case: value}
    Raise InvalidMicroversion for a text that is no version, NotAcceptable for a version out of
    range.
    """
    asked = microversion_parse.get_version(
        dict(headers), service_type=SERVICE, legacy_headers=[LEGACY_HEADER.lower()]
    )
    if asked is None:
        return MINIMUM
    if asked == 'latest':
        return MAXIMUM
    version = parse(asked)
    if not MINIMUM <= version <= MAXIMUM:
        raise NotAcceptable(version=version, minimum=MINIMUM, maximum=MAXIMUM)
    return version
