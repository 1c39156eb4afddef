"""Metadata definitions of images: who sees and changes them, and what is in a namespace."""

import jsonschema

from tests.unit.simcloud import base

V2 = '/image/v2/metadefs'
NAMESPACES = f'{V2}/namespaces'
# {type of resource: what of it the first definitions describe}
KINDS = {
    'OS::Cinder::Volume': {None, 'image'},
    'OS::Glance::Image': {None},
    'OS::Nova::Flavor': {None},
    'OS::Nova::Server': {'metadata', 'scheduler_hints'},
}
PROPERTY = {'title': 'Cores', 'type': 'integer', 'minimum': 1, 'default': 2}


class MetadefsTest(base.SimCloudTestCase):
    def namespace(self, name='n', *, expect=201, **values):
        return self.admin.post(NAMESPACES, {'namespace': name, **values}, expect=expect)

    def names(self, query='', client=None):
        answer = (client or self.demo).get(f'{NAMESPACES}{query}')
        names = [each['namespace'] for each in answer['namespaces']]
        return [name for name in names if not name.startswith('OS::')]

    def test_a_new_cloud_has_definitions_for_each_resource(self):
        """As the forms of dashboards ask for them: some fail for a resource without any."""
        for kind, targets in KINDS.items():
            answer = self.demo.get(f'{NAMESPACES}?resource_types={kind}')
            found = [one['resource_type_associations'] for one in answer['namespaces']]
            self.assertEqual(
                targets,
                {
                    one.get('properties_target')
                    for associations in found
                    for one in associations
                    if one['name'] == kind
                },
            )
            for one in answer['namespaces']:
                self.assertTrue(self.demo.get(f'/image{one["self"]}')['properties'])

    def test_a_namespace_comes_with_all_that_is_in_it(self):
        made = self.namespace(
            display_name='N',
            properties={'p': PROPERTY},
            objects=[{'name': 'o', 'properties': {'q': PROPERTY}, 'required': ['q']}],
            resource_type_associations=[{'name': 'OS::Custom::Type', 'prefix': 'hw:'}],
            tags=[{'name': 'a'}, {'name': 'a'}],
        )
        self.assertEqual(('private', False), (made['visibility'], made['protected']))
        self.assertEqual('/v2/metadefs/namespaces/n', made['self'])
        self.assertEqual({'p': PROPERTY}, made['properties'])
        self.assertEqual([{'name': 'a'}], made['tags'])
        (found,) = made['objects']
        self.assertEqual('/v2/metadefs/namespaces/n/objects/o', found['self'])
        self.assertEqual({'q': PROPERTY}, found['properties'])
        listed, *_first = self.admin.get(NAMESPACES)['namespaces']
        self.assertNotIn('objects', listed)
        self.assertEqual('hw:', listed['resource_type_associations'][0]['prefix'])
        kinds = [one['name'] for one in self.demo.get(f'{V2}/resource_types')['resource_types']]
        self.assertEqual(sorted({*KINDS, 'OS::Custom::Type'}), kinds)
        self.admin.delete(f'{NAMESPACES}/n')
        self.assertNotIn('properties', self.namespace())

    def test_what_links_to_a_schema_fits_it(self):
        self.namespace(
            properties={'p': PROPERTY},
            objects=[{'name': 'o', 'properties': {'q': PROPERTY}}],
            resource_type_associations=[{'name': 'OS::Nova::Flavor', 'prefix': 'hw:'}],
            tags=[{'name': 'a'}],
        )
        one = f'{NAMESPACES}/n'
        for path in (NAMESPACES, one, f'{one}/objects', f'{one}/objects/o', f'{one}/tags'):
            answer = self.admin.get(path)
            schema = self.demo.get(f'/image{answer["schema"]}')
            jsonschema.validate(answer, schema, jsonschema.Draft4Validator)
        for name, path in (('resource_types', 'resource_types'), ('property', 'properties/p')):
            schema = self.demo.get(f'/image/v2/schemas/metadefs/{name}')
            jsonschema.validate(self.admin.get(f'{one}/{path}'), schema)
        self.demo.get('/image/v2/schemas/metadefs/nothing', expect=404)

    def test_a_replaced_namespace_keeps_what_is_in_it(self):
        made = self.namespace(description='d', protected=True, properties={'p': PROPERTY})
        path = f'{NAMESPACES}/n'
        self.admin.delete(path, expect=403)
        # Clients send read-only attributes back.
        times = {name: made[name] for name in ('created_at', 'self', 'schema')}
        changed = self.admin.put(path, {'namespace': 'm', **times})
        self.assertNotIn('description', changed)
        self.assertEqual(('m', ['p']), (changed['namespace'], list(changed['properties'])))
        self.admin.get(path, expect=404)
        self.namespace('other')
        self.admin.put(f'{NAMESPACES}/m', {'namespace': 'other'}, expect=409)
        self.admin.delete(f'{NAMESPACES}/m')

    def test_who_sees_and_changes_namespaces(self):
        self.namespace('mine')
        self.namespace('all', visibility='public')
        demo = self.demo.get('/identity/v3/auth/projects')['projects'][0]['id']
        self.namespace('theirs', owner=demo)
        self.assertEqual(['theirs', 'all'], self.names())
        self.assertEqual(['theirs', 'all', 'mine'], self.names(client=self.admin))
        self.assertEqual(['all'], self.names('?visibility=public'))
        self.demo.get(f'{NAMESPACES}/mine', expect=404)
        self.demo.get(f'{NAMESPACES}/mine/objects', expect=404)
        for method, path in (
            ('POST', NAMESPACES),
            ('PUT', f'{NAMESPACES}/theirs'),
            ('DELETE', f'{NAMESPACES}/theirs'),
            ('POST', f'{NAMESPACES}/theirs/objects'),
            ('DELETE', f'{NAMESPACES}/theirs/properties'),
            ('POST', f'{NAMESPACES}/theirs/tags/a'),
        ):
            self.demo.request(method, path, {}, expect=403)

    def test_lists_have_pages_and_filters(self):
        for name in 'abc':
            kinds = [{'name': f'T{name}'}]
            self.namespace(name, visibility='public', resource_type_associations=kinds)
        order = 'sort_key=namespace&sort_dir=asc'
        answer = self.demo.get(f'{NAMESPACES}?limit=2&marker=a&{order}')
        self.assertIn('marker=c', answer['next'])
        answer = self.demo.get(f'{NAMESPACES}?limit=1&marker=a&{order}')
        self.assertEqual(['c'], self.names(answer['next'].removeprefix('/v2/metadefs/namespaces')))
        self.assertEqual(['a', 'c'], self.names(f'?resource_types=Ta,Tc&{order}'))
        self.demo.get(f'{NAMESPACES}?marker=x', expect=404)

    def test_definitions_have_unique_names(self):
        self.namespace()
        for kind, body in (
            ('objects', {}),
            ('properties', PROPERTY),
            ('resource_types', {'prefix': 'x'}),
        ):
            path = f'{NAMESPACES}/n/{kind}'
            for name in ('a', 'b'):
                self.admin.post(path, {'name': name, **body})
            self.admin.post(path, {'name': 'a', **body}, expect=409)
            if kind != 'resource_types':
                renamed = {'name': 'b', **body}
                self.admin.put(f'{path}/a', renamed, expect=409)
                self.admin.put(f'{path}/a', {**renamed, 'name': 'c'})
                self.assertEqual('c', self.admin.get(f'{path}/c')['name'])
            self.admin.delete(f'{path}/b')
            self.admin.delete(f'{path}/b', expect=404)
            self.admin.delete(path)
            (left,) = (value for key, value in self.admin.get(path).items() if key != 'schema')
            self.assertEqual(0, len(left))

    def test_a_name_changes_its_case(self):
        # MariaDB compares names so.
        made = "SELECT sql FROM sqlite_master WHERE name = 'image_metadef_contents'"
        ((text,),) = self.change_database(made)
        self.change_database('DROP TABLE image_metadef_contents')
        self.change_database(text.replace('VARCHAR(255)', 'VARCHAR(255) COLLATE NOCASE'))
        self.namespace()
        path = f'{NAMESPACES}/n/objects'
        for name in ('a', 'b'):
            self.admin.post(path, {'name': name})
        self.admin.put(f'{path}/a', {'name': 'A'})
        self.assertEqual('A', self.admin.get(f'{path}/a')['name'])
        self.admin.put(f'{path}/A', {'name': 'B'}, expect=409)

    def test_definitions_that_cannot_be(self):
        self.namespace()
        path = f'{NAMESPACES}/n/properties'
        for values in ({'type': 'text'}, {'minLength': -1}, {'other': 1}, {'title': None}):
            result = self.admin.raw('POST', path, {'name': 'p', **PROPERTY, **values})
            self.assertEqual(400, result.status_code, result.text)
            self.assertIn(next(iter(values)), result.text)
        self.namespace('x' * 81, expect=400)
        self.namespace(expect=409)

    def test_tags_are_replaced_or_appended(self):
        self.namespace()
        path = f'{NAMESPACES}/n/tags'
        for tag in ('a', 'b'):
            self.admin.post(path, {'tags': [{'name': tag}]}, headers={'X-Openstack-Append': 'True'})
        self.assertEqual([{'name': 'a'}, {'name': 'b'}], self.admin.get(path)['tags'])
        self.admin.post(path, {'tags': [{'name': 'c'}]})
        self.admin.post(f'{path}/d', None)
        self.admin.post(f'{path}/d', None, expect=409)
        self.admin.delete(f'{path}/c')
        self.admin.delete(f'{path}/c', expect=404)
        self.admin.get(f'{path}/d')
        self.admin.delete(path)
        self.assertEqual([], self.admin.get(path)['tags'])
