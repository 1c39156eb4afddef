"""Security groups of servers: by name or id, on the ports of the server."""

from collections.abc import Iterable
import contextlib

from nova_lite import exception
from nova_lite.clients import group_names
from nova_lite.clients import network_reads
from nova_lite.clients import port_changes
from nova_lite.clients import session

DEFAULT = group_names.DEFAULT


class SecurityGroups:
    """Calls about security groups. names: GroupNames, for responses"""

    def __init__(self, network: network_reads.Reads) -> None:
        self.network = network
        self.names = group_names.GroupNames(network)

    def find(self, ctxt: session.Ctxt, name_or_id: str) -> session.Json:
        """Return the group with this id, or the group of the user's project with this name.

        Raise SecurityGroupNotFound, or NoUniqueMatch if two groups have the name.
        """
        fields = ['id', 'name']
        groups = self.network.list(
            ctxt, 'security-groups', as_user=True, id=name_or_id, fields=fields
        ) or self.network.list(
            ctxt, 'security-groups', as_user=True, tenant_id=ctxt.project_id, fields=fields
        )
        return self._choose(groups, name_or_id)

    @staticmethod
    def _choose(groups: session.Jsons, name_or_id: str) -> session.Json:
        for group in groups:
            if group['id'] == name_or_id:
                return group
        named = [group for group in groups if group['name'] == name_or_id]
        if len(named) > 1:
            raise exception.NoUniqueMatch(what='security groups', name=name_or_id)
        if not named:
            raise exception.SecurityGroupNotFound(group=name_or_id)
        return named[0]

    def validate(self, ctxt: session.Ctxt, names_or_ids: Iterable[str]) -> list[str]:
        """Check the groups that a user requests. Return their ids, each once.

        Raises SecurityGroupNotUsable for a group that does not exist, or NoUniqueMatch.
        """
        return self._resolve(ctxt, ctxt.project_id, names_or_ids, as_user=True)

    def ids(
        self, ctxt: session.Ctxt, project_id: str | None, names_or_ids: Iterable[str]
    ) -> list[str]:
        """Return the ids of a project's groups; [] when only the default group is meant."""
        return self._resolve(ctxt, project_id, names_or_ids, as_user=False)

    def _resolve(
        self,
        ctxt: session.Ctxt,
        project_id: str | None,
        names_or_ids: Iterable[str],
        *,
        as_user: bool,
    ) -> list[str]:
        if not set(names_or_ids) - {DEFAULT}:
            return []
        groups = self.network.list(
            ctxt, 'security-groups', as_user=as_user, tenant_id=project_id, fields=['id', 'name']
        )
        try:
            found = [self._choose(groups, name)['id'] for name in names_or_ids]
        except exception.SecurityGroupNotFound as error:
            raise exception.SecurityGroupNotUsable(
                group=error.kwargs['group'], reason='it does not exist'
            ) from error
        return list(dict.fromkeys(found))

    def of_server(self, ctxt: session.Ctxt, server_uuid: str) -> session.Jsons:
        """Return the groups on any port of the server, with their rules."""
        found, _of_ports = self.on_ports(ctxt, server_uuid)
        return found

    def on_ports(
        self, ctxt: session.Ctxt, server_uuid: str
    ) -> tuple[session.Jsons, dict[str, list[str]]]:
        """Return the groups on any port of the server, and {id of the port: ids of its groups}."""
        ports = self.network.ports(ctxt, server_uuid)
        ids = sorted(self._on_ports(ports))
        found = self.network.list(ctxt, 'security-groups', id=ids) if ids else []
        return found, {port['id']: port['security_groups'] for port in ports}

    @staticmethod
    def _on_ports(ports: session.Jsons) -> set[str]:
        return {group for port in ports for group in port['security_groups']}

    def add(self, ctxt: session.Ctxt, server_uuid: str, group: session.Json) -> None:
        """Put a group on every port of the server, up to the first that cannot have any.

        Raises ServerHasNoPorts, SecurityGroupCannotBeApplied, or SecurityGroupNotFound if it was
        deleted meanwhile.
        """
        ports = self.network.ports(ctxt, server_uuid)
        if not ports:
            raise exception.ServerHasNoPorts(instance_id=server_uuid)

        def with_group(port: session.Json) -> session.Json | None:
            groups = port['security_groups']
            if not _takes_groups(port):
                raise exception.SecurityGroupCannotBeApplied(port_id=port['id'])
            if group['id'] in groups:
                return None
            return {'security_groups': [*groups, group['id']]}

        self._change(ctxt, ports, group, with_group)

    def remove(self, ctxt: session.Ctxt, server_uuid: str, group: session.Json) -> None:
        """Take a group off every port of the server.

        Raises ServerHasNoPorts, or SecurityGroupNotOnServer.
        """
        ports = self.network.ports(ctxt, server_uuid)
        if not ports:
            raise exception.ServerHasNoPorts(instance_id=server_uuid)
        if group['id'] not in self._on_ports(ports):
            raise exception.SecurityGroupNotOnServer(group=group['name'], instance_id=server_uuid)

        def without_group(port: session.Json) -> session.Json | None:
            groups = port['security_groups']
            if group['id'] not in groups:
                return None
            return {'security_groups': [each for each in groups if each != group['id']]}

        self._change(ctxt, ports, group, without_group)

    def _change(
        self,
        ctxt: session.Ctxt,
        ports: session.Jsons,
        group: session.Json,
        values_of: port_changes.Change,
    ) -> None:
        no_group = session.raising(exception.SecurityGroupNotFound, group=group['name'])
        for port in ports:
            no_port = session.raising(exception.PortNotFound, port_id=port['id'])
            missing = session.ByType({'SecurityGroupNotFound': no_group}, no_port)
            # The port was deleted since.
            with contextlib.suppress(exception.PortNotFound):
                port_changes.change(
                    self.network.service, ctxt, port, values_of, errors={404: missing}
                )


def _takes_groups(port: session.Json) -> bool:
    """Return whether the network service lets the port have security groups."""
    addressed = port['fixed_ips'] or port.get('ip_allocation') == 'deferred'
    return bool(addressed) and port.get('port_security_enabled', True)
