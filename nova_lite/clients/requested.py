"""Networks that a user requests: checks, and the meaning of errors.

Source: reference/nova/create-server 1.2 and 1.4.
"""

import typing

import requests

from nova_lite import exception
from nova_lite.clients import network_reads
from nova_lite.clients import resource_requests
from nova_lite.clients import responses
from nova_lite.clients import session
from nova_lite.objects import port_devices

# A request for networks; see `nova_lite.clients.network`.
Wanted: typing.TypeAlias = session.Jsons | typing.Literal['auto', 'none']
AUTO: typing.Final = 'auto'
NONE: typing.Final = 'none'
# The kind of port without requirements for its host.
NORMAL = 'normal'
ADDRESSLESS = ('deferred', 'none')
ADDRESS_IN_USE = {'IpAddressInUse', 'IpAddressAlreadyAllocated'}


class Requested:
    """Checks of requested networks, by the network service."""

    def __init__(self, network: network_reads.Reads) -> None:
        self.network = network
        self.service = network.service

    def validate(
        self,
        ctxt: session.Ctxt,
        wanted: Wanted | None,
        count: int = 1,
        *,
        may_attach_external: bool = False,
        project_id: str | None = None,
    ) -> tuple[Wanted, int]:
        """Check the networks and ports that a request names, in the user's name.

        wanted: None (the request has no networks), 'auto', 'none' or a list
        count:  number of servers that get the networks
        project_id: of the networks among which one is chosen; default: the user's
        Returns (wanted, count). A list replaces None and, if it can be decided now, 'auto'. The
        count is smaller if the quota of ports does not suffice. Ports of another kind than 'normal'
        get a 'vnic_type', those that are PCI devices a 'device', and ports that request resources a
        'resource_request'. Raises the errors that the API returns.
        """
        if wanted == NONE:
            return NONE, count
        if wanted is None or wanted == AUTO:
            project_id = project_id or ctxt.project_id
            wanted = self._choose(ctxt, project_id, automatic=wanted == AUTO)
        if isinstance(wanted, str):
            return wanted, count
        self._check_ports(ctxt, wanted)
        self._check_networks(ctxt, wanted, may_attach_external=may_attach_external)
        return wanted, self._within_quota(ctxt, wanted, count)

    def _choose(self, ctxt: session.Ctxt, project_id: str | None, *, automatic: bool) -> Wanted:
        """Return the one network that the project can use."""
        more = {'admin_state_up': True} if automatic else {}
        usable = self.network.list(
            ctxt, 'networks', as_user=True, tenant_id=project_id, shared=False, **more
        )
        usable += self.network.list(ctxt, 'networks', as_user=True, shared=True, **more)
        if automatic:
            usable = [network for network in usable if network['subnets']]
        if len(usable) > 1:
            raise exception.NetworkAmbiguous()
        if usable:
            return [{'network_id': usable[0]['id']}]
        if not automatic:
            return NONE
        self._topology(ctxt, project_id, as_user=True, fields='dry-run')
        return AUTO

    def _topology(
        self, ctxt: session.Ctxt, project_id: str | None, *, as_user: bool, **params: object
    ) -> str:
        refused = session.raising(exception.NetworkNotAllocatable, project_id=project_id)
        body = self.service.get(
            ctxt,
            f'/auto-allocated-topology/{project_id}',
            params=params,
            as_user=as_user,
            errors={400: refused, 404: refused, 409: refused},
        )
        network_id: str = body['auto_allocated_topology']['id']
        return network_id

    def resolve(
        self, ctxt: session.Ctxt, project_id: str | None, wanted: Wanted | None
    ) -> session.Jsons:
        """Return the list behind a validated request, for which 'auto' may need a new network."""
        if wanted == AUTO:
            return [{'network_id': self._topology(ctxt, project_id, as_user=False)}]
        return [] if wanted is None or isinstance(wanted, str) else wanted

    def _check_ports(self, ctxt: session.Ctxt, wanted: session.Jsons) -> None:
        for request in wanted:
            if not request.get('port_id'):
                continue
            port_id = request['port_id']
            try:
                port = self.network.get_port(ctxt, port_id, as_user=True)
            except exception.PortNotFound as error:
                raise exception.PortNotUsable(port_id=port_id, reason='not found') from error
            if port['device_id']:
                raise exception.PortInUse(port_id=port_id)
            if not port['fixed_ips'] and port.get('ip_allocation') not in ADDRESSLESS:
                raise exception.PortNotUsable(
                    port_id=port_id, reason='it requires a FixedIP in order to be used'
                )
            kind = port.get('binding:vnic_type', NORMAL)
            if kind != NORMAL:
                request['vnic_type'] = kind
        self._read_resource_requests(ctxt, wanted)
        self._describe_devices(ctxt, wanted)

    def _read_resource_requests(self, ctxt: session.Ctxt, wanted: session.Jsons) -> None:
        """Read the resource requests of ports with our own credentials: users do not see them."""
        requests = {each['port_id']: each for each in wanted if each.get('port_id')}
        if not requests:
            return
        fields = ['id', resource_requests.REQUEST]
        for port in self.network.list(ctxt, 'ports', id=list(requests), fields=fields):
            if port.get(resource_requests.REQUEST):
                requests[port['id']][resource_requests.REQUEST] = port[resource_requests.REQUEST]

    def _describe_devices(self, ctxt: session.Ctxt, wanted: session.Jsons) -> None:
        """Describe the devices of ports that are devices of their host.

        Users see neither profiles of bindings nor physical networks.
        """
        kinds = port_devices.TYPES
        requests = {each['port_id']: each for each in wanted if each.get('vnic_type') in kinds}
        if not requests:
            return
        ports = self.network.list(ctxt, 'ports', id=list(requests))
        ids = sorted({port['network_id'] for port in ports})
        networks = {each['id']: each for each in self.network.list(ctxt, 'networks', id=ids)}
        for port in ports:
            network = networks.get(port['network_id'], {})
            requests[port['id']][port_devices.KEY] = port_devices.described(port, network)

    def _check_networks(
        self, ctxt: session.Ctxt, wanted: session.Jsons, *, may_attach_external: bool
    ) -> None:
        ids = list(
            dict.fromkeys(request['network_id'] for request in wanted if not request.get('port_id'))
        )
        if not ids:
            return
        found = self.network.list(ctxt, 'networks', as_user=True, id=ids)
        networks = {network['id']: network for network in found}
        for network_id in ids:
            network = networks.get(network_id)
            if network is None:
                raise exception.NetworkNotUsable(network_id=network_id)
            if not network['subnets']:
                raise exception.NetworkRequiresSubnet(network_id=network_id)
            external = network.get('router:external') and not network['shared']
            if external and not may_attach_external:
                raise exception.ExternalNetworkForbidden(network_id=network_id)
        for request in wanted:
            if request.get('fixed_ip') and not request.get('port_id'):
                self._check_address(ctxt, request)

    def _check_address(self, ctxt: session.Ctxt, request: session.Json) -> None:
        """Check an address with our own credentials: it may be another project's."""
        if self.network.list(
            ctxt,
            'ports',
            network_id=request['network_id'],
            fixed_ips=f'ip_address={request["fixed_ip"]}',
            fields='id',
        ):
            raise exception.FixedIpInUse(address=request['fixed_ip'])

    def _within_quota(self, ctxt: session.Ctxt, wanted: session.Jsons, count: int) -> int:
        """Return `count`, or the smaller number of servers that the quota of ports allows."""
        each = sum(1 for request in wanted if not request.get('port_id'))
        if not each:
            return count
        response = self.service.call(
            ctxt, 'GET', f'/quotas/{ctxt.project_id}', as_user=True, errors={404: None}
        )
        limit = -1
        if response.status_code != 404:  # the service may have no quotas
            limit = response.json()['quota'].get('port', -1)
        if limit == -1:
            return count
        used = len(
            self.network.list(ctxt, 'ports', as_user=True, tenant_id=ctxt.project_id, fields='id')
        )
        if limit - used < each:
            raise exception.OverQuota(resource='ports', requested=each, used=used, limit=limit)
        return min(count, (limit - used) // each)


def port_error(response: requests.Response, request: session.Json) -> exception.NovaLiteError:
    """Return the error for a refusal of the service to create or change a port."""
    reason = responses.detail(response)
    kind = responses.error_type(response)
    network_id, port_id = request.get('network_id'), request.get('port_id')
    if kind in ADDRESS_IN_USE:
        return exception.FixedIpInUse(address=request.get('fixed_ip'))
    if kind == 'OverQuota':
        return exception.OverQuota(reason)
    if kind == 'IpAddressGenerationFailure':
        return exception.NoMoreFixedIps(network_id=network_id, reason=reason)
    if port_id is not None:
        if response.status_code == 412:
            return exception.PortInUse(port_id=port_id)
        return exception.PortNotUsable(port_id=port_id, reason=reason)
    if response.status_code == 404 and kind == 'NetworkNotFound':
        return exception.NetworkNotUsable(network_id=network_id)
    return exception.Invalid(reason=reason)
