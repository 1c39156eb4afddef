"""Boots in worlds that hypothesis makes up end as a plain model of the rules says.

NOVA_LITE_TEST_EXAMPLES says how many worlds there are.
"""

import hypothesis
from hypothesis import strategies

from nova_lite import exception
from nova_lite.db.api import aggregates
from nova_lite.verify import allowed_hosts
from tests.fixtures import examples
from tests.unit.scheduler import base
from tests.unit.scheduler import cloud

SETTINGS = examples.settings(
    4,
    derandomize=False,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
HOSTS = ('a', 'b', 'c', 'd')
CELLS = (base.CELL1, base.CELL1, base.CELL2, base.CELL2)
# The last one is asked for in other words as well.
TRAITS = ('CUSTOM_V', 'CUSTOM_W', 'COMPUTE_SECURITY_UEFI_SECURE_BOOT')
SECURE = {'os:secure_boot': 'required'}
WORDS = ({}, {}, {}, SECURE, {'os:secure_boot': 'optional'})
ZONES = (None, 'az1', 'az1', 'az2', 'nova')

words = strategies.sampled_from(WORDS)
some_hosts = strategies.sets(strategies.sampled_from(HOSTS))
# Most hosts have them all, so that aggregates decide.
some_traits = strategies.sets(strategies.sampled_from(TRAITS)) | strategies.just(set(TRAITS))


def values(*choices):
    """Metadata `trait:NAME` = one of the choices, for some traits."""
    names = strategies.sampled_from([f'trait:{name}' for name in TRAITS])
    return strategies.dictionaries(names, strategies.sampled_from(choices), max_size=2)


@strategies.composite
def made_aggregates(draw):
    """[(metadata, hosts), ...]: one may be a zone, each may be isolated."""
    found = []
    for zone in draw(strategies.lists(strategies.sampled_from(ZONES), min_size=1, max_size=3)):
        metadata = draw(values('required', 'required', 'optional', 'forbidden'))
        if zone in ('az1', 'az2'):
            metadata[allowed_hosts.ZONE] = zone
        found.append((metadata, sorted(draw(some_hosts))))
    return found


@strategies.composite
def made_demands(draw):
    """Return what a server asks for, in one group or two."""
    flavor = draw(values('required', 'required', 'required', 'forbidden'))
    suffix = draw(strategies.sampled_from(('', '', '_1')))
    extra_specs = {
        key.replace('trait', 'trait' + suffix, 1) if value == 'required' else key: value
        for key, value in flavor.items()
    }
    if any(key.startswith('trait_1') for key in extra_specs):
        extra_specs['resources_1:VCPU'] = '1'  # placement wants resources in every group
    in_image = {key.replace(':', '_'): word for key, word in draw(words).items()}
    return allowed_hosts.Demand(
        {**extra_specs, **draw(words)},
        {**draw(values('required', 'required', 'forbidden', 'optional')), **in_image},
        draw(strategies.sampled_from(ZONES)),
    )


def forbidden(demand):
    """Traits that a flavor forbids. A host without PCPU may have threads of dedicated CPUs."""
    return {
        key.partition(':')[2]
        for key, value in demand.extra_specs.items()
        if key.startswith('trait') and value == 'forbidden'
    }


def contradicts(demand):
    """Return whether flavor and image say different words about secure boot."""
    said = demand.extra_specs.get('os:secure_boot'), demand.properties.get('os_secure_boot')
    return None not in said and len(set(said)) > 1


class RulesTest(cloud.ManagerTestCase):
    """The real placement and the real decision; only the rules are written twice."""

    def setUp(self):
        super().setUp()
        # All worlds together may take longer than hosts count as up without a heartbeat.
        self.conf.set_override('service_down_time', 3600)
        for name, cell in zip(HOSTS, CELLS, strict=True):
            self.add_host(name, cell, vcpus=64, memory_mb=65536, local_gb=640)
        self.made = []

    def make_world(self, traits, found):
        """Replace traits of hosts, and all aggregates."""
        for made, hosts in self.made:
            for host in hosts:
                self.api_db.write(aggregates.remove_host, made.id, host)
                uuid = base.uuid_of(host)
                self.providers.remove_from_aggregate(self.admin, uuid, made.uuid)
            self.api_db.write(aggregates.destroy, made.id)
        for host in HOSTS:
            self.providers.set_traits(self.admin, base.uuid_of(host), ['OWNER_NOVA', *traits[host]])
        self.made = [
            (self.add_aggregate(f'aggregate{index}', metadata, hosts), hosts)
            for index, (metadata, hosts) in enumerate(found)
        ]

    def permitted(self, traits, found, demand, *, isolation):
        """Names of the hosts that the model allows."""
        zones = {metadata.get(allowed_hosts.ZONE) for metadata, _hosts in found} - {None}
        places = [
            allowed_hosts.Place(
                name, [metadata for metadata, hosts in found if name in hosts], traits[name]
            )
            for name in HOSTS
        ]
        if contradicts(demand):
            return set()
        wanted, refused = allowed_hosts.demanded(demand), forbidden(demand)
        return {
            place.host
            for place in places
            if not allowed_hosts.is_outside_zone(place, demand, zones)
            and not (isolation and allowed_hosts.unlicensed(place, demand))
            and wanted <= place.traits
            and not refused & place.traits
        }

    def outcome(self, demand, host=None):
        """The host chosen, or None; what was claimed is given back."""
        spec = base.make_spec(demand.extra_specs, demand.properties, availability_zone=demand.zone)
        if host:
            spec.destination().host = host
        try:
            ((uuid, selections),) = self.decide(spec).items()
        except exception.NoValidHost:
            return None
        except exception.Invalid:
            self.assertTrue(contradicts(demand), demand)
            return None
        self.placement.delete_allocations(self.admin, uuid)
        return selections[0].service_host

    def check(self, isolation, traits, found, demands):
        self.set('scheduler', enable_isolated_aggregate_filtering=isolation)
        self.make_world(traits, found)
        self.scheduler.invalidate()
        for demand in demands:
            allowed = self.permitted(traits, found, demand, isolation=isolation)
            entered = {host for host in HOSTS if self.outcome(demand, host) == host}
            self.assertEqual(allowed, entered, (demand, traits, found))
            self.assertIn(self.outcome(demand), allowed or {None})

    def test_boots(self):
        @SETTINGS
        @hypothesis.given(
            isolation=strategies.sampled_from((*[True] * 5, False)),
            traits=strategies.fixed_dictionaries(dict.fromkeys(HOSTS, some_traits)),
            found=made_aggregates(),
            demands=strategies.lists(made_demands(), min_size=1, max_size=2),
        )
        @hypothesis.example(
            isolation=True,
            traits=dict.fromkeys(HOSTS, set(TRAITS)),
            found=[
                ({f'trait:{name}': 'required' for name in TRAITS}, ['a', 'c']),
                ({allowed_hosts.ZONE: 'az1'}, ['a', 'b']),
            ],
            demands=[
                allowed_hosts.Demand({}, {}, None),
                allowed_hosts.Demand({}, {'trait:CUSTOM_V': 'required'}, 'az1'),
                allowed_hosts.Demand(
                    {'trait:CUSTOM_W': 'required'}, {'trait:CUSTOM_V': 'required'}, None
                ),
                allowed_hosts.Demand(
                    {'trait:CUSTOM_W': 'required', **SECURE},
                    {'trait:CUSTOM_V': 'required'},
                    None,
                ),
            ],
        )
        def run(isolation, traits, found, demands):
            self.check(isolation, traits, found, demands)

        run()
