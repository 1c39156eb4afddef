"""The metrics, as the code declares them."""

from sphinx.util import docutils

from nova_lite import metrics
from nova_lite.daemons.monitoring import cloud
from nova_lite.daemons.monitoring import libvirt


class Metrics(docutils.SphinxDirective):
    """``.. metrics::``: every metric with its labels."""

    def run(self):
        return self.parse_text_to_nodes(_table(_rows()))


class LibvirtMetrics(docutils.SphinxDirective):
    """``.. libvirt-metrics::``: every metric of the guests of a host."""

    def run(self):
        return self.parse_text_to_nodes(_table(_rows_of_guests()))


def _table(rows):
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in (('Metric', 'Labels', 'What it is'), *rows):
        for position, text in enumerate(row):
            lines.append('   %s - %s' % (' ' if position else '*', text))
    return '\n'.join(lines)


def _rows_of_guests():
    for suffix, table in (('', libvirt.GAUGES), ('_total', libvirt.COUNTERS)):
        for name, (text, labels) in table.items():
            yield f'``{name}{suffix}``', ', '.join(labels), text


def _rows():
    for each in metrics.DECLARED:
        (family,) = each.describe()
        yield f'``{family.name}``', ', '.join(each._labelnames), family.documentation
    for name, (text, labels) in cloud.FAMILIES.items():
        yield f'``{name}``', ', '.join(labels), text


def setup(app):
    app.add_directive('metrics', Metrics)
    app.add_directive('libvirt-metrics', LibvirtMetrics)
    return {'parallel_read_safe': True}
