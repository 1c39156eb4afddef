"""Tables made from the code: the operations of the API and the transitions of servers."""

from sphinx.util import docutils

from nova_lite import states
from nova_lite.api import coverage


class Operations(docutils.SphinxDirective):
    """``.. api-operations::``: every operation in the registry."""

    def run(self):
        return self.parse_text_to_nodes(coverage.table())


class Transitions(docutils.SphinxDirective):
    """``.. transitions::``: every row of the transition table."""

    def run(self):
        lines = ['.. list-table::', '   :header-rows: 1', '']
        for row in (('Constant', 'Action', 'From', 'While task', 'Sets task', 'Ends in'), *_rows()):
            for position, text in enumerate(row):
                lines.append('   %s - %s' % (' ' if position else '*', text))
        return self.parse_text_to_nodes('\n'.join(lines))


def _rows():
    for name, value in vars(states).items():
        if isinstance(value, states.Transition):
            yield (
                name,
                value.verb,
                _states(value.vm_states),
                _states(value.task_states),
                value.during or '',
                value.after or '',
            )


def _states(values):
    if values is None:
        return 'any'
    return ', '.join('none' if value is None else str(value) for value in values)


def setup(app):
    app.add_directive('api-operations', Operations)
    app.add_directive('transitions', Transitions)
    return {'parallel_read_safe': True}
