"""The identity service, which is asked whether projects exist."""

from nova_lite import exception
from nova_lite.clients import auth
from nova_lite.clients import session


class Identity:
    """The identity service."""

    def __init__(self, credentials: auth.Credentials) -> None:
        self.service = session.Neighbour(credentials, 'keystone', title='identity', version='/v3')

    def require_project(self, ctxt: session.Ctxt, project_id: str) -> None:
        """Raise Invalid if the identity service does not know the project.

        A project that we may not read counts as existing, as in nova.
        """
        missing = session.raising(
            exception.Invalid, message=f'Project ID {project_id} is not a valid project.'
        )
        path = f'/projects/{session.segment(project_id, missing)}'
        self.service.call(ctxt, 'GET', path, as_user=True, errors={403: None, 404: missing})
