"""The checks of ``nova-lite verify``, by invariant, as their docstrings say."""

from sphinx.util import docutils

from nova_lite.verify import invariants


class Invariants(docutils.SphinxDirective):
    """``.. invariants::``: every check with the invariant it is of."""

    def run(self):
        lines = ['.. list-table::', '   :header-rows: 1', '   :widths: 10 90', '']
        for row in (('Invariant', 'What is checked'), *sorted(_rows())):
            for position, text in enumerate(row):
                lines.append('   %s - %s' % (' ' if position else '*', text))
        return self.parse_text_to_nodes('\n'.join(lines))


def _rows():
    for check in invariants.every():
        names, _colon, text = check.__doc__.strip().partition('\n')[0].partition(': ')
        yield names, text[0].upper() + text[1:]


def setup(app):
    app.add_directive('invariants', Invariants)
    return {'parallel_read_safe': True}
