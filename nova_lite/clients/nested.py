"""Nested resource providers: our providers below that of a compute node.

The uuid of such a provider depends on the node's uuid and the provider's name. So providers of
other services below the node, such as those of a real Neutron, are recognized and not changed.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import logging

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import providers
from nova_lite.clients import session

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Nested:
    """One nested provider.

    name: without the node's name; parent: name of an earlier one, or None
    separator: the character between the two names
    keeps_reserved: whether the reserved amounts in placement stay
    keeps_traits: whether the traits that operators add stay
    not_traits: traits that go although others stay
    """

    name: str
    inventories: providers.Inventories
    traits: frozenset[str] = frozenset()
    parent: str | None = None
    separator: str = ':'
    keeps_reserved: bool = False
    keeps_traits: bool = False
    not_traits: frozenset[str] = frozenset()

    def full_name(self, node: str) -> str:
        """Return the name of the provider below a node of this name."""
        return f'{node}{self.separator}{self.name}'


def keep(
    placement: providers.Providers,
    ctxt: session.Ctxt,
    node: providers.Provider,
    wanted: Sequence[Nested],
    known: Iterable[providers.Provider],
) -> None:
    """Create or update the nested providers of a node, and remove former ones.

    wanted: each parent before its children; known: the providers of the node's tree
    Inventories come last, as those of nodes do. A provider that would lose a resource class in use
    keeps its inventories.
    """
    kept = set()
    for each in wanted:
        uuid = _uuid_of(node, each.name)
        parent = node.uuid if each.parent is None else _uuid_of(node, each.parent)
        placement.ensure(ctxt, uuid, each.full_name(node.name), parent=parent)
        if each.keeps_traits:
            placement.change_traits(ctxt, uuid, add=each.traits, remove=each.not_traits)
        else:
            placement.set_traits(ctxt, uuid, each.traits)
        _set_inventories(placement, ctxt, uuid, each)
        kept.add(uuid)
    # A child's name is longer than its parent's.
    for former in sorted(known, key=lambda provider: len(provider.name), reverse=True):
        if former.uuid not in kept and _is_ours(node, former):
            _remove(placement, ctxt, former)


def _set_inventories(
    placement: providers.Providers, ctxt: session.Ctxt, uuid: str, wanted: Nested
) -> None:
    try:
        placement.set_inventories(
            ctxt, uuid, wanted.inventories, keep_reserved=wanted.keeps_reserved
        )
    except exception.ProviderConflict:
        raise
    except exception.Conflict as error:
        LOG.warning(
            'Cannot change the inventories of resource provider %s (%s): %s. The next start of '
            'its compute changes them.',
            wanted.name,
            uuid,
            error,
        )


def _uuid_of(node: providers.Provider, name: str) -> str:
    return runtime.uuid_of(node.uuid, name)


def _is_ours(node: providers.Provider, provider: providers.Provider) -> bool:
    # One character stands between the name of the node and that of the provider, see `separator`.
    own = provider.name.removeprefix(node.name)[1:]
    return provider.uuid == _uuid_of(node, own)


def _remove(placement: providers.Providers, ctxt: session.Ctxt, former: providers.Provider) -> None:
    try:
        placement.delete(ctxt, former.uuid)
    except exception.Conflict as error:
        LOG.warning(
            'Cannot remove resource provider %s (%s), which its host does not have any more: %s. '
            'The next start of its compute removes it.',
            former.name,
            former.uuid,
            error,
        )
