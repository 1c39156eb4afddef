"""The user of a request, and the rights that the usual roles of OpenStack give."""

import dataclasses
import typing

from nova_lite.simcloud import faults

ADMIN = 'admin'
SERVICE = 'service'
NOT_ALLOWED = 'You are not authorized to perform the requested action.'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The identity of one request: a user, usually in a project.

    vouched: whether a service has sent its own token along with the user's token
    restricted: whether the token was obtained with a restricted application credential
    trust_id: id of the trust that the token was obtained with, if any
    """

    user_id: str
    project_id: str | None = None
    roles: frozenset[str] = frozenset()
    vouched: bool = False
    restricted: bool = False
    trust_id: str | None = None

    @property
    def is_admin(self) -> bool:
        return ADMIN in self.roles

    @property
    def is_privileged(self) -> bool:
        """Return whether the caller is an administrator, or a service that acts for others."""
        return ADMIN in self.roles or SERVICE in self.roles

    @property
    def is_service(self) -> bool:
        """Return whether the caller is a service of the cloud; its values are not checked."""
        return SERVICE in self.roles

    @property
    def is_reader_only(self) -> bool:
        return not self.roles & {ADMIN, SERVICE, 'manager', 'member'}

    @classmethod
    def service(cls, project_id: str | None) -> typing.Self:
        """Return the caller for a service of the cloud that acts for a project."""
        return cls(user_id=SERVICE, project_id=project_id, roles=frozenset((SERVICE,)))

    def without_service(self) -> typing.Self:
        """Return the caller for a service whose rules do not name the role `service`."""
        return dataclasses.replace(self, roles=self.roles - {SERVICE})

    def sees(self, project_id: str) -> bool:
        """Return whether the caller may see what `project_id` owns."""
        return self.is_privileged or (self.project_id is not None and self.project_id == project_id)

    def require_admin(self, action: str) -> None:
        if not self.is_admin:
            raise faults.Forbidden(f'{NOT_ALLOWED} ({action} needs the admin role)')

    def require_privileged(self, action: str) -> None:
        if not self.is_privileged:
            raise faults.Forbidden(f'{NOT_ALLOWED} ({action} needs the admin or service role)')

    def require_writer(self) -> None:
        """Raise Forbidden for a user who may only read."""
        if self.is_reader_only:
            raise faults.Forbidden(f'{NOT_ALLOWED} (the member role is needed)')

    def owner_for(self, wanted: str | None) -> str:
        """Return the project of a new row. Only privileged callers may request another project."""
        if wanted and wanted != self.project_id:
            self.require_privileged('creating for another project')
            return wanted
        if self.project_id is None:
            raise faults.Forbidden('The token is not scoped to a project.')
        return self.project_id
