"""Rules of QoS policies: guarantees for ports, limits and marks.

The resource request of a port follows from the guarantees of its policy: `resource_requests`.
"""

from collections.abc import Iterable
import dataclasses
import typing

import falcon
import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import rbac_access
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

POLICIES = tables.qos_policies
# A rule with this direction is for both directions, and the only rule of its kind.
ANY = 'any'
DRIVER = 'openvswitch'


def visible(caller: callers.Caller) -> shapes.Condition:
    """Return the condition that the caller may use a policy."""
    return sa.or_(
        standard.own(caller, POLICIES), POLICIES.c.shared, rbac_access.granted(caller, POLICIES)
    )


get_policy = standard.getter(POLICIES, visible)


@dataclasses.dataclass(frozen=True)
class Kind:
    """One kind of rules.

    amount: the column that each rule must have; schema: of the values of that column
    burst: a further column that a rule may have
    directions: directions that a rule may have; empty: rules have no direction
    classes: {direction: resource class of the guarantee}
    """

    name: str
    table: sa.Table
    amount: str
    directions: tuple[str, ...] = ()
    schema: bodies.Schema = dataclasses.field(default_factory=lambda: bodies.COUNT)
    burst: str | None = None
    classes: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def _properties(self) -> dict[str, bodies.Schema]:
        """Return {attribute of a rule: its schema}."""
        properties = {self.amount: self.schema}
        if self.burst:
            properties[self.burst] = bodies.COUNT
        if self.directions:
            properties['direction'] = {'enum': list(self.directions)}
        return properties

    def view(self, row: database.Row) -> bodies.Json:
        """Return one rule, without the id of its policy, which its path names."""
        return {name: row[name] for name in ('id', *self._properties)}

    @property
    def parameters(self) -> list[bodies.Json]:
        """Return the parameters of this kind in the form of /v2.0/qos/rule-types."""
        return [
            {
                'parameter_name': name,
                'parameter_type': 'choices' if 'enum' in schema else 'range',
                'parameter_values': _values_of(schema),
            }
            for name, schema in self._properties.items()
        ]

    @property
    def resource(self) -> resources.Resource:
        """Return the resource for rules of this kind in one policy."""
        name = f'{self.name}_rule'
        properties = self._properties
        return resources.Resource(
            name=name,
            style=dataclasses.replace(
                standard.STYLE, collection=standard.whole, narrowed=resources.as_it_is
            ),
            permit=resources.admins('QoS rule', actions=resources.CHANGES),
            listed=self._listed,
            get=self._get,
            views=resources.each(self.view),
            create=(self._create, bodies.wrapped(name, properties, [self.amount])),
            update=(self._update, bodies.wrapped(name, properties)),
            delete=self._delete,
        )

    def _listed(self, conn: sa.Connection, req: web.Request, policy_id: str) -> list[database.Row]:
        get_policy(conn, req.context.caller, policy_id)
        return database.find_all(conn, self.table, qos_policy_id=policy_id, order=['id'])

    def _get(
        self, conn: sa.Connection, caller: callers.Caller, policy_id: str, rule_id: str
    ) -> database.Row:
        get_policy(conn, caller, policy_id)
        row = database.find(conn, self.table, id=rule_id, qos_policy_id=policy_id)
        if row is None:
            raise faults.NotFound(
                f'QoS rule {rule_id[:64]} for policy {policy_id[:64]} could not be found.',
                'QosRuleNotFound',
            )
        return row

    def _create(
        self, conn: sa.Connection, caller: callers.Caller, policy_id: str, wanted: bodies.Json
    ) -> database.Row:
        """Add a rule to a policy. Raise Conflict for a second rule of the same direction."""
        get_policy(conn, caller, policy_id)
        self._require_changeable(conn, policy_id)
        row = database.insert(conn, self.table, qos_policy_id=policy_id, **wanted)
        self._require_one_per_direction(conn, row)
        return row

    def _update(
        self,
        conn: sa.Connection,
        caller: callers.Caller,
        policy_id: str,
        rule_id: str,
        *,
        wanted: bodies.Json,
    ) -> database.Row:
        row = self._get(conn, caller, policy_id, rule_id)
        if not wanted:
            return row
        self._require_changeable(conn, policy_id)
        changed = database.save(conn, self.table, row, **wanted)
        self._require_one_per_direction(conn, changed)
        return changed

    def _delete(
        self, conn: sa.Connection, caller: callers.Caller, policy_id: str, rule_id: str
    ) -> None:
        self._get(conn, caller, policy_id, rule_id)
        self._require_changeable(conn, policy_id)
        database.delete(conn, self.table, id=rule_id)

    def _require_changeable(self, conn: sa.Connection, policy_id: str) -> None:
        if self.classes:
            _require_unused(conn, policy_id)

    def _require_one_per_direction(self, conn: sa.Connection, row: database.Row) -> None:
        others = database.find_all(
            conn, self.table, self.table.c.id != row['id'], qos_policy_id=row['qos_policy_id']
        )
        directions = {other.get('direction', ANY) for other in others}
        own = row.get('direction', ANY)
        both = directions and ANY in (own, *directions)
        if both or own in directions:
            raise faults.Conflict('The policy has a rule for this direction.', 'QoSRulesConflict')


