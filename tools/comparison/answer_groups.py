"""Moves of members of server groups to named hosts: how they end in a cloud.

Two members of a group are made, as its policy permits, on one host or on two. Then one of them is
moved, to the host of the other member, to an empty host or to a host that the scheduler chooses.
"""

from collections.abc import Iterator
import dataclasses
import typing

from tools.comparison import answer_cloud

# {policy: whether its members may begin on one host, on two}
POLICIES = {
    'affinity': (True,),
    'anti-affinity': (False,),
    'soft-affinity': (True, False),
    'soft-anti-affinity': (True, False),
}
CREATE, UNSHELVE, EVACUATE = 'create', 'unshelve', 'evacuate'
# The host of evacuated members stays down: it cannot be declared up again without a restart.
MOVES = (CREATE, 'migrate', 'os-migrateLive', EVACUATE, UNSHELVE, 'rebuild')
# The host of the other member, an empty one, the one that the member is on; none named.
WITH, EMPTY, SAME, NONE = 'with', 'empty', 'same', 'none'
TARGETS = (WITH, EMPTY, SAME, NONE)
_FIRST, _SECOND, _THIRD = ('cell1-host1', 'cell1-host2', 'cell1-host3')


@dataclasses.dataclass(frozen=True)
class GroupCase:
    """A move. together: whether the members begin on one host"""

    policy: str
    together: bool
    move: str
    target: str

    def __str__(self) -> str:
        began = 'together' if self.together else 'apart'
        return f'{self.policy} {began} {self.move} to {self.target}'

    @property
    def loses_host(self) -> bool:
        """Return whether the host of the member has to be down."""
        return self.move == EVACUATE

    @property
    def home(self) -> str:
        """The host of the member that is moved."""
        return _FIRST if self.together else _SECOND

    @property
    def host(self) -> str | None:
        """The host that is named."""
        return {WITH: _FIRST, EMPTY: _THIRD, SAME: self.home, NONE: None}[self.target]


def every() -> list[GroupCase]:
    """Return all cases."""
    return list(_every())


def _every() -> Iterator[GroupCase]:
    for policy, beginnings in POLICIES.items():
        for together in beginnings:
            for move in MOVES:
                for target in TARGETS:
                    named = target != NONE
                    if (move == 'rebuild' and named) or (move == CREATE and target == SAME):
                        continue
                    if not (together and target == SAME):
                        yield GroupCase(policy, together, move, target)


class Group(typing.NamedTuple):
    """A server group of a cloud with its members, of which the last is moved."""

    cloud: answer_cloud.Cloud
    id: str
    members: list[str]


def prepare(cloud: answer_cloud.Cloud, case: GroupCase) -> Group:
    """Create the group of a case and its members. Raise Conflict if that fails."""
    body = {'server_group': {'name': 'judged', 'policy': case.policy}}
    made = cloud.admin.call('POST', '/os-server-groups', body)['server_group']
    group = Group(cloud, made['id'], [])
    for host in (_FIRST, case.home):
        group.members.append(cloud.create_in(group.id, host))
        cloud.wait(group.members[-1], 'ACTIVE')
    if case.move == UNSHELVE:
        for action, status in (('shelve', 'SHELVED'), ('shelveOffload', 'SHELVED_OFFLOADED')):
            cloud.admin.call('POST', f'/servers/{group.members[-1]}/action', {action: None})
            cloud.wait(group.members[-1], status)
    return group


def clean(group: Group) -> None:
    """Delete a group and its members."""
    for uuid in group.members:
        group.cloud.discard(uuid)
    group.cloud.admin.send('DELETE', f'/os-server-groups/{group.id}')


def play(group: Group, case: GroupCase) -> dict[str, object]:
    """Move the last member, or create one; return the status of the answer and the end."""
    if case.move != CREATE:
        return _acted(group.cloud, case, group.members)
    response = group.cloud.request_in(group.id, case.host)
    if response.status_code < 400:
        group.members.append(response.json()['server']['id'])
    return _outcome(group.cloud, response.status_code, group.members)


def _acted(cloud: answer_cloud.Cloud, case: GroupCase, members: list[str]) -> dict[str, object]:
    content: dict[str, object] | None = {'host': case.host} if case.host else {}
    if case.move == 'os-migrateLive':
        content = {'host': case.host, 'block_migration': 'auto'}
    elif case.move == 'rebuild':
        content = {'imageRef': cloud.image}
    elif not content and case.move != EVACUATE:
        content = None
    path = f'/servers/{members[-1]}/action'
    response = cloud.admin.send('POST', path, {case.move: content})
    return _outcome(cloud, response.status_code, members)


def _outcome(cloud: answer_cloud.Cloud, status: int, members: list[str]) -> dict[str, object]:
    end = cloud.end(members[-1])
    hosts = [(cloud.show(uuid) or {}).get(answer_cloud.HOST) for uuid in (members[0], members[-1])]
    return {
        'answer': status,
        'status': end['status'],
        'migration': end['migration'],
        'action': end['action'],
        'message': end['message'],
        'hosts': 'one' if hosts[0] == hosts[1] else 'none' if hosts[1] is None else 'two',
    }
