"""Defects that only owners, administrators and a bus that does not answer show."""

from tests.sim.defects import defect
from tests.sim.workload import administrators

Defect = defect.Defect

# Ports that their owners have deleted, or given to others, are bound and unbound as before.
FOREIGN_PORTS = (
    (
        'clients/owned_ports.py',
        "        return {port['id'] for port in ports if port['device_id'] == self._server_uuid}",
        "        return {*ids} | {port['id'] for port in ports}",
    ),
)
# An event about a port of a server with a task is dropped.
UNFOLLOWED = (
    'lifecycle/port_changes.py',
    '    noted = is_busy(world, row)\n',
    '    if row.task_state is not None:\n        return\n    noted = False\n',
)
# No audit compares the ports of servers with those of the network service.
UNHEALED = (
    'superconductor/audits/port_changes.py',
    '        searches.each(\n'
    '            self._world.cells.every(cell0=False), self._heal, '
    "what='ports that have changed'\n"
    '        )\n',
    '        return\n',
)
# Raises PortBindingFailed for a port of `vifs` that does not exist, and does nothing otherwise.
STRICT = (
    '[scope.world.network.bindings._create(scope.ctxt, vif, host, None) for vif in {vifs} or ()]'
)

DEFECTS = (
    Defect(
        'moves-need-deleted-ports',
        'a server cannot be moved or evacuated after a port of it was deleted',
        'owners',
        (*FOREIGN_PORTS, UNFOLLOWED),
    ),
    Defect(
        'cells-need-deleted-ports',
        'the same of moves between cells: a revert never ends, and an undo leaves an error',
        'owners in cells',
        FOREIGN_PORTS,
    ),
    Defect(
        'arrivals-need-deleted-ports',
        'a live migration does not end, nor does its duty, after a port was deleted',
        'owners',
        (
            UNFOLLOWED,
            UNHEALED,
            (
                'moves/parts/ports.py',
                '        info = self._activate(self._route.dest.host)\n',
                '        scope, host = self.scope, self._route.dest.host\n'
                '        row = scope.find_present()\n'
                f'        row is None or {STRICT.format(vifs="row.network_info")}\n'
                '        info = self._activate(host)\n',
            ),
            (
                'moves/duties.py',
                '        info = neighbours.activate(scope, row.network_info, row.host)\n',
                '        host = row.host\n'
                f'        {STRICT.format(vifs="row.network_info")}\n'
                '        info = neighbours.activate(scope, row.network_info, row.host)\n',
            ),
        ),
    ),
    Defect(
        'reverts-need-deleted-ports',
        'a revert between cells never ends after a port was deleted',
        'owners in cells',
        (
            UNFOLLOWED,
            UNHEALED,
            (
                'moves/parts/cross_cell_revert.py',
                'lambda host: neighbours.activate(scope, info, host),',
                f'lambda host: {STRICT.format(vifs="info")}'
                ' and neighbours.activate(scope, info, host),',
            ),
        ),
    ),
    Defect(
        'undo-needs-deleted-ports',
        'a move fails after a port was deleted, and its undo too: the server is in ERROR',
        'owners in cells',
        (
            UNFOLLOWED,
            UNHEALED,
            (
                'moves/parts/ports.py',
                '        return neighbours.activate(scope, row.network_info, host)\n',
                f'        {STRICT.format(vifs="row.network_info")}\n'
                '        return neighbours.activate(scope, row.network_info, host)\n',
            ),
        ),
    ),
    Defect(
        'kept-only-in-some-states',
        'a shelved or soft-deleted server that is deleted is gone for good',
        'kept',
        (
            (
                'api/servers/delete.py',
                '        states.VmState.SHELVED_OFFLOADED,\n',
                '        states.VmState.SHELVED_OFFLOADED,\n'
                '        states.VmState.SHELVED,\n'
                '        states.VmState.SOFT_DELETED,\n',
            ),
        ),
    ),
    Defect(
        'kept-only-on-hosts-that-answer',
        'a server that is deleted while its host is down is gone for good',
        'kept',
        (
            (
                'api/servers/delete.py',
                '    if keep_s and _is_kept(server) and',
                '    if keep_s and answers and _is_kept(server) and',
            ),
        ),
    ),
    Defect(
        'offloads-forget-deletions',
        'a server that is kept is deleted while an offload destroys its guest, and stays for good',
        'kept',
        (
            ('api/servers/delete.py', ', states.TaskState.SHELVING_OFFLOADING)\n', ',)\n'),
            (
                'moves/parts/offload.py',
                '        if row.deleted_at is not None:\n',
                '        if False:\n',
            ),
        ),
    ),
    Defect(
        'guests-keep-lost-volumes',
        'a volume whose attachment is deleted while a guest is made is dropped from the record only',
        'owners',
        (('compute/arrivals.py', '        if device.volume_id not in plugged\n', ''),),
    ),
    Defect(
        'replugs-forget-lost-volumes',
        'a volume that lost its attachment before a reboot ended is dropped from the record only',
        'owners',
        (
            (
                'moves/parts/guest_devices.py',
                '            return self.reconcile_volumes(*volume_ids, freed=freed, **options)\n',
                '            return None\n',
            ),
        ),
    ),
    Defect(
        'archive-takes-servers-of-sagas',
        'the records of a deleted server are archived while a saga works on it, which never ends',
        'administrators',
        (
            (
                'manage/archive.py',
                '        found = deployment.api_db.read(_busy, uuids)\n',
                '        found = set()\n',
            ),
        ),
    ),
    Defect(
        'backups-deleted-first',
        'the older backups are deleted before there is a new one',
        'owners',
        (
            ('clients/backups.py', 'backups[order.rotation :]', 'backups[order.rotation - 1 :]'),
            (
                'compute/images.py',
                '    remarks = []\n    try:\n        fill = ',
                '    remarks = yield from _rotate(site, ctxt, instance)\n    try:\n        fill = ',
            ),
            (
                'compute/images.py',
                '    remarks += yield from _rotate(site, ctxt, instance)\n',
                '',
            ),
        ),
    ),
    Defect(
        'snapshots-of-volumes-left',
        'an image of volumes that cannot be made leaves the snapshots that were made for it',
        'refused',
        (
            (
                'moves/volume_image.py',
                'TAKE, self.take, self.drop, clean=saga.Clean(self.drop_late))',
                'TAKE, self.take)',
            ),
        ),
    ),
    Defect(
        'volumes-of-two-servers',
        'a volume that was declared free is attached to a second server',
        'owners',
        (('api/servers/volume_owners.py', '    if servers:\n', '    if False:\n'),),
    ),
    Defect(
        'lost-attachments-kept',
        'a volume whose attachment is gone stays at its server, also after a reboot',
        'owners',
        (
            (
                'api/servers/reboot.py',
                '        lost_attachments.settle(req, server)',
                '        pass',
            ),
        ),
    ),
    Defect(
        'lost-providers-not-registered',
        'a provider, inventory or trait that placement lost is not registered again',
        'administrators',
        (
            (
                'compute/comparison.py',
                '        return missing.union(some).intersection(registered)',
                '        return set()',
            ),
        ),
    ),
    Defect(
        'deleted-services-come-back-alone',
        'the service of a host that was deleted comes back without a node and a provider',
        'administrators',
        (
            (
                'compute/heartbeat.py',
                'starting = [host for host in hosts if host not in self._started]',
                'starting = list(hosts)',
            ),
            (
                'compute/heartbeat.py',
                '        if started and not self._is_coming_up():',
                '        if False:',
            ),
        ),
    ),
    Defect(
        'evacuated-hosts-not-deleted',
        'a host cannot be deleted while servers live that were evacuated from it',
        'administrators',
        (
            (
                'api/service_removal.py',
                'evacuated = _evacuated(req, host) if any(held.values()) else set()',
                'evacuated = set()',
            ),
        ),
    ),
    Defect(
        'guests-of-reset-servers-destroyed',
        'the guest of a server is destroyed that was reset to active while it was shelved',
        'administrators',
        (
            (
                'moves/destroying.py',
                '    try:\n        scope.require_task(row)\n',
                '    try:\n        pass\n',
            ),
            (
                'moves/parts/offload.py',
                '        if row.host != self._host.host:\n',
                '        if row.host != self._host.host or row.task_state not in scope.tasks:\n',
            ),
        ),
    ),
    Defect(
        'archive-forgets-half',
        'an archive that is killed leaves the mappings and requests of the servers it moved',
        'administrators',
        (
            (
                'manage/archive.py',
                'archive.archive, args.max_rows, before, forget, busy)',
                'archive.archive, args.max_rows, before, busy=busy)\n        forget(uuids)',
            ),
        ),
    ),
    Defect(
        'ports-followed-at-rest-only',
        'what owners do to ports while their server has a task is not followed',
        'owners',
        (
            UNFOLLOWED,
            UNHEALED,
        ),
    ),
    Defect(
        'former-nodes-keep-names',
        'the provider of a former node keeps the name of a host whose service was deleted',
        'administrators',
        (('compute/inventory.py', '        if former != uuid:\n', '        if False:\n'),),
        (administrators.DELETE_SERVICE, 'hosts_off'),
    ),
    Defect(
        'guests-keep-lost-ports',
        'a guest keeps a port that its owner took back, without an event, while a saga made the guest',
        'owners in cells',
        (('superconductor/manager.py', '        self._guest_ports.run()\n', ''),),
    ),
    Defect(
        'hosts-down-while-their-bus-is-silent',
        'hosts count as down that could not be heard, and what waits for them fails',
        'silent',
        (
            (
                'db/cell/services.py',
                'deaf_s = max(0.0, age_s - down_time_s * DEAF)',
                'deaf_s = 0.0 * age_s',
            ),
            (
                'db/cell/services.py',
                '    if service.disabled or service.forced_down or is_up(service, down_time_s):\n'
                '        return None\n'
                '    return SILENT',
                '    if True:\n        return None\n    return SILENT',
            ),
        ),
    ),
    Defect(
        'requests-wait-for-a-silent-bus',
        'a request that casts waits until the bus takes the cast',
        'silent',
        (
            (
                'rpc/interface.py',
                '        if is_call or self._casts is None:\n',
                '        if True:\n',
            ),
            (
                'rpc/connection.py',
                'timeout = min(self._publish_timeout_s, timeout or self._publish_timeout_s)',
                'timeout = 90.0',
            ),
        ),
    ),
)
