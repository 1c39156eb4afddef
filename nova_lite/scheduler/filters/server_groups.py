"""Filters of server groups. The soft policies are weighers."""

from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler.filters import base


class ServerGroupAntiAffinityFilter(base.Filter):
    """A host takes at most max_server_per_host members of an anti-affinity group.

    The current host of a moving member passes, because the member adds nothing there.
    """

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        group = request.group
        if group is None or group.policy != 'anti-affinity':
            return None

        def refuse(host: hosts.HostState) -> str | None:
            members = group.members_on[host.host]
            if host.host == request.current_host or members < group.max_per_host:
                return None
            return f'has {members} of group {group.uuid}, at most {group.max_per_host}'

        return refuse


class ServerGroupAffinityFilter(base.Filter):
    """A host is refused unless it has members of the affinity group, or no host has."""

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        group = request.group
        if group is None or group.policy != 'affinity':
            return None

        # The first member of a group may go to any host. Its host then decides for the rest of
        # the batch.
        def refuse(host: hosts.HostState) -> str | None:
            if group.members_on and not group.members_on[host.host]:
                return f'group {group.uuid} is on {", ".join(sorted(group.members_on))}'
            return None

        return refuse
