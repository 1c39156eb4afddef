"""Placement's resource providers: inventories, traits, aggregates, usage.

A provider's generation changes with each write. If the known generation is old, the provider is
read again and the change is repeated.
Source: reference/nova/scheduling 3.3, 4, 10, 11.
"""

from collections.abc import Callable
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import typing

import requests

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import responses
from nova_lite.clients import session

# The fields of an inventory by name, and inventories by resource class.
Inventory: typing.TypeAlias = dict[str, int | float]
Inventories: typing.TypeAlias = dict[str, Inventory]
# A part of a provider, such as its traits.
Part = typing.TypeVar('Part', Inventories, set[str])
# A function of a provider's uuid that returns a part of the provider, and its generation.
Read: typing.TypeAlias = Callable[[session.Ctxt, str], tuple[Part, int]]

TRIES = 4
PAUSE_S = 0.1
DEFINED_AT = {'traits': '/traits', 'inventories': '/resource_classes'}
INVENTORY_DEFAULTS = {
    'reserved': 0,
    'min_unit': 1,
    'max_unit': 2**31 - 1,
    'step_size': 1,
    'allocation_ratio': 1.0,
}


@dataclasses.dataclass(frozen=True)
class Provider:
    """A resource provider. That of a compute node has the node's uuid and name."""

    uuid: str
    name: str
    generation: int
    parent: str | None = None
    root: str | None = None

    @classmethod
    def of(cls, body: session.Json) -> typing.Self:
        """Return the Provider of placement's representation."""
        return cls(
            body['uuid'],
            body['name'],
            body['generation'],
            body['parent_provider_uuid'],
            body['root_provider_uuid'],
        )


def is_concurrent(response: requests.Response) -> bool:
    """Return whether a 409 means that another writer was faster."""
    if response.status_code != 409:
        return False
    error: session.Json = response.json()['errors'][0]
    return error.get('code') == 'placement.concurrent_update'


