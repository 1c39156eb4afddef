"""The metrics, as the code declares them."""

from sphinx.util import docutils

from nova_lite import metrics
from nova_lite.daemons.monitoring import ceilometer
from nova_lite.daemons.monitoring import cloud
from nova_lite.daemons.monitoring import libvirt
from nova_lite.daemons.monitoring import node_exporter


class Metrics(docutils.SphinxDirective):
    """``.. metrics::``: every metric with its labels."""

    def run(self):
        return self.parse_text_to_nodes(_table(_rows()))


class LibvirtMetrics(docutils.SphinxDirective):
    """``.. libvirt-metrics::``: every metric of the guests of a host."""

    def run(self):
        rows = [*_rows_of(libvirt.GAUGES), *_rows_of(libvirt.COUNTERS, '_total')]
        return self.parse_text_to_nodes(_table(rows))


class CeilometerMetrics(docutils.SphinxDirective):
    """``.. ceilometer-metrics::``: those of guests that have names of Ceilometer."""

    def run(self):
        return self.parse_text_to_nodes(_table(_rows_of(ceilometer.GAUGES)))


class NodeMetrics(docutils.SphinxDirective):
    """``.. node-metrics::``: every metric of a host itself."""

    def run(self):
        rows = [
            *_rows_of(node_exporter.COUNTERS, '_total'),
            *_rows_of(node_exporter.GAUGES),
        ]
        return self.parse_text_to_nodes(_table(rows))


def _table(rows):
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in (('Metric', 'Labels', 'What it is'), *rows):
        for position, text in enumerate(row):
            lines.append('   %s - %s' % (' ' if position else '*', text))
    return '\n'.join(lines)


def _rows_of(table, suffix=''):
    for name, (text, labels) in table.items():
        yield f'``{name}{suffix}``', ', '.join(labels), text


def _rows():
    for each in metrics.DECLARED:
        (family,) = each.describe()
        yield f'``{family.name}``', ', '.join(each._labelnames), family.documentation
    yield from _rows_of(cloud.FAMILIES)


def setup(app):
    app.add_directive('metrics', Metrics)
    app.add_directive('libvirt-metrics', LibvirtMetrics)
    app.add_directive('ceilometer-metrics', CeilometerMetrics)
    app.add_directive('node-metrics', NodeMetrics)
    return {'parallel_read_safe': True}
