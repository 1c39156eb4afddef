"""Registration of a fleet: the providers of many compute nodes are created at once."""

import collections
from collections.abc import Collection
from collections.abc import Iterable
import dataclasses
import logging
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import nested
from nova_lite.clients import providers
from nova_lite.clients import session

LOG = logging.getLogger(__name__)

# Providers by their uuids, and trees of them by the uuids of their roots.
Tree: typing.TypeAlias = dict[str, providers.Provider]
Trees: typing.TypeAlias = dict[str | None, Tree]
Generations: typing.TypeAlias = dict[str, int]

# A list of so many providers costs placement as much as a request for one provider.
LISTED_AT_ONCE = 50


@dataclasses.dataclass(frozen=True)
class Node:
    """The data of a compute node for placement.

    inventories, keep_ratios: see Providers.set_inventories
    traits:     traits of the node; traits set by others are kept
    not_traits: traits of ours that the node does not have
    children:   providers below the node's, each parent before its children
    """

    uuid: str
    name: str
    inventories: providers.Inventories
    traits: frozenset[str] = frozenset()
    not_traits: frozenset[str] = frozenset()
    keep_ratios: frozenset[str] = frozenset()
    children: tuple[nested.Nested, ...] = ()


class Registration:
    """Registers nodes, a limited number of them at the same time."""

    def __init__(self, registered: providers.Providers, *, threads: int) -> None:
        self.providers = registered
        self.threads = threads
        # {node uuid: Node} as they were last registered.
        self._nested: dict[str, tuple[nested.Nested, ...]] = {}
        # {node uuid: generations of the providers of its tree} as they were last read.
        self._generations: dict[str, Generations] = {}
        # The number of providers that placement listed last.
        self._listed = 0

    def register(
        self, ctxt: session.Ctxt, nodes: Iterable[Node]
    ) -> dict[str, exception.NovaLiteError]:
        """Create or update the providers of `nodes`.

        Returns {node uuid: error} of failures; the other nodes are registered.
        """
        waiting = collections.deque(nodes)
        total = len(waiting)
        known = self._known(ctxt, waiting)
        done, failed = set(), {}

        def work() -> None:
            while waiting:
                try:
                    node = waiting.popleft()
                except IndexError:
                    return  # another thread took the last one
                try:
                    self._register(ctxt, node, known)
                except exception.NovaLiteError as error:
                    LOG.warning(
                        'Compute node %s (%s) is not registered in placement: %s',
                        node.name,
                        node.uuid,
                        error,
                    )
                    failed[node.uuid] = error
                else:
                    done.add(node.uuid)

        threads = [
            runtime.spawn(work, name=f'register-{number}')
            for number in range(min(self.threads, total))
        ]
        for thread in threads:
            thread.join()
        if len(done) + len(failed) != total:
            raise RuntimeError('a thread that registers compute nodes has died')
        return failed

    def compare(self, ctxt: session.Ctxt, uuids: Collection[str]) -> tuple[set[str], set[str]]:
        """Return registered nodes whose providers are missing, and those with changed providers.

        uuids: of the registered nodes
        A provider has changed if its generation differs from the one that was last read.
        """
        known = self._known(ctxt, uuids)
        missing, changed = set[str](), set[str]()
        for uuid in uuids:
            tree = self._tree(ctxt, uuid) if known is None else known.get(uuid, {})
            generations = {each.uuid: each.generation for each in tree.values()}
            if self._generations.get(uuid) != generations:
                (changed if uuid in tree else missing).add(uuid)
                self._generations[uuid] = generations
                self._nested.pop(uuid, None)
        return missing, changed

    def withdraw(self, ctxt: session.Ctxt, uuid: str) -> None:
        """Delete the providers of a node, unless servers have allocations on them."""
        self._generations.pop(uuid, None)
        self._nested.pop(uuid, None)
        try:
            self.providers.delete_tree(ctxt, uuid)
        except exception.Conflict as error:
            LOG.warning('Resource provider %s stays in placement: %s', uuid, error)

    def _tree(self, ctxt: session.Ctxt, uuid: str) -> Tree:
        return {each.uuid: each for each in self.providers.list(ctxt, in_tree=uuid)}

    def _known(self, ctxt: session.Ctxt, nodes: Collection[object]) -> Trees | None:
        """Return the providers that exist, by one request; None if there are few nodes."""
        if len(nodes) <= max(self.threads, self._listed // LISTED_AT_ONCE):
            return None
        trees: Trees = collections.defaultdict(dict)
        listed = self.providers.list(ctxt)
        self._listed = len(listed)
        for provider in listed:
            trees[provider.root][provider.uuid] = provider
        return trees

    def _register(self, ctxt: session.Ctxt, node: Node, known: Trees | None) -> None:
        """Register a node. The inventories come last, so that no server is placed there before."""
        tree = known.get(node.uuid, {}) if known is not None else None
        if tree is None and node.uuid in self._generations:
            tree = self._tree(ctxt, node.uuid)
        provider = tree.get(node.uuid) if tree else None
        if provider is None or provider.name != node.name:
            provider = self.providers.ensure(ctxt, node.uuid, node.name)
        self._keep_nested(ctxt, node, provider, tree)
        if provider.generation == 0:  # the provider is new
            generation = 0
            if node.traits:
                generation = self.providers.set_traits(
                    ctxt, node.uuid, node.traits, generation=generation
                )
            generation = self.providers.set_inventories(
                ctxt, node.uuid, node.inventories, generation=generation
            )
        else:
            self.providers.change_traits(ctxt, node.uuid, add=node.traits, remove=node.not_traits)
            generation = self.providers.set_inventories(
                ctxt, node.uuid, node.inventories, keep_ratios=node.keep_ratios
            )
        if not node.children:
            self._generations[node.uuid] = {node.uuid: generation}

    def _keep_nested(
        self,
        ctxt: session.Ctxt,
        node: Node,
        provider: providers.Provider,
        tree: Tree | None,
    ) -> None:
        """Keep the providers below the provider of a node. tree: known providers of its tree"""
        if self._nested.get(node.uuid) == node.children:
            return
        if tree is not None or provider.generation == 0:
            known: Iterable[providers.Provider] = (tree or {}).values()
        else:
            known = self.providers.list(ctxt, in_tree=node.uuid)
        nested.keep(self.providers, ctxt, provider, node.children, known)
        self._nested[node.uuid] = node.children
