"""The network service: ports of servers, from the request to the last address.

A user's request is checked in the user's name. Ports are created and bound with our own
credentials, for the server's project. Source: reference/nova/create-server 1.4.

A requested network is {'network_id', 'fixed_ip', 'port_id', 'tag'}; absent keys mean None. A
request is a list of requested networks, 'auto' or 'none'. If a port requests resources, its network
has 'resource_request', and 'allocation' as soon as a host is chosen. If a port is a PCI device, its
network has 'device', and 'binding:profile' as soon as the host has chosen one.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from nova_lite import exception
from nova_lite.clients import auth
from nova_lite.clients import bindings
from nova_lite.clients import descriptions
from nova_lite.clients import items
from nova_lite.clients import network_reads
from nova_lite.clients import owned_ports
from nova_lite.clients import requested
from nova_lite.clients import resource_requests
from nova_lite.clients import security_groups
from nova_lite.clients import session
from nova_lite.clients import subject
from nova_lite.objects import port_devices

PORT_ERRORS = {400: None, 403: None, 404: None, 409: None, 412: None}
# The fields of a port that its release needs.
RELEASED = ['id', resource_requests.PROFILE]


class Network(network_reads.Reads):
    """The network service.

    bindings: calls about bindings of ports, for moves; security_groups: calls about their groups
    """

    def __init__(self, credentials: auth.Credentials) -> None:
        super().__init__(credentials)
        self._subnets = items.Items(
            self.service, '/subnets', missing=(exception.SubnetNotFound, 'subnet_id')
        )
        self.bindings = bindings.Bindings(self)
        self.security_groups = security_groups.SecurityGroups(self)
        self.requested = requested.Requested(self)
        self._descriptions = descriptions.Descriptions(credentials.conf, self)

    # ---- reading ------------------------------------------------------------

    def get_subnet(self, ctxt: session.Ctxt, subnet_id: str) -> session.Json:
        """Return one subnet. Raise SubnetNotFound."""
        subnet: session.Json = self._subnets.call(ctxt, 'GET', subnet_id).json()['subnet']
        return subnet

    def list_subnets(self, ctxt: session.Ctxt, **filters: typing.Any) -> session.Jsons:
        """Return the subnets that match the filters."""
        return self.list(ctxt, 'subnets', **filters)

    def has_resource_request(self, ctxt: session.Ctxt, server_uuid: str) -> bool:
        """Return whether a port of the server asks placement for resources (QoS)."""
        ports = self.list(ctxt, 'ports', device_id=server_uuid, fields='resource_request')
        return any(port.get('resource_request') for port in ports)

    def info(
        self, ctxt: session.Ctxt, server_uuid: str, known: Iterable[session.Json] = ()
    ) -> session.Jsons:
        """Return the current network_info of a server.

        known: the former network_info, whose order and decisions are kept
        """
        return self.infos(ctxt, {server_uuid: known})[server_uuid]

    def infos(
        self, ctxt: session.Ctxt, known: Mapping[str, Iterable[session.Json]]
    ) -> dict[str, session.Jsons]:
        """Return {server uuid: current network_info}. known: {server uuid: former network_info}"""
        return self._descriptions.of_servers(
            ctxt, known, self.list(ctxt, 'ports', device_id=list(known))
        )

    # ---- asking -------------------------------------------------------------

    def validate(
        self,
        ctxt: session.Ctxt,
        wanted: requested.Wanted | None,
        count: int = 1,
        **options: typing.Any,
    ) -> tuple[requested.Wanted, int]:
        """Check the networks and ports that a user requests; see Requested.validate."""
        return self.requested.validate(ctxt, wanted, count, **options)

    # ---- making -------------------------------------------------------------

    def allocate(
        self,
        ctxt: session.Ctxt,
        server: subject.Server,
        wanted: requested.Wanted | None,
        *,
        host: str,
        groups: Iterable[str] = (),
        again: bool = False,
    ) -> session.Jsons:
        """Create the ports of a server, bound to `host`. Return its network_info.

        server: an Owner; wanted: result of `validate`
        groups: names or ids of security groups; none means the project's default
        again:  an earlier attempt may have created ports, which are reused
        After an error no port stays. Raises PortInUse, FixedIpInUse, NoMoreFixedIps,
        PortBindingFailed, OverQuota and others.
        """
        wanted = self.requested.resolve(ctxt, server.project_id, wanted)
        if not wanted:
            return []
        groups = self.security_groups.ids(ctxt, server.project_id, groups)
        present = []
        if again:
            named = {request.get('port_id') for request in wanted}
            present = [port for port in self.ports(ctxt, server.uuid) if port['id'] not in named]
        plugged = []
        try:
            for request in wanted:
                port = self._plug(ctxt, server, request, host=host, groups=groups, present=present)
                known = {
                    'preserve_on_delete': bool(request.get('port_id')),
                    'tag': request.get('tag'),
                }
                plugged.append((port, known))
                bindings.require_bound(port, host)
            return self._descriptions.of(ctxt, plugged)
        except exception.NovaLiteError:
            self.release(
                ctxt,
                [_released(port, bool(known['preserve_on_delete'])) for port, known in plugged],
            )
            raise

    def attach(
        self,
        ctxt: session.Ctxt,
        server: subject.Server,
        request: session.Json,
        *,
        host: str,
        known: Collection[str],
    ) -> session.Json:
        """Add one port to a server, bound to `host`. Return its entry of network_info.

        known: ids of the server's ports before. A further port on the requested network was created
            by an earlier attempt whose reply was lost
        Raises the errors of `allocate`. After an error the server has only its former ports.
        """
        present = [port for port in self.ports(ctxt, server.uuid) if port['id'] not in known]
        port = self._plug(ctxt, server, request, host=host, groups=(), present=present)
        decided = {
            'preserve_on_delete': bool(request.get('port_id')),
            'tag': request.get('tag'),
        }
        try:
            bindings.require_bound(port, host)
            return self._descriptions.of(ctxt, [(port, decided)])[0]
        except exception.NovaLiteError:
            self.release(ctxt, [_released(port, bool(decided['preserve_on_delete']))])
            raise

    def undo_attach(
        self, ctxt: session.Ctxt, server_uuid: str, request: session.Json, *, known: Collection[str]
    ) -> None:
        """Undo `attach`, even if its reply was lost."""
        given = request.get('port_id')
        wanted = ('id', given) if given else ('network_id', request['network_id'])
        made = [
            _released(port, bool(given))
            for port in self.ports(ctxt, server_uuid)
            if port['id'] not in known and port[wanted[0]] == wanted[1]
        ]
        self.release(ctxt, made)

    def _plug(
        self,
        ctxt: session.Ctxt,
        server: subject.Server,
        request: session.Json,
        *,
        host: str,
        groups: Sequence[str],
        present: session.Jsons,
    ) -> session.Json:
        """Create the port of a requested network, or take over the user's port. Return the port."""
        body: session.Json = {
            'device_id': server.uuid,
            'device_owner': f'compute:{server.availability_zone or ""}',
            'binding:host_id': host,
        }
        # Neutron refuses other names. Nova lets the build fail then.
        is_dns_name = server.hostname and server.hostname.isascii()
        if is_dns_name and self.has_extension(ctxt, 'dns-integration'):
            body['dns_name'] = server.hostname
        if request.get('port_id'):
            return self._take_over(ctxt, server, request, body)
        for port in present:
            if port['network_id'] == request['network_id']:
                present.remove(port)
                return self._without_request(ctxt, self._update(ctxt, port['id'], body))
        body.update(
            network_id=request['network_id'], tenant_id=server.project_id, admin_state_up=True
        )
        if groups:
            body['security_groups'] = groups
        if request.get('fixed_ip'):
            body['fixed_ips'] = [{'ip_address': request['fixed_ip']}]
        response = self.service.call(
            ctxt, 'POST', '/ports', json={'port': body}, errors=PORT_ERRORS
        )
        if response.status_code >= 400:
            raise requested.port_error(response, request)
        return self._without_request(ctxt, response.json()['port'])

    def _without_request(self, ctxt: session.Ctxt, made: session.Json) -> session.Json:
        """Return a port made for a server. Delete it and raise if it requests resources."""
        if made.get(resource_requests.REQUEST):
            # The host was chosen without the resource request of the port.
            self.release(ctxt, [{'id': made['id'], 'preserve_on_delete': False}])
            raise exception.NetworksWithQoSPolicyNotSupported(network_id=made['network_id'])
        return made

    def _take_over(
        self, ctxt: session.Ctxt, server: subject.Server, request: session.Json, body: session.Json
    ) -> session.Json:
        """Assign a user's port to the server, unless another server was first."""
        port_id = request['port_id']
        port = self.get_port(ctxt, port_id)
        if port['device_id'] not in ('', server.uuid):
            raise exception.PortInUse(port_id=port_id)
        headers = {}
        if self.has_extension(ctxt, 'revision-if-match'):
            headers['If-Match'] = f'revision_number={port["revision_number"]}'
        found, device = request.get(resource_requests.ALLOCATION), request.get(port_devices.PROFILE)
        if found or device:
            profile = resource_requests.profile(port.get(resource_requests.PROFILE), found)
            body[resource_requests.PROFILE] = {**profile, **(device or {})}
        return self._update(ctxt, port_id, body, headers=headers)

    def _update(
        self,
        ctxt: session.Ctxt,
        port_id: str,
        body: session.Json,
        *,
        headers: session.Headers | None = None,
    ) -> session.Json:
        response = self.service.call(
            ctxt,
            'PUT',
            f'/ports/{port_id}',
            json={'port': body},
            headers=headers or {},
            errors=PORT_ERRORS,
        )
        if response.status_code >= 400:
            raise requested.port_error(response, {'port_id': port_id})
        port: session.Json = response.json()['port']
        return port

    def move(
        self,
        ctxt: session.Ctxt,
        server_uuid: str,
        network_info: Iterable[session.Json],
        host: str,
        *,
        allocations: bindings.Allocations = bindings.NO_ALLOCATIONS,
    ) -> None:
        """Bind a server's ports to another host at once, without a binding prepared for it.

        allocations: {port id: `allocation` of its binding} on the host
        Ports that no longer belong to the server are skipped, see `owned_ports`.
        """

        def move(vif: session.Json) -> None:
            body = _binding_of(vif, host, allocations.get(vif['id']))
            bindings.require_bound(self._update(ctxt, vif['id'], body), host)

        owned_ports.OwnedPorts(self, ctxt, server_uuid).each(network_info, move)

    def unbind(
        self, ctxt: session.Ctxt, server_uuid: str, network_info: Iterable[session.Json]
    ) -> None:
        """Unbind the ports of a server, which keeps them. Ports of other servers are skipped."""

        def unbind(vif: session.Json) -> None:
            body = {'port': _binding_of(vif, '', None)}
            self.service.call(ctxt, 'PUT', f'/ports/{vif["id"]}', json=body, errors={404: None})

        owned_ports.OwnedPorts(self, ctxt, server_uuid).each(network_info, unbind)

    # ---- giving back --------------------------------------------------------

    def held_by(self, ctxt: session.Ctxt, server_uuids: Sequence[str]) -> dict[str, session.Jsons]:
        """Return {server uuid: its ports, as `deallocate` takes them}."""
        found: dict[str, session.Jsons] = {uuid: [] for uuid in server_uuids}
        fields = [*RELEASED, 'device_id']
        for port in self.list(ctxt, 'ports', device_id=list(found), fields=fields):
            found.setdefault(port['device_id'], []).append(port)
        return found

    def deallocate(
        self,
        ctxt: session.Ctxt,
        server_uuid: str,
        network_info: Iterable[session.Fields] = (),
        *,
        ports: session.Jsons | None = None,
    ) -> None:
        """Take all ports from a server: delete those made for it, unplug the others.

        network_info: has which ports must be preserved
        ports: those of the server, if the caller has just read them with `held_by`
        """
        preserved = {vif['id'] for vif in network_info if vif['preserve_on_delete']}
        if ports is None:
            ports = self.held_by(ctxt, [server_uuid])[server_uuid]
        self.release(
            ctxt,
            [_released(port, port['id'] in preserved) for port in ports],
        )

    def release_from(
        self, ctxt: session.Ctxt, server_uuid: str, network_info: Iterable[session.Json]
    ) -> None:
        """Release the ports in network_info that belong to the server."""
        found = self.list(ctxt, 'ports', device_id=server_uuid, fields=RELEASED)
        own = {port['id']: port for port in found}
        self.release(
            ctxt,
            [
                _released(own[vif['id']], vif['preserve_on_delete'])
                for vif in network_info
                if vif['id'] in own
            ],
        )

    def release(self, ctxt: session.Ctxt, network_info: Iterable[session.Json]) -> None:
        """Release the ports in network_info. Deleted ports are no error.

        In the profile of a preserved port, the values of its owner stay.
        """
        for vif in network_info:
            path, profile = f'/ports/{vif["id"]}', vif.get(resource_requests.PROFILE)
            if vif['preserve_on_delete']:
                empty: session.Json = {
                    'device_id': '',
                    'device_owner': '',
                    'binding:host_id': None,
                    resource_requests.PROFILE: resource_requests.profile(profile, None),
                }
                self.service.call(ctxt, 'PUT', path, json={'port': empty}, errors={404: None})
            else:
                self.service.call(ctxt, 'DELETE', path, errors={404: None})


def _released(port: session.Json, preserve: bool) -> session.Json:
    """Return a port as `Network.release` takes it."""
    return {**{name: port.get(name) for name in RELEASED}, 'preserve_on_delete': preserve}


def _binding_of(
    vif: session.Json, host: str, allocation: resource_requests.Allocation | None
) -> session.Json:
    """Return the attributes that bind a port to a host, with a profile if that changes.

    The profile of a port that is a device is always sent: a host may have named the device since
    the entry was recorded.
    """
    former = vif.get('profile') or {}
    profile = resource_requests.profile(former, allocation)
    if allocation is None and profile == former and not vif.get(port_devices.KEY):
        return {'binding:host_id': host}
    return {'binding:host_id': host, resource_requests.PROFILE: profile}
