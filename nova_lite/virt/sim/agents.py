"""The network agent of a simulated host: its guarantees to ports.

Its providers in placement are named and arranged as those of Neutron's Open vSwitch agent:
the agent has the packet rate, the bridges below it have the bandwidth.
"""

from collections.abc import Iterator

from nova_lite.virt import model
from nova_lite.virt.sim import rules
from nova_lite.virt.sim import strict_yaml

AGENT = 'Open vSwitch agent'
VNIC_TYPE = 'CUSTOM_VNIC_TYPE_NORMAL'
PHYSICAL, TUNNELS, PACKET_RATE = 'physical_networks', 'tunnels', 'packet_rate'
# {key of a profile: resource class}
BANDWIDTH = {
    'egress_kbps': 'NET_BW_EGR_KILOBIT_PER_SEC',
    'ingress_kbps': 'NET_BW_IGR_KILOBIT_PER_SEC',
}
BOTH = 'any_kpps'
PACKET_RATES = {
    'egress_kpps': 'NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC',
    'ingress_kpps': 'NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC',
    BOTH: 'NET_PACKET_RATE_KILOPACKET_PER_SEC',
}
MOST = 2**31 - 1


def read(item: strict_yaml.Reader) -> model.Json:
    """Return {key: {resource class: amount}}; of physical networks {name: {class: amount}}."""
    item.mapping(optional=(PHYSICAL, TUNNELS, PACKET_RATE))
    found: model.Json = {}
    if item.has(PHYSICAL):
        found[PHYSICAL] = dict(_networks(item.at(PHYSICAL)))
    if item.has(TUNNELS):
        found[TUNNELS] = _amounts(item.at(TUNNELS), BANDWIDTH)
    if item.has(PACKET_RATE):
        rates = item.at(PACKET_RATE)
        found[PACKET_RATE] = _amounts(rates, PACKET_RATES)
        alone = BOTH not in rates.value or len(rates.value) == 1
        rates.expect(alone, f'{BOTH} cannot be given together with a direction')
    return found


def _networks(item: strict_yaml.Reader) -> Iterator[tuple[str, dict[str, int]]]:
    traits: dict[str, str] = {}
    for name, bandwidth in item.items():
        other = traits.setdefault(_trait_of(name), name)
        bandwidth.expect(other == name, f'{name} and {other} have the same trait')
        yield name, _amounts(bandwidth, BANDWIDTH)


def _amounts(item: strict_yaml.Reader, classes: dict[str, str]) -> dict[str, int]:
    item.mapping(optional=tuple(classes))
    return {classes[key]: value.integer(1, MOST) for key, value in item.items()}


def _trait_of(physical: str) -> str:
    letters = (letter if letter.isalnum() and letter.isascii() else '_' for letter in physical)
    return f'CUSTOM_PHYSNET_{"".join(letters).upper()}'


def nested_providers(behaviour: rules.Behaviour) -> tuple[model.NestedProvider, ...]:
    """Return the providers of a host that behaves so; none without an agent."""
    settings = behaviour.network_agent
    if not settings:
        return ()
    found = [model.NestedProvider(AGENT, (VNIC_TYPE,), settings.get(PACKET_RATE, {}))]
    for physical, totals in settings.get(PHYSICAL, {}).items():
        found.append(_bridge(f'br-{physical}', _trait_of(physical), totals))
    if TUNNELS in settings:
        found.append(_bridge('rp_tunnelled', 'CUSTOM_NETWORK_TUNNEL_PROVIDER', settings[TUNNELS]))
    return tuple(found)


def _bridge(name: str, trait: str, totals: dict[str, int]) -> model.NestedProvider:
    return model.NestedProvider(f'{AGENT}:{name}', (VNIC_TYPE, trait), totals, parent=AGENT)
