"""Heat: a stack of a server with a port and a volume in a server group, from creation to deletion.

heat-engine and heat-api run as `tests.software.heat` starts them, with Heat's default method of
deferred authentication: a trust.
"""

import unittest

import cloud
from heatclient import client
from keystoneauth1 import loading
from keystoneauth1 import session

SETTINGS = cloud.SETTINGS
TEMPLATE = {
    'heat_template_version': '2018-08-31',
    'parameters': {'flavor': {'type': 'string'}, 'size': {'type': 'number', 'default': 1}},
    'resources': {
        'group': {
            'type': 'OS::Nova::ServerGroup',
            'properties': {'policies': ['anti-affinity']},
        },
        'secgroup': {
            'type': 'OS::Neutron::SecurityGroup',
            'properties': {
                'rules': [{'protocol': 'tcp', 'port_range_min': 22, 'port_range_max': 22}]
            },
        },
        'port': {
            'type': 'OS::Neutron::Port',
            'properties': {
                'network': SETTINGS['network_id'],
                'security_groups': [{'get_resource': 'secgroup'}],
            },
        },
        'volume': {
            'type': 'OS::Cinder::Volume',
            'properties': {'size': {'get_param': 'size'}},
        },
        'attachment': {
            'type': 'OS::Cinder::VolumeAttachment',
            'properties': {
                'instance_uuid': {'get_resource': 'server'},
                'volume_id': {'get_resource': 'volume'},
            },
        },
        'server': {
            'type': 'OS::Nova::Server',
            'properties': {
                'image': SETTINGS['image'],
                'flavor': {'get_param': 'flavor'},
                'networks': [{'port': {'get_resource': 'port'}}],
                'scheduler_hints': {'group': {'get_resource': 'group'}},
                'metadata': {'a': 'b'},
                'user_data': '#!/bin/sh',
                'user_data_format': 'RAW',
            },
        },
    },
    'outputs': {
        'address': {'value': {'get_attr': ['server', 'first_address']}},
        'shown': {'value': {'get_attr': ['server', 'show']}},
    },
}


class Stack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        demo = SETTINGS['demo']
        auth = loading.get_plugin_loader('password').load_from_options(
            auth_url=demo['auth_url'],
            username=demo['username'],
            password=demo['password'],
            project_name=demo['project_name'],
            user_domain_id='default',
            project_domain_id='default',
        )
        cls.session = session.Session(auth=auth)
        cls.heat = client.Client('1', session=cls.session, endpoint=SETTINGS['endpoint'])

    def done(self, name, action):
        """Wait until an action on the stack is complete."""

        def settled():
            stack = self.heat.stacks.get(name)
            self.assertFalse(stack.stack_status.endswith('FAILED'), stack.stack_status_reason)
            return stack if stack.stack_status == f'{action}_COMPLETE' else None

        return cloud.wait(f'{action} is complete', settled, 300)

    def change(self, name, **parameters):
        self.heat.stacks.update(name, template=TEMPLATE, parameters=parameters)
        return self.done(name, 'UPDATE')

    def trusts(self):
        """The trusts that demo has given to Heat."""
        user = self.session.get_user_id()
        path = f'/OS-TRUST/trusts?trustor_user_id={user}'
        return self.session.get(SETTINGS['demo']['auth_url'] + path).json()['trusts']

    def test_life(self):
        parameters = {'flavor': SETTINGS['flavor']}
        self.heat.stacks.create(stack_name='life', template=TEMPLATE, parameters=parameters)
        stack = self.done('life', 'CREATE')
        self.assertTrue(self.trusts())
        outputs = {each['output_key']: each['output_value'] for each in stack.outputs}
        self.assertEqual('ACTIVE', outputs['shown']['status'])
        self.assertTrue(outputs['address'])
        stack = self.change('life', flavor=SETTINGS['flavor_alt'])
        shown = {each['output_key']: each['output_value'] for each in stack.outputs}['shown']
        self.assertEqual(outputs['shown']['id'], shown['id'])
        self.heat.actions.check('life')
        self.done('life', 'CHECK')
        for action in ('suspend', 'resume'):
            getattr(self.heat.actions, action)('life')
            self.done('life', action.upper())
        self.change('life', flavor=SETTINGS['flavor_alt'], size=2)
        self.heat.stacks.delete(stack.id)
        cloud.wait('deleted', lambda: not list(self.heat.stacks.list()), 300)
        self.assertEqual([], self.trusts())


if __name__ == '__main__':
    cloud.main()
