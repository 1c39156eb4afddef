"""Who asks, and what OpenStack's usual roles let them do."""

import dataclasses

from nova_lite.simcloud import faults

ADMIN = 'admin'
SERVICE = 'service'
NOT_ALLOWED = 'You are not authorized to perform the requested action.'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The identity of one request: a user, usually in a project.

    vouched: a service has shown its token along with the user's
    restricted: the token was obtained with an application credential that is restricted
    """

    user_id: str
    project_id: str | None = None
    roles: frozenset = frozenset()
    vouched: bool = False
    restricted: bool = False

    @property
    def is_admin(self):
        return ADMIN in self.roles

    @property
    def is_privileged(self):
        """Administrators, and services that act for others."""
        return ADMIN in self.roles or SERVICE in self.roles

    @property
    def is_service(self):
        """A service of the cloud, which knows what it does."""
        return SERVICE in self.roles

    @property
    def is_reader_only(self):
        return not self.roles & {ADMIN, SERVICE, 'manager', 'member'}

    @classmethod
    def service(cls, project_id):
        """A service of the cloud that acts for a project."""
        return cls(user_id=SERVICE, project_id=project_id, roles=frozenset((SERVICE,)))

    def sees(self, project_id):
        """Return whether the caller may see what `project_id` owns."""
        return self.is_privileged or (self.project_id is not None and self.project_id == project_id)

    def require_admin(self, action):
        if not self.is_admin:
            raise faults.Forbidden(f'{NOT_ALLOWED} ({action} needs the admin role)')

    def require_privileged(self, action):
        if not self.is_privileged:
            raise faults.Forbidden(f'{NOT_ALLOWED} ({action} needs the admin or service role)')

    def require_writer(self):
        """Readers may look but not touch."""
        if self.is_reader_only:
            raise faults.Forbidden(f'{NOT_ALLOWED} (the member role is needed)')

    def owner_for(self, wanted):
        """The project that a new thing belongs to; only the privileged may name another."""
        if wanted and wanted != self.project_id:
            self.require_privileged('creating for another project')
            return wanted
        if self.project_id is None:
            raise faults.Forbidden('The token is not scoped to a project.')
        return self.project_id
