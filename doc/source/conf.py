"""Configuration of Sphinx for these documents; `tox -e docs` runs it, warnings being errors."""

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
TOP = HERE.parents[1]
sys.path[:0] = [str(HERE / '_ext'), str(TOP)]
# Written again by every build, never committed.
(HERE / '_generated').mkdir(exist_ok=True)

project = 'nova_lite'
author = 'nova_lite contributors'
extensions = [
    'oslo_config.sphinxconfiggen',
    'oslo_config.sphinxext',
    'oslo_policy.sphinxext',
    'oslo_policy.sphinxpolicygen',
    'notifications',
    'reno.sphinxext',
    'api_coverage',
    'cloud_file',
    'guest_properties',
    'invariants',
    'nova_invariants',
    'metrics_table',
    'tables',
]
exclude_patterns = ['_generated']
nitpicky = True

config_generator_config_file = [
    (str(TOP / 'etc/nova_lite/nova-lite-config-generator.conf'), '_generated/nova-lite'),
]
sample_config_basename = None
policy_generator_config_file = [
    (str(TOP / 'etc/nova_lite/nova-lite-policy-generator.conf'), '_generated/nova-lite'),
]

html_theme = 'furo'
html_title = project
html_show_copyright = False
html_static_path = ['_static']
html_css_files = ['custom.css']
pygments_style = 'friendly'


def setup(app):
    app.connect('html-page-context', _collapse_tree, priority=100)


def _collapse_tree(_app, _page, *more):
    """Show beside a page the pages of its own part. All beside each took a third of a build."""
    context = more[1]
    if 'toctree' in context:
        tree = context['toctree']
        context['toctree'] = lambda **options: tree(**{**options, 'collapse': True})
