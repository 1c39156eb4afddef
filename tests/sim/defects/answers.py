"""Defects that refusals of neighbours, lost cells, administrators and restores show."""

from tests.sim.defects import defect

Defect = defect.Defect

DEFECTS = (
    Defect(
        'refused-unshelves-in-error',
        'an unshelve whose ports the network service refuses leaves the server in ERROR on no host',
        'refused',
        (('moves/unshelve.py', 'harmless = (BIND, SPAWN,', 'harmless = (SPAWN,'),),
    ),
    Defect(
        'unreserved-unshelves-in-error',
        'an unshelve whose reservations Cinder cannot delete leaves the server in ERROR on no host',
        'neighbours',
        (
            (
                'moves/parts/volumes.py',
                '            harmless=True,\n',
                '',
            ),
        ),
    ),
    Defect(
        'offloads-wait-for-stuck-volumes',
        'the duty of an offload never ends while a volume has a status of work',
        'owners',
        (
            (
                'moves/parts/volumes.py',
                '            except (exception.VolumeNotFound, exception.VolumeNotUsable) as error:\n',
                '            except ZeroDivisionError as error:\n',
            ),
        ),
    ),
    Defect(
        'forbidden-requests-answered-500',
        'a request is answered 500 if a neighbour forbids a request of ours for it',
        'refused',
        (
            (
                'clients/session.py',
                'if status == 403 or (status == 401 and as_user):',
                'if status in (401, 403) and as_user:',
            ),
        ),
    ),
    Defect(
        'failed-arrivals-completed',
        'a live migration whose last step fails has the status of one that succeeded',
        'refused',
        (
            (
                'moves/live_migrate.py',
                'Status.ERROR if failure else Status.COMPLETED',
                'Status.COMPLETED',
            ),
        ),
    ),
    Defect(
        'ports-of-devices-accepted',
        'a server is built on a host that lacks the device of its port',
        'refused',
        (
            (
                'lifecycle/guests/port_requests.py',
                'if kind not in port_devices.TYPES or wanted is None:',
                'if found is not None:',
            ),
        ),
    ),
    Defect(
        'device-profiles-accepted',
        'a server is built on a host without accelerators, which its flavor asks for',
        'refused',
        (
            (
                'scheduler/scheduling_request.py',
                "return f'no accelerator service for device profile {profile}' if profile else None",
                'return None',
            ),
        ),
    ),
    Defect(
        'lost-cells-fail-builds',
        'a build or move fails if the only hosts for it are in a cell whose database does not answer',
        'blackouts',
        (
            (
                'scheduler/decide.py',
                'if self.snapshot.missing and self._wants_missing():',
                'if False:',
            ),
        ),
    ),
    Defect(
        'detachments-need-volumes',
        'a detachment is undone if the owner deletes the volume before it is marked',
        'owners',
        (
            (
                'moves/detach_volume.py',
                'except exception.VolumeNotFound as error:',
                'except ZeroDivisionError as error:',
            ),
        ),
    ),
    Defect(
        'images-need-all-volumes',
        'no image is made of a server one of whose further volumes was deleted',
        'owners',
        (('moves/volume_image.py', "if device['boot_index'] == 0:", 'if True:'),),
    ),
    Defect(
        'resets-take-back-deletions',
        'a server whose state is reset is ACTIVE, though its deletion was accepted',
        'administrators',
        (
            (
                'api/servers/reset_state.py',
                'if not stays:',
                'if False:',
            ),
        ),
    ),
    Defect(
        'reset-builds-forgotten',
        'a server whose state is reset during its build stays without a guest after a restart',
        'builds',
        (
            (
                'conductor/host_reports.py',
                'row.task_state in transitions.HOST_TASKS or reset_builds.continues(row)',
                'row.task_state in transitions.HOST_TASKS',
            ),
        ),
    ),
    Defect(
        'consoles-while-migrating',
        'a console is opened while its server migrates',
        'pinned',
        (
            (
                'states/transitions.py',
                '(None, *(task for task in _T if task not in (_T.DELETING, _T.MIGRATING))),',
                '(None, *_T),',
            ),
        ),
    ),
    Defect(
        'former-shelved-images-left',
        'the image of a shelving stays, after the state was reset and the server shelved again',
        'administrators',
        (
            (
                'moves/shelve.py',
                '*((self._dropping(),) if self.arguments.former else ()),',
                '',
            ),
        ),
    ),
    Defect(
        'reboots-create-guests-that-sagas-remove',
        'a hard reboot begins while a saga whose task was reset removes the guest',
        'administrators',
        (('api/servers/reboot.py', 'moves.await_end(req, server)', 'pass'),),
    ),
    Defect(
        'arrived-guests-dropped',
        'a guest that was handed over and could not be started is refused a reboot, and dropped',
        'refused',
        (
            ('compute/move_audit.py', 'arrived = guest.last_move == newest', 'arrived = False'),
            (
                'compute/power.py',
                'if guest.role not in move_audit.LEFT:',
                'if guest.role is not model.Role.DEPARTED:',
            ),
        ),
    ),
    Defect(
        'resets-leave-waiting-moves',
        'a resize whose server is reset is never confirmed, and the source keeps its guest',
        'waiting',
        (
            (
                'api/servers/confirm_revert.py',
                '    try:\n        migration = finished(server)\n        uuid =',
                '    try:\n        raise NotResized()\n        uuid =',
            ),
            (
                'superconductor/audits/auto_confirm.py',
                'elif transitions.CONFIRM_RESET.may_start(row.vm_state, row.task_state):',
                'elif False:',
            ),
        ),
    ),
    Defect(
        'times-pass-for-saved-states',
        'what waits for a time is due as soon as a state that was saved long ago is restored',
        'waiting',
        (
            (
                'lab/launcher/stored_times.py',
                'return [*_columns(CELL, seconds), (SHELVED, _modifier(seconds))]',
                "return _columns({'services': CELL['services']}, seconds)",
            ),
        ),
    ),
)
