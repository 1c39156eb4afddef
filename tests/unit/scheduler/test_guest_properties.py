"""Each extra spec and image property of nova has an effect, or is listed as one without.

The list is doc/source/reference/guest-properties.yaml, of which the documents have a table.
"""

import fnmatch
import pathlib
import typing

import yaml

import nova_lite
from nova_lite import exception
from nova_lite.api import known_extra_specs
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import images
from nova_lite.scheduler import filters
from nova_lite.scheduler import query
from nova_lite.scheduler import request_filters
from tests.unit.scheduler import base

LISTED = pathlib.Path(nova_lite.__file__).parents[1] / 'doc/source/reference/guest-properties.yaml'
PLACED, CHECKED, HERE, NONE = 'placed', 'checked', 'here', 'none'
SPECS, PROPERTIES = 'extra_specs', 'image_properties'
FILTERS = (
    'ComputeCapabilitiesFilter',
    'ImagePropertiesFilter',
    'AggregateInstanceExtraSpecsFilter',
)
# Values that keys without an effect may have. Those that a key refuses are not tried.
VALUES = (
    '1', '2', 'true', 'no', 'foo', 'virtio', 'scsi', 'usb', 'disk', 'nec-xhci', 'reset', 'intel',
    'usbtablet', 'virtio-scsi', 'normal',
)  # fmt: skip
# Extra specs that nova documents, and refuses from microversion 2.86 on.
UNKNOWN_TO_NOVA = 'hw:maxphysaddr_bits', 'hw:maxphysaddr_mode'
# Names of patterns, as the list has them.
PATTERNS = (
    'hw:numa_cpus.1',
    'hw:numa_mem.1',
    'aggregate_instance_extra_specs:a',
    'capabilities:cpu_info:arch',
    'resources1:CUSTOM_A',
    'resources_a:VCPU',
    'trait1:CUSTOM_A',
    'trait:HW_CPU_X86_AVX',
)
INDEXED = 'hw_numa_cpus.0', 'hw_numa_mem.0'
REFUSED = 'refused'


class GuestPropertiesTest(base.SchedulerTestCase):
    def setUp(self):
        super().setUp()
        self.listed = yaml.safe_load(LISTED.read_text())
        self.set('scheduler', image_metadata_prefilter=True)
        self.host = base.make_host(cpu_info={'maxphysaddr': {'bits': 36}})
        self.rules = [filters.known()[name](self.conf) for name in FILTERS]

    def outcome(self, values) -> typing.Any:
        """Return what a flavor and an image ask of placement and hosts, or REFUSED.

        values: extra specs and image properties
        """
        keys = self.split(values)
        sizes = {'vcpus': 4, 'memory_mb': 1024}
        try:
            spec = base.make_spec(*keys, sizes=sizes)
            asked = constraints.Asked.of({**sizes, 'name': 'f', 'extra_specs': keys[0]}, keys[1])
            found = constraints.of(asked)
            request_filters.apply(spec, request_filters.Deployment(self.conf.scheduler))
            pairs = query.build(spec, limit=None, in_tree=None, pinned=True).pairs()
        except exception.Invalid:
            return REFUSED
        request = base.make_request(spec)
        rules = [each.rule(request) for each in self.rules]
        return found, pairs, [rule and rule(self.host) for rule in rules]

    def split(self, values):
        """Return (the extra specs, the image properties) of values of both."""
        specs = {name for name in values if self.fits(name, SPECS)}
        return [
            {name: value for name, value in values.items() if (name in specs) == wanted}
            for wanted in (True, False)
        ]

    def fits(self, name, kind):
        return [pattern for pattern in self.listed[kind] if fnmatch.fnmatchcase(name, pattern)]

    def test_all_are_listed_once(self):
        specs = {*known_extra_specs.EXACT, *UNKNOWN_TO_NOVA, *PATTERNS}
        for kind, known in ((SPECS, specs), (PROPERTIES, {*images.NAMES, *INDEXED})):
            for name in known:
                self.assertEqual(1, len(self.fits(name, kind)), name)
            for pattern in self.listed[kind]:
                self.assertTrue(fnmatch.filter(known, pattern), pattern)
        for pattern, _check in known_extra_specs.PATTERNS:
            self.assertTrue(any(map(pattern.fullmatch, PATTERNS)), pattern)

    def test_an_effect_is_one(self):
        for kind, found in self.listed.items():
            for name, entry in found.items():
                if entry == NONE or HERE in entry:
                    continue
                with self.subTest(kind=kind, name=name):
                    ((effect, own),) = ((k, v) for k, v in entry.items() if k != 'with')
                    others = entry.get('with', {})
                    self.assertTrue(any(fnmatch.fnmatchcase(each, name) for each in own))
                    self.assertEqual(
                        CHECKED if self.outcome({**others, **own}) == REFUSED else PLACED, effect
                    )
                    self.assertNotEqual(self.outcome(others), self.outcome({**others, **own}))

    def test_none_is_none(self):
        plain = self.outcome({})
        for kind, pattern in self.without_effect():
            for name in self.names(kind, pattern):
                found = [self.outcome({name: value}) for value in VALUES]
                with self.subTest(name=name):
                    self.assertIn(plain, found)
                    self.assertEqual([], [each for each in found if each not in (plain, REFUSED)])

    def without_effect(self):
        for kind, found in self.listed.items():
            yield from ((kind, name) for name, entry in found.items() if entry == NONE)

    def names(self, kind, pattern):
        known = known_extra_specs.EXACT if kind == SPECS else images.NAMES
        return fnmatch.filter(known, pattern)
