"""Calls about one resource of a service, which its id names: an image, a volume, a port."""

import typing

import requests

from nova_lite.clients import session


class Items:
    """The resources of one kind, each at `path`/{id}.

    missing: (error, name of its argument for the id), raised for an id that does not exist
    as_user: default of the argument of calls; see Neighbour.call
    """

    def __init__(
        self,
        service: session.Neighbour,
        path: str,
        *,
        missing: tuple[session.Raising, str],
        as_user: session.AsUser = False,
    ) -> None:
        self._service = service
        self._path = path
        self._missing = missing
        self._as_user = as_user

    def missing(self, item_id: str) -> session.Raising:
        """Return the entry of `errors` for an id that does not exist."""
        error, argument = self._missing
        return session.raising(error, **{argument: item_id})

    def call(
        self,
        ctxt: session.Ctxt,
        method: str,
        item_id: str,
        part: str = '',
        *,
        errors: session.Errors | None = None,
        **request: typing.Any,
    ) -> requests.Response:
        """Send one request about a resource, or about a `part` below it; see Neighbour.call."""
        missing = self.missing(item_id)
        path = f'{self._path}/{session.segment(item_id, missing)}{part}'
        request.setdefault('as_user', self._as_user)
        return self._service.call(
            ctxt, method, path, errors={404: missing, **(errors or {})}, **request
        )
