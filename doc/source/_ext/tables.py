"""Tables made from code and data: operations, transitions, sagas, packages, budgets, results."""

import ast
import collections
import json
import pathlib

from sphinx.util import docutils
import yaml

import nova_lite
from nova_lite import states
from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import page
from nova_lite.moves import kinds
from nova_lite.states import nova_failures
from nova_lite.states import repairs
from nova_lite.states import transitions
from tools.api_pages import coverage
from tools.api_pages import operations


class Operations(docutils.SphinxDirective):
    """``.. api-operations::``: every operation in the registry."""

    def run(self):
        return self.parse_text_to_nodes(coverage.table())


class Reference(docutils.SphinxDirective):
    """``.. api-reference::``: a section for each operation."""

    def run(self):
        name = pathlib.Path(self.env.srcdir) / 'reference' / 'api-samples.json'
        self.env.note_dependency(name)
        page = operations.page(json.loads(name.read_text()))
        return self.parse_text_to_nodes(page, allow_section_headings=True)


class Transitions(docutils.SphinxDirective):
    """``.. transitions::``: every row of the transition table."""

    def run(self):
        lines = ['.. list-table::', '   :header-rows: 1', '']
        for row in (('Constant', 'Action', 'From', 'While task', 'Sets task', 'Ends in'), *_rows()):
            for position, text in enumerate(row):
                lines.append('   %s - %s' % (' ' if position else '*', text))
        return self.parse_text_to_nodes('\n'.join(lines))


def _rows():
    for name, value in vars(transitions).items():
        if isinstance(value, transitions.Transition):
            yield (
                name,
                value.verb,
                _states(value.vm_states, states.VmState),
                _states(value.task_states, (None, *states.TaskState)),
                value.during or '',
                value.after or '',
            )


def _states(values, every):
    if values is None:
        return 'any'
    missing = [value for value in every if value not in values]
    if len(missing) < len(values) / 2:
        return f'any but {_names(missing)}'
    return _names(values)


def _names(values):
    return ', '.join('none' if value is None else str(value) for value in values)


class NovaFailures(docutils.SphinxDirective):
    """``.. nova-failures::``: every row of the table of failures that nova leaves."""

    def run(self):
        titles = ('Failure', 'By default', 'As in nova', 'States', 'May stay behind', 'Repair')
        lines = ['.. list-table::', '   :header-rows: 1', '   :widths: 18 22 22 12 10 16', '']
        for row in (titles, *map(_of_failure, nova_failures.FAILURES)):
            for position, text in enumerate(row):
                lines.append('   %s - %s' % (' ' if position else '*', text))
        return self.parse_text_to_nodes('\n'.join(lines))


def _of_failure(failure):
    found = [f'server {failure.vm_state}' if failure.vm_state else 'server as before']
    found += ['task kept'] if failure.keeps_task else []
    found += [f'migration {failure.migration}'] if failure.migration else []
    steps = ', '.join(f'``{step}``' for step in failure.steps)
    where = f': {", ".join(failure.kinds)} at {steps}' if failure.kinds else ''
    return (
        f'{failure.title} (``{failure.name}``){where}',
        failure.here,
        f'{failure.nova} (Known from: {failure.known}.)',
        ', '.join(found),
        ', '.join(f'{left.what} ({left.invariant})' for left in failure.left) or 'nothing',
        ', '.join(f'``{command}``' for command in failure.repair),
    )


class Repairs(docutils.SphinxDirective):
    """``.. repairs::``: every row of the table of repairs by the states of servers."""

    def run(self):
        lines = ['.. list-table::', '   :header-rows: 1', '   :widths: 45 55', '']
        for row in (('State', 'Commands'), *map(_of_repair, repairs.REPAIRS)):
            for position, text in enumerate(row):
                lines.append('   %s - %s' % (' ' if position else '*', text))
        return self.parse_text_to_nodes('\n'.join(lines))


def _of_repair(repair):
    commands = ', '.join(f'``{command}``' for command in repair.commands)
    return f'{repair.title} (``{repair.name}``)', commands or 'none'


class Sagas(docutils.SphinxDirective):
    """``.. sagas::``: the steps of each kind of saga, for each way that it may go."""

    def run(self):
        made = []
        for kind in kinds.KINDS:
            lines = [kind, '=' * len(kind), '']
            for plan in kinds.plans(kind):
                lines += ['.. list-table::', '   :header-rows: 1', '   :widths: 40 20 12 28', '']
                for row in (('Step', 'Where', 'Back', 'Asks hosts for'), *map(_of_step, plan)):
                    for position, text in enumerate(row):
                        lines.append('   %s - %s' % (' ' if position else '*', text))
                lines.append('')
            made += self.parse_text_to_nodes('\n'.join(lines), allow_section_headings=True)
        return made


def _of_step(step):
    where = f'{step.at.daemon} ({step.at.end})' if step.at.end else step.at.daemon
    back = '**pivot**' if step.pivot else 'undone' if step.undo else ''
    if step.best_effort:
        back = f'given up after {step.attempts}'
    if step.clean:
        back += ', duty' if back else 'duty'
    return (
        f'{step.title} (``{step.id}``)',
        where,
        back,
        ', '.join(f'``{name}``' for name in step.calls),
    )


