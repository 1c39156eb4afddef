"""Copies of a configuration that share its options and nothing that is set."""

import fixtures
from oslo_config import cfg
import testtools

from nova_lite.private_apis import config

OPTIONS = [
    cfg.StrOpt('colour', default='red', deprecated_name='color', deprecated_group='old'),
    cfg.IntOpt('size', default=1),
]


def template():
    conf = cfg.ConfigOpts()
    conf.register_opts(OPTIONS, group='things')
    conf.register_opts([cfg.StrOpt('name', default='n', deprecated_name='title')])
    conf.register_cli_opts([cfg.BoolOpt('debug')])
    conf.register_cli_opts([cfg.StrOpt('shape')], group='things')
    return conf


class CopyTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.template = template()

    def copy(self, *argv, text=''):
        path = self._written(text)
        conf = config.copy_registered(self.template)
        conf(list(argv), project='x', default_config_files=[path], default_config_dirs=[])
        return conf

    def _written(self, text):
        path = self.useFixture(fixtures.TempDir()).join('x.conf')
        with open(path, 'w', encoding='utf-8') as opened:
            opened.write(text)
        return path

    def test_files_and_deprecated_names(self):
        conf = self.copy(text='[DEFAULT]\ntitle = t\n[old]\ncolor = blue\n[things]\nsize = 3\n')
        self.assertEqual(
            ('t', 'blue', 3, None), (conf.name, conf.things.colour, conf.things.size, conf.debug)
        )

    def test_arguments(self):
        conf = self.copy('--debug', '--things-shape', 'round')
        self.assertEqual((True, 'round'), (conf.debug, conf.things.shape))

    def test_what_is_set_in_one_is_not_seen_in_another(self):
        one, other = self.copy('--things-shape', 'round'), self.copy()
        one.set_override('size', 5, group='things')
        one.set_default('name', 'm')
        one.register_opts([cfg.StrOpt('more')], group='things')
        third = self.copy()
        for each in other, third:
            things = each.things
            self.assertEqual(('n', 1, None), (each.name, things.size, things.shape))
            self.assertRaises(cfg.NoSuchOptError, getattr, things, 'more')
        self.assertEqual(('m', 5, 'round'), (one.name, one.things.size, one.things.shape))
