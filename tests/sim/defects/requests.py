"""Defects by which a request is refused, or done otherwise than asked, without any fault."""

from tests.sim.defects import defect

Defect = defect.Defect

DEFECTS = (
    Defect(
        'stop-does-nothing',
        'a server that is to be stopped is left alone, and the request is accepted',
        'power',
        (
            (
                'api/servers/power.py',
                '        carry_out(req, server, guard, method)',
                "        if action != 'os-stop':\n"
                '            carry_out(req, server, guard, method)',
            ),
        ),
    ),
    Defect(
        'move-refused-while-off',
        'a server that is off cannot be resized or migrated: 409',
        'mixed',
        (
            (
                'states/transitions.py',
                "    'resize',\n    (_V.ACTIVE, _V.STOPPED),",
                "    'resize',\n    (_V.ACTIVE,),",
            ),
        ),
    ),
    Defect(
        'quota-refuses-the-last',
        'the last server that a quota allows is refused: 403',
        'quota',
        (
            (
                'api/quota.py',
                'return max(limit - used, 0) // size',
                'return max(limit - used - 1, 0) // size',
            ),
        ),
    ),
    Defect(
        'abort-does-nothing',
        'the abort of a live migration is accepted and not carried out',
        'places',
        (
            (
                'api/servers/server_migrations.py',
                '        raise exception.MigrationNotFoundForInstance('
                'instance_id=server.uuid, migration_id=number)\n'
                '    recorded = _record(',
                '        raise exception.MigrationNotFoundForInstance('
                'instance_id=server.uuid, migration_id=number)\n'
                '    return\n'
                '    recorded = _record(',
            ),
        ),
    ),
    Defect(
        'migrate-ignores-the-named-host',
        'a server is migrated to the host that the scheduler prefers',
        'places',
        (
            (
                'api/servers/migrate.py',
                '            **wanted,\n',
                '',
            ),
        ),
    ),
    Defect(
        'resize-keeps-the-flavor',
        'a server that is resized moves with the flavor that it has',
        'places',
        (
            (
                'api/servers/resize.py',
                "'flavor': wanted,",
                "'flavor': row.flavor,",
            ),
        ),
    ),
    Defect(
        'move-starts-the-guest',
        'a cold move starts the guest of a server that is off',
        'mixed',
        (
            (
                'compute/cold.py',
                "                arrival['handover'],\n"
                "                key=arrival['key'],\n"
                "                power_on=arrival['power_on'],",
                "                arrival['handover'],\n"
                "                key=arrival['key'],\n"
                '                power_on=True,',
            ),
        ),
    ),
    Defect(
        'copy-without-tags',
        'the tags of a server that moves to another cell stay behind',
        'crossing',
        (
            (
                'db/cell/copies.py',
                'tags=children.tags(connection, [uuid]).get(uuid, []),',
                'tags=[],',
            ),
        ),
    ),
    Defect(
        'volumes-of-users-deleted',
        'a server on no host takes all its volumes with it, whatever delete_on_termination says',
        'boots',
        (
            (
                'clients/release.py',
                "if device['volume_id'] and device['delete_on_termination']",
                "if device['volume_id']",
            ),
        ),
    ),
    Defect(
        'ports-of-users-deleted',
        'a server that is deleted takes the ports with it that its client had made',
        'boots',
        (
            (
                'clients/network.py',
                "            if vif['preserve_on_delete']:\n                empty",
                '            if False:\n                empty',
            ),
        ),
    ),
)
