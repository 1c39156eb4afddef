"""The metrics, as the code declares them."""

from sphinx.util import docutils

from nova_lite import metrics
from nova_lite.daemons.monitoring import cloud


class Metrics(docutils.SphinxDirective):
    """``.. metrics::``: every metric with its labels."""

    def run(self):
        lines = ['.. list-table::', '   :header-rows: 1', '']
        for row in (('Metric', 'Labels', 'What it is'), *_rows()):
            for position, text in enumerate(row):
                lines.append('   %s - %s' % (' ' if position else '*', text))
        return self.parse_text_to_nodes('\n'.join(lines))


def _rows():
    for each in metrics.DECLARED:
        (family,) = each.describe()
        yield f'``{family.name}``', ', '.join(each._labelnames), family.documentation
    for name, (text, labels) in cloud.FAMILIES.items():
        yield f'``{name}``', ', '.join(labels), text


def setup(app):
    app.add_directive('metrics', Metrics)
    return {'parallel_read_safe': True}
