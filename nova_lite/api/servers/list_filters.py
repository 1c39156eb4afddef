"""Filters of server lists: query parameters to conditions.

Each filter has two forms: a condition for the databases of cells, and a test for servers that are
still build requests.
Source: reference/nova/api-surface 7.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Sequence
import dataclasses
import datetime
import re
import typing

from oslo_utils import strutils
from oslo_utils import timeutils

from nova_lite import exception
from nova_lite import states
from nova_lite.api import request
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import addresses
from nova_lite.api.servers import list_schema
from nova_lite.db import patterns
from nova_lite.db import rows
from nova_lite.db.api import flavors
from nova_lite.db.cell import instance_lists

PAGING = frozenset(('limit', 'marker', 'sort_key', 'sort_dir'))
ALIASES = {
    'image': 'image_ref',
    'name': 'display_name',
    'description': 'display_description',
    'tenant_id': 'project_id',
}
EXACT = frozenset(('project_id', 'user_id', 'image_ref', 'vm_state', 'task_state', 'uuid', 'host'))
NUMBERS = frozenset(('launch_index', 'power_state', 'progress'))
MOMENTS = frozenset(('launched_at', 'terminated_at', 'created_at'))
SOFT_DELETED = str(states.VmState.SOFT_DELETED)
OFFLOADED = str(states.VmState.SHELVED_OFFLOADED)
# Query parameters: {name: [value, ...]}
Given: typing.TypeAlias = dict[str, list[str]]
Test: typing.TypeAlias = Callable[[rows.Row, Collection[str]], bool]
TAG_FILTERS = {
    'tags': {'every': True},
    'tags-any': {'every': False},
    'not-tags': {'every': True, 'negate': True},
    'not-tags-any': {'every': False, 'negate': True},
}


@dataclasses.dataclass(frozen=True)
class Filter:
    """One condition. sql: for the cells; test(row, tags): for build requests.

    pattern: a regular expression, which the database may not understand
    """

    sql: rows.Condition
    test: Test
    pattern: bool = False


class Nothing(Exception):
    """No server can fulfil the filters."""


@dataclasses.dataclass
class Criteria:
    """The criteria of a list request.

    project_id: None for all; filters: [Filter]; addresses: [(version, pattern)]
    plain: no filter was given, also none without effect, so partial results may be shown
    """

    project_id: str | None
    filters: list[Filter]
    addresses: list[tuple[int, str]]
    plain: bool
    matcher: patterns.Matcher = dataclasses.field(default_factory=patterns.Matcher)

    @property
    def conditions(self) -> list[rows.Condition]:
        return [each.sql for each in self.filters]

    def accepts(self, row: rows.Row, tags: Collection[str]) -> bool:
        """Return whether the server of a build request fulfils all filters."""
        return all(each.test(row, tags) for each in self.filters) and self.reachable(row)

    def reachable(self, row: rows.Row) -> bool:
        """Return whether an address matches the filter, if there is one."""
        return all(
            any(
                self.matcher.matches(pattern, address)
                for address in addresses.every(row.network_info, v)
            )
            for v, pattern in self.addresses
        )


def parse(req: request.Request, all_rule: str) -> Criteria:
    """Return the Criteria of a request. Raise Nothing, Invalid, Forbidden.

    all_rule: policy for servers of all projects
    """
    given = _permitted(req)
    everyone = _all_tenants(req, given, all_rule)
    plain = not given
    if not everyone:
        given.pop('tenant_id', None)
        given.pop('project_id', None)
    found = [*_life(req, given), *_changes(given)]
    if 'status' in given:
        found.append(_states(req, given.pop('status')))
    project_id = None if everyone else req.ctxt.project_id
    if project_id is not None:
        found.append(_equals('project_id', project_id))
    listed = _addresses(given)
    if 'flavor' in given:
        found.append(_flavor(req, given.pop('flavor')))
    if 'availability_zone' in given:
        found.append(_differs('vm_state', OFFLOADED))  # such a server is in no zone
    for name, values in given.items():
        found.append(_one(name, values))
    return Criteria(project_id, found, listed, plain)


def _permitted(req: request.Request) -> Given:
    """Return the filters of a query, without those that the caller may not use."""
    known = list_schema.names(req.minor) - PAGING
    given = {name: values for name, values in req.params.items() if name in known and values}
    if req.allows(rules.ALL_FILTERS):
        for name in req.params:
            if name.startswith('_') or name in list_schema.TABLES:
                raise exception.Invalid(f'Invalid filter field: {name}.')
        return given
    permitted = list_schema.allowed(req.minor)
    return {name: values for name, values in given.items() if name in permitted}


def _all_tenants(req: request.Request, given: Given, rule: str) -> bool:
    values = given.pop('all_tenants', None)
    if values is None:
        return False
    if not _boolean('all_tenants', values[-1] or '1'):
        return False
    req.authorize(rule)
    return True


def _is_deleted(values: Sequence[str]) -> bool:
    return strutils.bool_from_string(values[-1] or '1')


def _boolean(name: str, text: str) -> bool:
    try:
        return strutils.bool_from_string(text, strict=True)
    except ValueError as error:
        raise exception.Invalid(f'Invalid value for {name}: {error}') from error


def _life(req: request.Request, given: Given) -> list[Filter]:
    """Return the filter by deletion: neither deleted nor soft-deleted servers by default.

    If the query limits the time of changes and has no filter by deletion, all servers match.
    """
    deleted, soft_deleted = given.pop('deleted', None), given.pop('soft_deleted', None)
    wanted = deleted is not None and _is_deleted(deleted)
    if {text.lower() for text in given.get('status', ())} == {'deleted'}:
        if not req.ctxt.is_admin:
            raise exception.Forbidden('Only administrators may list deleted instances')
        wanted = True
    elif deleted is None and {'changes-since', 'changes-before'} & set(given):
        return []
    soft = wanted if soft_deleted is None else strutils.bool_from_string(soft_deleted[-1])
    found = _equals('deleted', wanted)
    if wanted and soft:
        return [_either(found, _equals('vm_state', SOFT_DELETED))]
    return [found] if wanted or soft else [found, _differs('vm_state', SOFT_DELETED)]


def _changes(given: Given) -> list[Filter]:
    since, before = (
        _moment(given.pop(name)) if name in given else None
        for name in ('changes-since', 'changes-before')
    )
    if since is None and before is None:
        return []
    if since is not None and before is not None and before < since:
        raise exception.Invalid(
            'The value of changes-since must be less than or equal to changes-before.'
        )

    def test(row: rows.Row, _tags: Collection[str]) -> bool:
        moment = (row.updated_at or row.created_at).replace(microsecond=0)
        return (since is None or moment >= since) and (before is None or moment <= before)

    return [Filter(instance_lists.changed(since, before), test)]


def _moment(values: Sequence[str]) -> datetime.datetime:
    try:
        return timeutils.normalize_time(timeutils.parse_isotime(values[-1]))
    except (ValueError, OverflowError) as error:
        raise exception.Invalid(f'Invalid time: {values[-1]}') from error


def _states(req: request.Request, statuses: Sequence[str]) -> Filter:
    pairs = []
    for status in statuses:
        for vm_state, tasks in states.states_of(status.upper()):
            without = () if tasks else tuple(states.STATUS[vm_state][1])
            pairs.append((str(vm_state), tuple(map(str, tasks)), tuple(map(str, without))))
    if not pairs:
        if req.minor >= 38:
            raise exception.Invalid(f'Invalid status value: {", ".join(statuses)}')
        raise Nothing()

    def test(row: rows.Row, _tags: Collection[str]) -> bool:
        return any(
            row.vm_state == vm_state
            and (row.task_state in tasks if tasks else row.task_state not in without)
            for vm_state, tasks, without in pairs
        )

    return Filter(instance_lists.in_states(tuple(pairs)), test)


def _addresses(given: Given) -> list[tuple[int, str]]:
    found = []
    for name, version in (('ip', 4), ('ip6', 6)):
        if name in given:
            found.append((version, given.pop(name)[-1]))
    return found


def _flavor(req: request.Request, values: Sequence[str]) -> Filter:
    """Return the filter by the id of a flavor that the caller may use.

    Records have the number of the flavor.
    """
    project_id = None if req.ctxt.is_admin else req.ctxt.project_id
    try:
        row = req.app.api_db.read(flavors.get, values[-1], project_id)
    except exception.FlavorNotFound:
        raise Nothing() from None
    return _equals('flavor_id', row.id)


def _one(name: str, values: list[str]) -> Filter:
    """Return the filter of a parameter that depends on no other one. Its last value counts."""
    if name in TAG_FILTERS:
        return _tagged(name, values[-1])
    if name in ('locked', 'auto_disk_config'):
        return _equals(name, _boolean(name, values[-1]))
    name = ALIASES.get(name, name)
    if name in NUMBERS:
        return _number(name, values[-1])
    if name in MOMENTS:
        return _second(name, _moment(values))
    if name == 'config_drive':
        return _config_drive(values[-1])
    if name in EXACT:
        return _equals(name, values[-1])
    return _matches(name, values[-1])


def _number(name: str, text: str) -> Filter:
    if not re.fullmatch(r'-?\d{1,9}', text):
        raise exception.Invalid(f'Invalid value for {name}: {text}')
    return _equals(name, int(text))


def _second(name: str, moment: datetime.datetime) -> Filter:
    """Return the filter for times within a second: the API shows no finer times."""
    start = moment.replace(microsecond=0)
    end = start + datetime.timedelta(seconds=1)

    def test(row: rows.Row, _tags: Collection[str]) -> bool:
        found = getattr(row, name)
        return found is not None and start <= found < end

    return Filter(instance_lists.between(name, start, end), test)


def _config_drive(text: str) -> Filter:
    if strutils.bool_from_string(text):
        return _equals('config_drive', 'True')
    return _equals('config_drive', ['', 'False'])


def _tagged(name: str, text: str) -> Filter:
    tags = text.split(',')
    options = TAG_FILTERS[name]
    every, negate = options['every'], options.get('negate', False)

    def test(_row: rows.Row, present: Collection[str]) -> bool:
        holds = all(t in present for t in tags) if every else any(t in present for t in tags)
        return holds is not negate

    return Filter(instance_lists.tagged(tags, every=every, negate=negate), test)


def _equals(name: str, value: object) -> Filter:
    def test(row: rows.Row, _tags: Collection[str]) -> bool:
        found = getattr(row, name)
        return found in value if isinstance(value, list) else found == value

    return Filter(instance_lists.equals(name, value), test)


def _differs(name: str, value: object) -> Filter:
    return Filter(
        instance_lists.differs(name, value), lambda row, _tags: getattr(row, name) != value
    )


def _either(one: Filter, other: Filter) -> Filter:
    return Filter(
        instance_lists.either(one.sql, other.sql),
        lambda row, tags: one.test(row, tags) or other.test(row, tags),
    )


def _matches(name: str, pattern: str) -> Filter:
    matcher = patterns.Matcher()

    def test(row: rows.Row, _tags: Collection[str]) -> bool:
        return matcher.matches(pattern, getattr(row, name) or '')

    return Filter(instance_lists.matches(name, pattern), test, pattern=True)
