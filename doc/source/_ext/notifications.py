"""The notifications and their payloads, as tables and a sample, from the code."""

import datetime
import json
import types

from oslo_versionedobjects import fields
from sphinx.util import docutils

from nova_lite import conf as conf_module
from nova_lite.db import notes
from nova_lite.lifecycle.guests import spec_parts
from nova_lite.notify import derive
from nova_lite.notify import envelope
from nova_lite.notify import from_records
from nova_lite.notify import payloads
from nova_lite.notify import watch

AT = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
UUID = '3d0b8a4e-6a4c-4f0e-9f5e-0c6a3f8f2b11'
REQUEST = 'req-5f0a7c3e-1d2b-4c55-8d0c-6f1e2a3b4c5d'


class Types(docutils.SphinxDirective):
    """``.. notification-types::``: every event type."""

    def run(self):
        rows = [('Event type', 'Payload', 'Published by')]
        for name, (kind, publisher) in derive.every_type().items():
            rows.append((f'``{name}``', f':ref:`{kind.__name__} <{_label(kind)}>`', publisher))
        return self.parse_text_to_nodes(_table(rows))


class Payloads(docutils.SphinxDirective):
    """``.. notification-payloads::``: the fields of every payload."""

    def run(self):
        text = []
        for name, kind in sorted(payloads.ALL.items()):
            text += [f'.. _{_label(kind)}:', '', f'{name} {kind.VERSION}', '-' * (len(name) + 6)]
            own = {} if kind.__doc__ == payloads.Payload.__doc__ else {'': kind.__doc__}
            text += ['', *(each or '' for each in own.values()), '']
            rows = [('Field', 'Type')]
            rows += [(f'``{field}``', _type(of)) for field, of in sorted(kind.fields.items())]
            text += [_table(rows), '']
        return self.parse_text_to_nodes('\n'.join(text), allow_section_headings=True)


class Sample(docutils.SphinxDirective):
    """``.. notification-sample::``: a message as it is on the bus, made by the code."""

    def run(self):
        text = json.dumps(sample(), indent=2, sort_keys=True)
        lines = ['.. code-block:: json', '', *(f'   {line}' for line in text.splitlines())]
        return self.parse_text_to_nodes('\n'.join(lines))


def sample():
    """instance.resize.end of a move between cells."""
    conf = conf_module.make_conf(files=[])
    conf.set_override('host', 'controller')
    facts = {'event': 'compute_resize_instance', 'phase': 'end', 'host': 'cell1-host1'}
    server = from_records.Server(
        row=types.SimpleNamespace(**_columns()),
        devices=[],
        shares=None,
        tags=[],
        migration=types.SimpleNamespace(cross_cell_move=True, source_compute='cell1-host1'),
        asked=types.SimpleNamespace(action='resize', user_id='user', project_id='project'),
        request_id=REQUEST,
    )
    change = watch.Change(notes.Note('event', facts, AT), server)
    builder = envelope.Builder(conf, spec_parts.of_record)
    ((_host, body, _legacy),) = builder.bodies(change)
    return {**body, 'message_id': UUID}


def _columns():
    nothing = dict.fromkeys(
        (
            'display_description',
            'os_type',
            'architecture',
            'key_name',
            'kernel_id',
            'ramdisk_id',
            'terminated_at',
            'deleted_at',
            'locked_reason',
        )
    )
    flavor = {'flavorid': '1', 'name': 'm1.tiny', 'vcpus': 1, 'memory_mb': 512, 'root_gb': 1}
    flavor |= {'ephemeral_gb': 0, 'swap': 0, 'rxtx_factor': 1.0, 'disabled': False}
    flavor |= {'is_public': True, 'extra_specs': {}, 'description': None}
    return {
        **nothing,
        'id': 1,
        'uuid': UUID,
        'user_id': 'user',
        'project_id': 'project',
        'reservation_id': 'r-1',
        'display_name': 'server',
        'hostname': 'server',
        'host': 'cell1-host1',
        'node': 'cell1-host1',
        'availability_zone': 'nova',
        'created_at': AT,
        'launched_at': AT,
        'updated_at': AT,
        'vm_state': 'active',
        'task_state': 'resize_migrating',
        'power_state': 1,
        'progress': 0,
        'locked': False,
        'flavor': flavor,
        'network_info': [],
        'metadata': {},
        'auto_disk_config': False,
        'image_ref': UUID,
    }


def _label(kind):
    return 'payload-' + kind.__name__.lower()


def _type(field):
    kind = type(field).__name__.removesuffix('Field')
    inner = field.objname if isinstance(field, fields.ObjectField) else None
    if isinstance(field, fields.ListOfObjectsField):
        inner = field.objname
    text = f'{kind} of {inner}' if inner else kind
    return f'{text} or null' if field.nullable else text


def _table(rows):
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in rows:
        for position, text in enumerate(row):
            lines.append('   %s - %s' % (' ' if position else '*', text))
    return '\n'.join(lines)


def setup(app):
    app.add_directive('notification-types', Types)
    app.add_directive('notification-payloads', Payloads)
    app.add_directive('notification-sample', Sample)
    return {'parallel_read_safe': True}