def _values_of(schema: bodies.Schema) -> dict[str, int] | list[str]:
    """Return the values that a schema allows: a list, or the bounds of a range."""
    if 'enum' in schema:
        return list(schema['enum'])
    return {'start': schema['minimum'], 'end': schema['maximum']}


def _guarantee(name: str, table: sa.Table, amount: str, classes: dict[str, str]) -> Kind:
    return Kind(name, table, amount, tuple(classes), classes=classes)


WAYS = ('egress', 'ingress')
BANDWIDTH = _guarantee(
    'minimum_bandwidth',
    tables.bandwidth_rules,
    'min_kbps',
    {'egress': 'NET_BW_EGR_KILOBIT_PER_SEC', 'ingress': 'NET_BW_IGR_KILOBIT_PER_SEC'},
)
PACKET_RATE = _guarantee(
    'minimum_packet_rate',
    tables.packet_rate_rules,
    'min_kpps',
    {
        'egress': 'NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC',
        'ingress': 'NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC',
        ANY: 'NET_PACKET_RATE_KILOPACKET_PER_SEC',
    },
)
GUARANTEES = (BANDWIDTH, PACKET_RATE)
MARKS = (0, *range(8, 41, 2), 44, 46, 48, 56)
KINDS = (
    *GUARANTEES,
    Kind('bandwidth_limit', tables.bandwidth_limits, 'max_kbps', WAYS, burst='max_burst_kbps'),
    Kind(
        'packet_rate_limit',
        tables.packet_rate_limits,
        'max_kpps',
        (*WAYS, ANY),
        burst='max_burst_kpps',
    ),
    Kind('dscp_marking', tables.dscp_marks, 'dscp_mark', schema={'type': 'integer', 'enum': MARKS}),
)


class RuleTypes:
    """Answers requests for the kinds of rules. All are offered by one driver."""

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        resp.media = {'rule_types': [{'type': kind.name} for kind in KINDS]}

    def on_get_one(self, req: web.Request, resp: falcon.Response, name: str) -> None:
        if not req.context.caller.is_admin:
            raise faults.Forbidden(callers.NOT_ALLOWED, 'NotAuthorized')
        kind = next((kind for kind in KINDS if kind.name == name), None)
        if kind is None:
            raise faults.BadRequest(f'There is no QoS rule type {name[:64]}.')
        driver = {'name': DRIVER, 'supported_parameters': kind.parameters}
        resp.media = {'rule_type': {'type': name, 'drivers': [driver]}}


# The kind of a rule, and its row.
Rule: typing.TypeAlias = tuple[Kind, database.Row]


def of_policies(
    conn: sa.Connection, policy_ids: Iterable[str], kinds: tuple[Kind, ...] = KINDS
) -> dict[str, list[Rule]]:
    """Return {policy id: its rules}."""
    found: dict[str, list[Rule]] = {policy_id: [] for policy_id in policy_ids}
    for kind in kinds:
        rules = database.grouped(conn, kind.table.c.qos_policy_id, list(found), 'id')
        for policy_id, rows in rules.items():
            found[policy_id].extend((kind, row) for row in rows)
    return found


def _require_unused(conn: sa.Connection, policy_id: str) -> None:
    """Raise Conflict while a host has a port with the policy: its allocation would not follow."""
    ports, bindings = tables.ports, tables.bindings
    bound = sa.exists().where(bindings.c.port_id == ports.c.id, bindings.c.host != '')
    of_servers = ports.c.device_owner.startswith('compute:')
    if database.exists(conn, ports, bound, of_servers, qos_policy_id=policy_id):
        raise faults.Conflict(
            f'QoS Policy {policy_id} is used by ports of servers. Its guarantees cannot be changed.',
            'QosPolicyInUse',
        )
