"""Sends requests for new servers to both clouds of tools.judge_answers.

The super-conductors are stopped meanwhile, so that accepted servers are recorded and not built.
They are deleted before the next request.
"""

from collections.abc import Sequence
import contextlib
import typing

import requests

from nova_lite import exception
from nova_lite import runtime
from tools.comparison import answer_cases
from tools.comparison import answer_cloud
from tools.comparison import answer_shapes
from tools.comparison import answer_table
from tools.comparison import answer_texts
from tools.comparison import creation_cases
from tools.comparison import creation_objects

# Servers that each user may have beside those that exist, so that counts meet the quota.
FREE = 8
LISTED = '/servers/detail?all_tenants=1'
# What a record has of the request.
RECORDED = (
    'name', 'description', 'config_drive', 'key_name', 'tags', 'metadata', 'accessIPv4', 'accessIPv6',
    'trusted_image_certificates', 'OS-DCF:diskConfig', 'OS-EXT-AZ:availability_zone',
    'OS-EXT-SRV-ATTR:hostname', 'OS-EXT-SRV-ATTR:launch_index', 'OS-EXT-SRV-ATTR:user_data', 'status',
    'OS-EXT-STS:task_state', 'locked',
)  # fmt: skip


class _Sent(typing.NamedTuple):
    """An answer with the message of a refusal, and what was recorded of accepted servers."""

    answer: answer_shapes.Answer
    message: str
    recorded: dict[str, object]


class Creations:
    """Judges creations. clouds: nova's and ours, with the objects of each"""

    def __init__(
        self,
        clouds: Sequence[answer_cloud.Cloud],
        objects: Sequence[creation_objects.Objects],
        table: answer_table.Table,
    ) -> None:
        self._table = table
        self._sides = [_Side(*side) for side in zip(clouds, objects, strict=True)]

    def judge(self, cases: Sequence[creation_cases.Creation], seconds: float | None = None) -> int:
        """Send the cases, for so many seconds at most. Return the number of those sent."""
        deadline = None if seconds is None else runtime.monotonic() + seconds
        with contextlib.ExitStack() as stack:
            for side in self._sides:
                stack.callback(side.cloud.freeze, False)
                side.cloud.freeze(True)
            pool = stack.enter_context(runtime.executor(len(self._sides)))
            for number, case in enumerate(cases):
                if deadline is not None and runtime.monotonic() > deadline:
                    return number
                try:
                    nova, ours = pool.map(_Side.send, self._sides, [case] * len(self._sides))
                except exception.NovaLiteError as error:
                    self._table.fail('create', f'{case}: {error}')
                    continue
                self._compare(case, nova, ours)
        return len(cases)

    def _compare(self, case: creation_cases.Creation, nova: _Sent, ours: _Sent) -> None:
        add, label = self._table.add, str(case)
        texts = [nova.answer, ours.answer]
        sides = [
            answer_texts.normal(sent.message) if sent.message else 'accepted'
            for sent in (nova, ours)
        ]
        refusals = f'POST /servers "{sides[0]}" / "{sides[1]}"'
        found = answer_shapes.of_answers(nova.answer, ours.answer)
        if nova.answer.status != ours.answer.status:
            add(label, refusals, found, texts=texts)
        elif not nova.answer.accepted:
            add(label, refusals, found, texts=texts)
            if not answer_texts.agree(nova.message, ours.message):
                add(label, refusals, [('subject', 'that', 'other')], texts=texts)
        else:
            add(label, 'POST /servers', found, texts=texts)
            differences = answer_shapes.differences(nova.recorded, ours.recorded)
            add(label, 'POST /servers', differences, prefix='recorded ')


class _Side:
    """One cloud with the objects of the cases."""

    def __init__(self, cloud: answer_cloud.Cloud, objects: creation_objects.Objects) -> None:
        self.cloud, self._objects = cloud, objects
        for caller in (cloud.owner, cloud.admin):
            used = len(caller.call('GET', '/servers')['servers'])
            quotas = {'instances': used + FREE, 'force': True}
            path = f'/os-quota-sets/{caller.project_id}'
            cloud.admin.call('PUT', path, {'quota_set': quotas})
        self._others = {server['id'] for server in self._servers()}

    def send(self, case: creation_cases.Creation) -> _Sent:
        """Send a case, and delete the servers that it makes."""
        body = self._objects.fill(case.body('judged'))
        caller = self.cloud.owner if case.user == answer_cases.OWNER else self.cloud.admin
        response = caller.send('POST', '/servers', body, case.minor)
        answer = answer_cloud.answer_of(response)
        if not answer.accepted:
            return _Sent(answer, answer_texts.message(response.text), {})
        return _Sent(answer, '', self._recorded())

    def _servers(self) -> list[answer_cloud.Body]:
        return list(self.cloud.admin.call('GET', LISTED)['servers'])

    def _recorded(self) -> dict[str, object]:
        """Return what the new servers have in common and their number. Delete them."""
        made = [server for server in self._servers() if server['id'] not in self._others]
        for server in made:
            _require_gone(self.cloud.admin.send('DELETE', f'/servers/{server["id"]}'))
        made.sort(key=lambda server: str(server['OS-EXT-SRV-ATTR:launch_index']))
        first = made[0] if made else {}
        return {'servers': len(made), **{name: first.get(name) for name in RECORDED}}


def _require_gone(response: requests.Response) -> None:
    if response.status_code not in (204, 404):
        raise exception.Conflict(reason=f'DELETE answered {response.status_code}')