class Providers:
    """Calls of the placement service about resource providers."""

    def __init__(self, service: session.Neighbour) -> None:
        self.service = service

    # ---- providers ----------------------------------------------------------

    def get(self, ctxt: session.Ctxt, uuid: str) -> Provider:
        """Return the provider with this uuid. Raise ResourceProviderNotFound."""
        return Provider.of(self._get(ctxt, uuid, ''))

    def find_by_name(self, ctxt: session.Ctxt, name: str) -> Provider | None:
        """Return the provider with this name, or None."""
        found = self.list(ctxt, name=name)
        return found[0] if found else None

    def list(self, ctxt: session.Ctxt, **filters: object) -> Sequence[Provider]:
        """Return all providers, or those that match: name, uuid, in_tree, member_of, required, …"""
        body = self.service.get(
            ctxt,
            '/resource_providers',
            params=filters,
            errors={400: exception.Invalid},
        )
        return [Provider.of(item) for item in body['resource_providers']]

    def ensure(
        self, ctxt: session.Ctxt, uuid: str, name: str, *, parent: str | None = None
    ) -> Provider:
        """Create or rename the provider if necessary. Return it.

        Raises AlreadyExists if another provider has the name.
        """
        body = {'uuid': uuid, 'name': name}
        if parent is not None:
            body['parent_provider_uuid'] = parent
        response = self.service.call(
            ctxt, 'POST', '/resource_providers', json=body, errors={409: None}
        )
        if response.status_code < 400:
            return Provider.of(response.json())
        try:
            known = self.get(ctxt, uuid)
        except exception.ResourceProviderNotFound:
            raise exception.AlreadyExists(what='Resource provider', key=name) from None
        if (known.name, known.parent) == (name, parent):
            return known
        del body['uuid']
        taken = session.raising(exception.AlreadyExists, what='Resource provider', key=name)
        response = self.service.call(
            ctxt, 'PUT', f'/resource_providers/{uuid}', json=body, errors={409: taken}
        )
        return Provider.of(response.json())

    def delete(self, ctxt: session.Ctxt, uuid: str) -> None:
        """Delete the provider, if it exists. Raise Conflict while it has allocations."""
        self.service.call(
            ctxt,
            'DELETE',
            f'/resource_providers/{uuid}',
            errors={404: None, 409: exception.Conflict},
        )

    def delete_tree(self, ctxt: session.Ctxt, root: str) -> None:
        """Delete a provider and all below it."""
        left = {provider.uuid: provider for provider in self.list(ctxt, in_tree=root)}
        while left:
            parents = {provider.parent for provider in left.values()}
            for uuid in left.keys() - parents:
                self.delete(ctxt, uuid)
                del left[uuid]

    # ---- inventories --------------------------------------------------------

    def inventories(self, ctxt: session.Ctxt, uuid: str) -> tuple[Inventories, int]:
        """Return ({resource class: inventory}, generation) of the provider."""
        body = self._get(ctxt, uuid, '/inventories')
        return body['inventories'], body['resource_provider_generation']

    def set_inventories(
        self,
        ctxt: session.Ctxt,
        uuid: str,
        wanted: Inventories,
        *,
        generation: int | None = None,
        keep_ratios: Container[str] = (),
        keep_reserved: bool = False,
    ) -> int:
        """Replace the provider's inventories, if they differ.

        wanted:      {resource class: {'total': …, 'reserved'?: …, …}}
        generation:  the provider's, when its inventories are known to differ
        keep_ratios: resource classes whose allocation ratio in placement, if any, is kept, because
                     an operator may have set it
        keep_reserved: whether the reserved amounts in placement, if any, are kept
        Returns the provider's generation. Raises Conflict if a class in use would be removed.
        """

        def change(current: Inventories) -> Inventories:
            return {
                name: _inventory(
                    values,
                    current.get(name),
                    keep=[
                        *(['allocation_ratio'] if name in keep_ratios else ()),
                        *(['reserved'] if keep_reserved else ()),
                    ],
                )
                for name, values in wanted.items()
            }

        read: Read[Inventories] = self.inventories
        if generation is not None:
            read = _first(({}, generation), then=read)
        return self._replace(ctxt, uuid, 'inventories', read=read, change=change)

    # ---- traits -------------------------------------------------------------

    def traits(self, ctxt: session.Ctxt, uuid: str) -> tuple[set[str], int]:
        """Return (set of traits, generation) of the provider."""
        body = self._get(ctxt, uuid, '/traits')
        return set(body['traits']), body['resource_provider_generation']

    def set_traits(
        self, ctxt: session.Ctxt, uuid: str, traits: Iterable[str], *, generation: int | None = None
    ) -> int:
        """Replace the provider's traits. Return its generation.

        generation: the provider's, when its traits are known to differ
        """
        wanted = set(traits)
        read: Read[set[str]] = self.traits
        if generation is not None:
            read = _first((set(), generation), then=read)
        return self._replace(ctxt, uuid, 'traits', read=read, change=lambda _: wanted)

    def change_traits(
        self, ctxt: session.Ctxt, uuid: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()
    ) -> int:
        """Add and remove traits, and keep all other traits. Return the generation."""
        return self._replace(
            ctxt,
            uuid,
            'traits',
            read=self.traits,
            change=lambda current: current - set(remove) | set(add),
        )

    # ---- aggregates ---------------------------------------------------------

    def aggregates(self, ctxt: session.Ctxt, uuid: str) -> tuple[set[str], int]:
        """Return (set of aggregate uuids, generation) of the provider."""
        body = self._get(ctxt, uuid, '/aggregates')
        return set(body['aggregates']), body['resource_provider_generation']

    def add_to_aggregate(self, ctxt: session.Ctxt, uuid: str, aggregate: str) -> None:
        """Make the provider a member of an aggregate (a uuid)."""
        self.change_aggregates(ctxt, uuid, lambda current: current | {aggregate})

    def remove_from_aggregate(self, ctxt: session.Ctxt, uuid: str, aggregate: str) -> None:
        """End the provider's membership of an aggregate (a uuid)."""
        self.change_aggregates(ctxt, uuid, lambda current: current - {aggregate})

    def change_aggregates(
        self, ctxt: session.Ctxt, uuid: str, change: Callable[[set[str]], set[str]]
    ) -> None:
        """Replace the provider's aggregates by the result of `change`.

        change: function of the current set of uuids that returns the new set; called again if the
            provider was changed since it was read
        """
        self._replace(ctxt, uuid, 'aggregates', read=self.aggregates, change=change)

    # ---- use ----------------------------------------------------------------

    def usages(self, ctxt: session.Ctxt, uuid: str) -> dict[str, int]:
        """Return {resource class: amount in use} of the provider."""
        usages: dict[str, int] = self._get(ctxt, uuid, '/usages')['usages']
        return usages

    def allocations(self, ctxt: session.Ctxt, uuid: str) -> dict[str, dict[str, int]]:
        """Return {consumer uuid: {resource class: amount}} on the provider."""
        body = self._get(ctxt, uuid, '/allocations')
        return {consumer: part['resources'] for consumer, part in body['allocations'].items()}

    # ---- how ----------------------------------------------------------------

    def _get(self, ctxt: session.Ctxt, uuid: str, part: str) -> session.Json:
        missing = session.raising(exception.ResourceProviderNotFound, name_or_uuid=uuid)
        return self.service.get(ctxt, f'/resource_providers/{uuid}{part}', errors={404: missing})

    def _replace(
        self,
        ctxt: session.Ctxt,
        uuid: str,
        part: str,
        *,
        read: Read[Part],
        change: Callable[[Part], Part],
    ) -> int:
        """Read a part of the provider and write the result of `change`. Return the generation.

        Raises ProviderConflict if others keep changing the provider.
        """
        missing = session.raising(exception.ResourceProviderNotFound, name_or_uuid=uuid)
        for attempt in range(1, TRIES + 1):
            current, generation = read(ctxt, uuid)
            wanted = change(current)
            if wanted == current:
                return generation
            body = {
                part: sorted(wanted) if isinstance(wanted, set) else wanted,
                'resource_provider_generation': generation,
            }
            response = self.service.call(
                ctxt,
                'PUT',
                f'/resource_providers/{uuid}/{part}',
                json=body,
                errors={400: None, 404: missing, 409: None},
            )
            if response.status_code < 400:
                written: int = response.json()['resource_provider_generation']
                return written
            self._prepare_retry(ctxt, response, part, wanted)
            runtime.sleep(runtime.random().uniform(0, PAUSE_S * (attempt - 1)))
        raise exception.ProviderConflict(provider=uuid)

    def _prepare_retry(
        self, ctxt: session.Ctxt, response: requests.Response, part: str, wanted: Iterable[str]
    ) -> None:
        """Create missing custom traits and resource classes of a refused change, or raise.

        Placement does not know custom traits and resource classes before they are created.
        """
        reason = responses.detail(response)
        if response.status_code == 409:
            if not is_concurrent(response):
                raise exception.Conflict(reason=reason)
            return
        custom = [name for name in wanted if name.startswith('CUSTOM_')]
        if part not in DEFINED_AT or not custom:
            raise exception.Invalid(reason=reason)
        for name in custom:
            self.service.call(ctxt, 'PUT', f'{DEFINED_AT[part]}/{name}')


def _first(answer: tuple[Part, int], *, then: Read[Part]) -> Read[Part]:
    """Return a reader that gives `answer` once and asks `then` from the second time on."""
    answers = [answer]
    return lambda ctxt, uuid: answers.pop() if answers else then(ctxt, uuid)


def _inventory(values: Inventory, current: Inventory | None, *, keep: Iterable[str]) -> Inventory:
    """Return an inventory with every field. keep: fields whose current values stay, if any"""
    full = {**INVENTORY_DEFAULTS, **values}
    if current is not None:
        full |= {name: current[name] for name in keep}
    return full
