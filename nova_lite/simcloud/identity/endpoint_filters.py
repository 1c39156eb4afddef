"""/v3/OS-EP-FILTER: the endpoints to which the catalog of a project is limited."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import routing
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import catalog as catalogs
from nova_lite.simcloud.identity import projects
from nova_lite.simcloud.identity import tables

LINKS = tables.project_endpoints


class FilterResource:
    """The endpoints of a project and the projects of an endpoint, for administrators.

    endpoints: the resource of all endpoints
    """

    def __init__(
        self, db: database.Database, catalog: catalogs.Catalog, endpoints: resources.Resource
    ) -> None:
        self._db = db
        self._catalog = catalog
        self._endpoints = endpoints

    @staticmethod
    def _require(req: web.Request) -> None:
        req.context.caller.require_admin('filtering endpoints')

    def _pair(self, conn: sa.Connection, project_id: str, endpoint_id: str) -> dict[str, str]:
        """Return the columns of an association. Raise NotFound for an unknown id."""
        self._catalog.get(conn, catalogs.ENDPOINTS, endpoint_id)
        tables.get(conn, tables.projects, project_id)
        return {'project_id': project_id, 'endpoint_id': endpoint_id}

    def _known(self, conn: sa.Connection, project_id: str, endpoint_id: str) -> dict[str, str]:
        pair = self._pair(conn, project_id, endpoint_id)
        if not database.exists(conn, LINKS, **pair):
            raise faults.NotFound(
                f'Endpoint {endpoint_id[:64]} not found in project {project_id[:64]}'
            )
        return pair

    def on_get_endpoints(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        self._require(req)
        with self._db.read() as conn:
            tables.get(conn, tables.projects, project_id)
            ids = self._catalog.filter_of(conn, project_id)
            rows = self._catalog.rows(conn, catalogs.ENDPOINTS)
            found = [row for row in rows if row['id'] in ids]
            resp.media = self._endpoints.collection(conn, req, found)

    def on_get_projects(self, req: web.Request, resp: falcon.Response, endpoint_id: str) -> None:
        self._require(req)
        with self._db.read() as conn:
            self._catalog.get(conn, catalogs.ENDPOINTS, endpoint_id)
            found = database.find_all(conn, LINKS, endpoint_id=endpoint_id)
            found = tables.among(conn, tables.projects, [row['project_id'] for row in found])
            resp.media = projects.RESOURCE.collection(conn, req, found)

    def on_get(
        self, req: web.Request, resp: falcon.Response, project_id: str, endpoint_id: str
    ) -> None:
        self._require(req)
        with self._db.read() as conn:
            self._known(conn, project_id, endpoint_id)
        resp.status = falcon.HTTP_204

    on_head = on_get

    def on_put(
        self, req: web.Request, resp: falcon.Response, project_id: str, endpoint_id: str
    ) -> None:
        self._require(req)

        def add(conn: sa.Connection) -> None:
            pair = self._pair(conn, project_id, endpoint_id)
            if database.exists(conn, LINKS, **pair):
                raise faults.Conflict('The project has the endpoint already.')
            database.insert(conn, LINKS, **pair)
            tables.touch(conn)

        self._db.change(add)
        resp.status = falcon.HTTP_204

    def on_delete(
        self, req: web.Request, resp: falcon.Response, project_id: str, endpoint_id: str
    ) -> None:
        self._require(req)

        def remove(conn: sa.Connection) -> None:
            database.delete(conn, LINKS, **self._known(conn, project_id, endpoint_id))
            tables.touch(conn)

        self._db.change(remove)
        resp.status = falcon.HTTP_204


def add(
    app: routing.App,
    db: database.Database,
    v3: str,
    *,
    catalog: catalogs.Catalog,
    endpoints: resources.Resource,
) -> None:
    """Put the routes of the extension into `app`."""
    answers = FilterResource(db, catalog, endpoints)
    root = f'{v3}/OS-EP-FILTER'
    app.add_route(f'{root}/projects/{{project_id}}/endpoints', answers, suffix='endpoints')
    app.add_route(f'{root}/projects/{{project_id}}/endpoints/{{endpoint_id}}', answers)
    app.add_route(f'{root}/endpoints/{{endpoint_id}}/projects', answers, suffix='projects')
