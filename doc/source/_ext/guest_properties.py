"""``.. guest-properties:: KIND``: effects of extra specs or image properties, from a file."""

import pathlib

from sphinx.util import docutils
import yaml

EFFECTS = {
    'placed': 'asks for other hosts or resources',
    'checked': 'a contradiction is refused; no effect on the guest',
    'none': 'none',
}


class GuestProperties(docutils.SphinxDirective):
    """The argument is a key of guest-properties.yaml."""

    required_arguments = 1

    def run(self):
        name = pathlib.Path(self.env.srcdir) / 'reference' / 'guest-properties.yaml'
        self.env.note_dependency(name)
        listed = yaml.safe_load(name.read_text())[self.arguments[0]]
        lines = ['.. list-table::', '   :header-rows: 1', '   :widths: 35 35 30', '']
        for row in (('Name', 'Effect', 'Example'), *map(_row, listed.items())):
            for position, text in enumerate(row):
                lines.append(f'   {" " if position else "*"} - {text}')
        return self.parse_text_to_nodes('\n'.join(lines))


def _row(item):
    name, entry = item
    if entry == 'none' or 'here' in entry:
        effect = EFFECTS['none'] if entry == 'none' else entry['here']
        return f'``{name}``', effect, ''
    ((kind, values),) = ((key, value) for key, value in entry.items() if key != 'with')
    values = {**values, **entry.get('with', {})}
    example = ', '.join(f'``{key}={value}``' for key, value in values.items())
    return f'``{name}``', EFFECTS[kind], example


def setup(app):
    app.add_directive('guest-properties', GuestProperties)
    return {'parallel_read_safe': True}
