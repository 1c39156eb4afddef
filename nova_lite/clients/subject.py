"""The server that a request to another service is about."""

import typing


class Server(typing.Protocol):
    """A server as the clients need it: the record, or the object of a compute."""

    @property
    def uuid(self) -> str: ...

    @property
    def project_id(self) -> str: ...

    @property
    def user_id(self) -> str: ...

    @property
    def host(self) -> str | None: ...

    @property
    def hostname(self) -> str | None: ...

    @property
    def availability_zone(self) -> str | None: ...
