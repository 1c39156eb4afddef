"""Limits of the compute service in the identity service: Keystone's unified limits."""

import dataclasses
import typing

from nova_lite import exception
from nova_lite.clients import auth
from nova_lite.clients import session

REGISTERED, LIMITS = 'registered_limits', 'limits'
# Whatever the user asks for, the user is not who must get a role.
UNREADABLE = {403: session.raising(exception.Unavailable, service='identity')}


@dataclasses.dataclass(frozen=True)
class Owner:
    """The service that limits name, and its region. region_id: None for limits without a region"""

    service_id: str
    region_id: str | None

    @property
    def query(self) -> dict[str, str]:
        """Return the parameters that select the limits of the service."""
        query = {'service_id': self.service_id}
        return query if self.region_id is None else {**query, 'region_id': self.region_id}


class KeystoneLimits:
    """Reads and creates limits of the compute service."""

    def __init__(self, credentials: auth.Credentials, group: str = 'oslo_limit') -> None:
        self.service = session.Neighbour(credentials, group, title='identity', version='/v3')
        self._options = credentials.conf.oslo_limit
        self._owner: Owner | None = None
        self._region_id: str | None = None

    def registered(self, ctxt: session.Ctxt) -> dict[str, int]:
        """Return {resource: default limit}."""
        former = self._owner
        found = self._list(ctxt, REGISTERED)
        if not found and former is not None:
            # The service may have been made again, with another ID.
            self._owner = None
            found = self._list(ctxt, REGISTERED) if self.owner(ctxt) != former else []
        return {each['resource_name']: each['default_limit'] for each in found}

    def of_project(self, ctxt: session.Ctxt, project_id: str) -> dict[str, int]:
        """Return {resource: limit} of the limits that a project has of its own.

        Raise Invalid for a text that cannot be the ID of a project.
        """
        invalid = session.raising(
            exception.Invalid, message=f'Project ID {project_id} is not a valid project.'
        )
        found = self._list(ctxt, LIMITS, errors={400: invalid}, project_id=project_id)
        return {each['resource_name']: each['resource_limit'] for each in found}

    def create(
        self,
        ctxt: session.Ctxt,
        limits: typing.Mapping[str, int],
        *,
        project_id: str | None = None,
    ) -> None:
        """Create limits of a project, or registered limits."""
        owner = dataclasses.asdict(self.owner(ctxt))
        if project_id is None:
            kind, number, owned = REGISTERED, 'default_limit', owner
        else:
            kind, number, owned = LIMITS, 'resource_limit', {**owner, 'project_id': project_id}
        body = [{**owned, 'resource_name': name, number: value} for name, value in limits.items()]
        self.service.call(ctxt, 'POST', f'/{kind}', json={kind: body})

    def owner(self, ctxt: session.Ctxt) -> Owner:
        """Return the service whose limits count. Raise Unavailable if there is none."""
        if self._owner is None:
            found = self._look_up(ctxt)
            if self._region_id is not None:
                found = dataclasses.replace(found, region_id=self._region_id)
            self._owner = found
        return self._owner

    def use_region(self, region_id: str) -> None:
        """Read and create limits of a region, in place of that of the configuration."""
        self._owner, self._region_id = None, region_id

    def _look_up(self, ctxt: session.Ctxt) -> Owner:
        endpoint_id, kind = self._options.endpoint_id, self._options.endpoint_service_type
        if endpoint_id:
            path = f'/endpoints/{session.segment(endpoint_id, exception.Invalid)}'
            missing = session.raising(exception.Unavailable, service='identity')
            errors = {**UNREADABLE, 404: missing}
            found = self.service.get(ctxt, path, errors=errors)['endpoint']
            return Owner(found['service_id'], found.get('region_id'))
        query = {'type': kind}
        services = self.service.get(ctxt, '/services', params=query, errors=UNREADABLE)['services']
        if not services:
            raise exception.Unavailable(
                service='identity', reason=f'it has no service of type {kind}'
            )
        return Owner(services[0]['id'], None)

    def _list(
        self,
        ctxt: session.Ctxt,
        kind: str,
        *,
        errors: session.Errors | None = None,
        **query: str,
    ) -> session.Jsons:
        """Return the limits of the service in its region."""
        owner = self.owner(ctxt)
        body = self.service.get(
            ctxt,
            f'/{kind}',
            params={**owner.query, **query},
            errors={**UNREADABLE, **(errors or {})},
        )
        return [each for each in body[kind] if each.get('region_id') == owner.region_id]