class Drills(docutils.SphinxDirective):
    """``.. drills::``: a section for each drill of ``nova-lite scenario``."""

    def run(self):
        self.env.note_dependency(str(pathlib.Path(drills.__file__).parent / drills.DIRECTORY))
        sections = '\n'.join(page.section(drills.read(name)) for name in drills.names())
        return self.parse_text_to_nodes(sections, allow_section_headings=True)


class Packages(docutils.SphinxDirective):
    """``.. packages::``: packages and modules of the top and of the lab, by their docstrings."""

    def run(self):
        top = pathlib.Path(nova_lite.__file__).parent
        self.env.note_dependency(str(top))
        lines = ['.. list-table::', '   :widths: 20 80', '']
        packages = (*top.glob('*/__init__.py'), *top.glob('lab/*/__init__.py'))
        for path in sorted((*top.glob('*.py'), *packages)):
            name = path.stem if path.parent == top else f'{path.parent.relative_to(top)}/'
            if name != '__init__':
                doc = ast.get_docstring(ast.parse(path.read_text())).partition('\n\n')[0]
                lines += [f'   * - ``{name}``', f'     - {" ".join(doc.split())}']
        return self.parse_text_to_nodes('\n'.join(lines))


class Budgets(docutils.SphinxDirective):
    """``.. budgets::``: what each move may cost, from the data that a test holds it to."""

    def run(self):
        path = pathlib.Path(self.env.srcdir) / 'reference' / 'budgets.yaml'
        self.env.note_dependency(str(path))
        lines = ['.. list-table::', '   :header-rows: 1', '']
        rows = [
            (
                'Move',
                'Transactions that write',
                'Transactions that read',
                'Statements',
                'Messages',
                'Requests to placement',
                'Requests to other services',
            )
        ]
        for name, budget in yaml.safe_load(path.read_text()).items():
            budget['messages'] = collections.Counter(budget['messages'])
            kinds = ('writes', 'reads', 'statements', 'messages', 'placement', 'neighbours')
            rows.append((name, *(_counts(budget[kind]) for kind in kinds)))
        for row in rows:
            for position, text in enumerate(row):
                lines.append('   %s - %s' % (' ' if position else '*', text))
        return self.parse_text_to_nodes('\n'.join(lines))


def _counts(counts):
    if not counts:
        return '–'
    found = ', '.join(f'{count} {name}' for name, count in counts.items())
    return f'**{sum(counts.values())}**: {found}'


class Tempest(docutils.SphinxDirective):
    """``.. tempest::``: the tests that do not pass, by reason, from the data of the comparison."""

    def run(self):
        content = _read(self.env, 'tempest.yaml')
        first = f'Tempest {content["tempest"]} has {content["tests"]} compute tests: '
        lines = [first + _counted(content), '']
        return self.parse_text_to_nodes('\n'.join([*lines, *_not_passing(content)]))


class Suites(docutils.SphinxDirective):
    """``.. suites:: FILE``: the same for each suite in a file."""

    required_arguments = 1

    def run(self):
        made = []
        for name, suite in _read(self.env, self.arguments[0]).items():
            covers = [' '.join(suite['covers'].split()), ''] if 'covers' in suite else []
            when = f' on {suite["date"]}' if 'date' in suite else ''
            first = f'Of {suite["tests"]} tests of version {suite["version"]}{when} '
            lines = [name, '=' * len(name), '', *covers, first + _counted(suite), '']
            text = '\n'.join([*lines, *_not_passing(suite)])
            made += self.parse_text_to_nodes(text, allow_section_headings=True)
        return made


def _read(env, name):
    path = pathlib.Path(env.srcdir) / 'reference' / name
    env.note_dependency(str(path))
    return yaml.safe_load(path.read_text())


def _counted(content):
    """Return how many tests have which result, as the end of a sentence."""
    counts = collections.Counter()
    for group in content['not_passing']:
        counts[group['result']] += len(group['tests'])
    passed = content['tests'] - counts.total()
    return f'{passed} pass, {counts["fail"]} fail, {counts["skip"]} are skipped.'


def _not_passing(content):
    """Return the lines of a table of tests by reason; none if all pass."""
    if not content['not_passing']:
        return []
    lines = ['.. list-table::', '   :header-rows: 1', '   :widths: 10 40 50', '']
    rows = [('Result', 'Reason', 'Tests')]
    for group in content['not_passing']:
        tests = ', '.join(f'``{name}``' for name in group['tests'])
        rows.append((group['result'], ' '.join(group['reason'].split()), tests))
    for row in rows:
        for position, text in enumerate(row):
            lines.append('   %s - %s' % (' ' if position else '*', text))
    return [*lines, '']


def setup(app):
    app.add_directive('api-operations', Operations)
    app.add_directive('api-reference', Reference)
    app.add_directive('budgets', Budgets)
    app.add_directive('drills', Drills)
    app.add_directive('nova-failures', NovaFailures)
    app.add_directive('packages', Packages)
    app.add_directive('repairs', Repairs)
    app.add_directive('sagas', Sagas)
    app.add_directive('suites', Suites)
    app.add_directive('tempest', Tempest)
    app.add_directive('transitions', Transitions)
    return {'parallel_read_safe': True}
