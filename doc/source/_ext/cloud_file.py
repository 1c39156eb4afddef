"""The reference of the file that describes a cloud, made from its JSON Schema."""

from sphinx.util import docutils

from nova_lite.lab.launcher.cloud_file import schema

TYPES = {
    'string': 'text',
    'integer': 'whole number',
    'boolean': 'true or false',
    'array': 'list',
    'object': 'mapping',
}


class CloudFile(docutils.SphinxDirective):
    """``.. cloud-file::``: a table for the whole file, and one for each mapping in it."""

    def run(self):
        return self.parse_text_to_nodes('\n'.join(_lines()), allow_section_headings=True)


def _lines():
    yield from _section('The whole file', schema.SCHEMA, 'All keys may be omitted.')
    for name, part in schema.PROPERTIES.items():
        inner = part.get('items', part)
        if inner.get('properties'):
            yield from _section(name, inner, _sentence(part['description']))
            yield from _below(name, inner)


def _below(name, part):
    """Yield the sections of the mappings in an entry."""
    for key, value in part['properties'].items():
        inner = value.get('items', value)
        if inner.get('properties'):
            text = value.get('description', 'an entry')
            yield from _section(f'{name}: {key}', inner, _sentence(text))


def _sentence(text):
    return f'{text[0].upper()}{text[1:]}.'


def _section(title, part, text):
    yield from (title, '=' * len(title), '', text, '')
    yield from ('.. list-table::', '   :header-rows: 1', '   :widths: 18 22 60', '')
    yield from _row('Key', 'Value', 'Meaning')
    for name, value in part['properties'].items():
        needed = ' (required)' if name in part.get('required', ()) else ''
        default = f'; {value["default"]} if omitted' if 'default' in value else ''
        meaning = value.get('description', '') + default
        yield from _row(f'``{name}``{needed}', _kind(value), meaning)
    yield ''


def _row(*cells):
    for number, cell in enumerate(cells):
        yield f'     - {cell}' if number else f'   * - {cell}'


def _kind(value):
    if 'const' in value:
        return str(value['const'])
    if 'enum' in value:
        return ', '.join(map(str, value['enum']))
    kinds = value['type'] if isinstance(value['type'], list) else [value['type']]
    text = ' or '.join(TYPES.get(kind, kind) for kind in kinds)
    limits = [
        f'{words} {value[key]}'
        for key, words in (('minimum', 'from'), ('exclusiveMinimum', 'above'), ('maximum', 'to'))
        if key in value
    ]
    return ' '.join([text, *limits])


def setup(app):
    app.add_directive('cloud-file', CloudFile)
    return {'parallel_read_safe': True}
