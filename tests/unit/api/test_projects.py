"""Projects that requests name are checked with the identity service."""

from nova_lite import exception
from nova_lite.db.api import flavors
from tests.fixtures import compute_api
from tests.unit.api import base


class Identity:
    """Knows the projects of `known`, unless `error` is set."""

    known = ('alpha',)
    error = None

    def require_project(self, _ctxt, project_id):
        if self.error:
            raise self.error
        if project_id not in self.known:
            raise exception.Invalid(f'Project ID {project_id} is not a valid project.')


class ProjectsTest(base.ApiTest):
    def make_api(self):
        self.identity = Identity()
        return compute_api.ComputeApi(identity=self.identity)

    def test_quota_sets(self):
        body = {'quota_set': {'cores': 1}}
        for path in ('', '/detail', '/defaults'):
            self.admin('GET', f'/os-quota-sets/alpha{path}')
            self.admin('GET', f'/os-quota-sets/unknown{path}', status=400)
        self.admin('PUT', '/os-quota-sets/unknown', body, status=400)
        self.admin('DELETE', '/os-quota-sets/unknown', status=202)

    def test_flavor_access(self):
        self.api.api_db.write(
            flavors.create,
            {
                'flavorid': '1',
                'name': 'f',
                'vcpus': 1,
                'memory_mb': 1,
                'root_gb': 1,
                'is_public': False,
            },
        )
        for project, expected in (('unknown', 400), ('alpha', 200)):
            self.act('addTenantAccess', project, expected)
        self.identity.known = ()
        # The project was deleted in the meantime. Nobody else could end its access.
        self.act('addTenantAccess', 'alpha', 400)
        self.act('removeTenantAccess', 'alpha', 200)
        self.act('removeTenantAccess', 'alpha', 404)
        self.assertEqual([], self.admin('GET', '/flavors/1/os-flavor-access')['flavor_access'])

    def act(self, action, project, status):
        self.admin('POST', '/flavors/1/action', {action: {'tenant': project}}, status=status)

    def test_what_names_a_deleted_project_otherwise(self):
        """As nova 34 answers. What is left of a project can be seen, and its limits deleted."""
        self.identity.known = ()
        for path in (
            '/os-simple-tenant-usage/gone',
            '/limits?tenant_id=gone',
            '/servers?all_tenants=1&project_id=gone',
            '/os-migrations?project_id=gone',
        ):
            self.admin('GET', path, version='2.80')

    def test_without_an_answer_it_is_believed(self):
        self.identity.error = exception.Unavailable(service='identity', reason='away')
        self.admin('GET', '/os-quota-sets/unknown')
