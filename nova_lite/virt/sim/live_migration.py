"""Effects of live migration at both ends; the copy itself is `precopy`'s.

The source's job is the copy. Its args in the store are all that it depends on:
    {ticket, speed, setup: s, params: {...}, post_copy: allowed?, force: [at, mode]|None,
     handover: {...}|None}
so where it stands follows from the clock alone.
"""

import json
import math
import sqlite3

from nova_lite import runtime
from nova_lite import states
from nova_lite.virt import model
from nova_lite.virt.sim import cold
from nova_lite.virt.sim import effects
from nova_lite.virt.sim import passwords
from nova_lite.virt.sim import plugged
from nova_lite.virt.sim import precopy
from nova_lite.virt.sim import store

Power = states.PowerState
Verb = model.Verb


# ---- the copy -------------------------------------------------------------


def prepare(work: effects.Work, settings: model.Json, speed: float) -> None:
    """Fix the parameters of a copy that begins now; refuse one that cannot begin.

    work.args: {ticket, block_migration}. settings: the profile's live migration
    parameters for this guest.
    """
    work.check_move()
    row = work.resident()
    power = row['power_state']
    if power not in (Power.RUNNING, Power.PAUSED):
        raise effects.Refused(
            'InstanceInvalidState', f'Guest {work.guest} on {work.node} is not running.'
        )
    if (work.args['ticket'].get('guest'), work.args['ticket'].get('move')) != (
        work.guest,
        work.subject,
    ):
        raise effects.Refused('InvalidTicket', 'The ticket is for another guest or move.')
    spec = json.loads(row['spec'])
    paused = power == Power.PAUSED
    disk_mb = spec['disk_gb'] * 1024 * settings['disk_fill']
    work.args = {
        'ticket': work.args['ticket'],
        'speed': speed,
        'setup': 0.0,
        'post_copy': settings['post_copy'],
        'force': None,
        'handover': None,
        'params': {
            'memory_mb': max(1, spec['memory_mb']),
            'disk_mb': disk_mb if work.args['block_migration'] else 0,
            'bandwidth_mb_s': settings['bandwidth_mb_s'],
            # A paused guest writes nothing, however its host behaves.
            'dirty_rate_mb_s': 0 if paused else settings['dirty_rate_mb_s'],
            'max_downtime_ms': settings['max_downtime_ms'],
            'auto_converge': settings['auto_converge'],
            'converges': None if paused else settings['converges'],
        },
    }


def until_event(args: model.Json, *, fails: bool) -> float | None:
    """Return seconds of the copy until its next event, None if none will come.

    fails: an injected failure strikes in the middle.
    """
    params, force = _params(args)
    ends = precopy.timeline(params, force)
    if not fails:
        return None if math.isinf(ends.handover) else ends.handover
    if math.isinf(ends.handover):
        return (params.disk_mb + params.memory_mb / 2) / params.bandwidth_mb_s
    return ends.handover / 2


def due(begins: float, args: model.Json, seconds: float) -> float:
    """Return the instant of `seconds` into the copy.

    Less than a millisecond is no time: the instant profile means it.
    """
    seconds /= args['speed']
    setup: float = args['setup']
    return begins + setup + (seconds if seconds >= 0.001 else 0)


def describe(args: model.Json, begins: float, at: float) -> model.Json:
    """Return the job's result at the instant `at`: counters, and the handover if there is one."""
    params, force = _params(args)
    found = precopy.progress(params, _elapsed(args, begins, at), force).to_dict()
    if args['handover']:
        found['handover'] = args['handover']
    return found


def _params(args: model.Json) -> tuple[precopy.Parameters, precopy.Force | None]:
    force = args['force']
    return (
        precopy.Parameters(**args['params']),
        precopy.Force(force[0], precopy.ForceMode(force[1])) if force else None,
    )


def _elapsed(args: model.Json, begins: float, at: float) -> float:
    setup: float = args['setup']
    return max(0.0, at - begins - setup) * float(args['speed'])


def hand_over(work: effects.Work) -> model.Handover:
    """Return the source's half of the instant at which the guest changes its node."""
    row = work.resident()
    cold.depart(work, row, Power.NOSTATE)
    return cold.handover(
        work,
        cold.LIVE,
        row,
        power_state=row['power_state'],
        ticket=work.args['ticket']['id'],
        ran_s=None if row['started_at'] is None else work.at - row['started_at'],
        plugged_s=plugged.ages(row['spec'], work.at),
    )


def _advance(work: effects.Work) -> model.Json | effects.Later:
    """Handle the copy's event at `work.at`: the handover, or with post-copy the end."""
    begins = work.tx.execute('SELECT begins FROM jobs WHERE id = ?', (work.id,)).fetchone()[0]
    params, force = _params(work.args)
    if not work.args['handover']:
        work.args['handover'] = hand_over(work)
    ends = precopy.timeline(params, force)
    if ends.completed > ends.handover:
        last = due(begins, work.args, ends.completed)
        if last > work.at:
            return effects.Later(last)
    return describe(work.args, begins, due(begins, work.args, ends.completed) + 1)


# ---- abort and force complete ---------------------------------------------


def _running_copy(work: effects.Work, error_class: str, reason: str) -> sqlite3.Row | None:
    """Return the row of the copy's job, None if it does not run; must not be handed over."""
    for row in store.running_jobs(work.tx, work.node, work.guest):
        if row['verb'] == Verb.LIVE_MIGRATE and row['subject'] == work.subject:
            if json.loads(row['args'])['handover'] is None:
                return row
            raise effects.Refused(error_class, f'Guest {work.guest} {reason}')
    return None


def _abort(work: effects.Work) -> model.Json:
    row = _running_copy(work, 'AbortRefused', 'has switched to post-copy and cannot be aborted.')
    if row is None:
        departed = work.find(departed=True)
        if departed is not None and departed['move'] == work.subject:
            raise effects.Refused('AbortRefused', f'Guest {work.guest} has left {work.node}.')
        work.resident()
        work.end_move()
        return {'aborted': False}
    work.end_move()
    stands = describe(json.loads(row['args']), row['begins'], work.at)
    store.fail_job(
        work.tx,
        row,
        model.JobError('MigrationAborted', 'The live migration was aborted.'),
        result=json.dumps(stands),
    )
    return {'aborted': True}


def _force(work: effects.Work) -> model.Json:
    row = _running_copy(work, 'MigrationNotRunning', 'already runs at its destination.')
    if row is None:
        raise effects.Refused(
            'MigrationNotRunning', f'Guest {work.guest} is not being copied from {work.node}.'
        )
    args = json.loads(row['args'])
    mode = precopy.ForceMode.POST_COPY if args['post_copy'] else precopy.ForceMode.PAUSE
    if args['force'] is None:
        args['force'] = [_elapsed(args, row['begins'], work.at), str(mode)]
    mode = args['force'][1]
    # Never before now, and not a rounding error after it.
    event = due(row['begins'], args, precopy.timeline(*_params(args)).handover)
    if event < work.at + 1e-5:
        event = work.at
    if row['failure'] and json.loads(row['failure'])['when'] == 'during':
        event = min(event, row['due'])
    work.tx.execute(
        'UPDATE jobs SET args = ?, due = ? WHERE id = ?', (json.dumps(args), event, row['id'])
    )
    return {'mode': mode}


# ---- the destination ------------------------------------------------------


def _check(work: effects.Work) -> model.Json:
    if work.args['refusal']:
        raise effects.Refused(*work.args['refusal'])
    return {'block_migration': True}


def _prepare_destination(work: effects.Work) -> model.Json:
    work.check_move()
    row = work.find()
    if row is not None and row['role'] == model.Role.INCOMING and row['move'] == work.subject:
        return {'ticket': _ticket(work, row['ticket'])}
    if row is not None and row['role'] != model.Role.DISKS_ONLY:
        work.refuse_existing(row)
    identity = runtime.new_uuid()
    work.insert(
        work.args['spec'],
        role=model.Role.INCOMING,
        power_state=Power.NOSTATE,
        move=work.subject,
        ticket=identity,
    )
    work.write_drive()
    return {'ticket': _ticket(work, identity)}


def _ticket(work: effects.Work, identity: str) -> model.Ticket:
    return {'id': identity, 'node': work.node, 'guest': work.guest, 'move': work.subject}


def _arrive(work: effects.Work) -> model.Json:
    given = cold.check_handover(work, cold.LIVE)
    row = work.find()
    if row is not None and row['role'] == model.Role.RESIDENT and row['move'] == work.subject:
        return work.power_result(row['power_state'])
    if row is None or row['role'] != model.Role.INCOMING or row['ticket'] != given['ticket']:
        raise effects.Refused(
            'GuestNotFound', f'Guest {work.guest} is not expected on {work.node} with this ticket.'
        )
    spec = plugged.put(row['spec'], given.get('plugged_s', {}), work.at)
    store.update_guest(
        work.tx,
        row,
        role=model.Role.RESIDENT,
        power_state=given['power_state'],
        ticket=None,
        spec=passwords.put(spec, given.get('password')),
        started_at=None if given['ran_s'] is None else work.at - given['ran_s'],
    )
    return work.power_result(given['power_state'])


def _roll_back(work: effects.Work) -> model.Json:
    work.end_move()
    row = work.find()
    if row is None or row['role'] != model.Role.INCOMING or row['move'] != work.subject:
        return {'dropped': False}
    if work.args.get('arrived'):
        store.update_guest(
            work.tx,
            row,
            role=model.Role.RESIDENT,
            power_state=states.PowerState.SHUTDOWN,
            ticket=None,
        )
        return {'dropped': False}
    store.delete_guest(work.tx, row)
    return {'dropped': True}


EFFECTS = {
    Verb.CHECK_LIVE_MIGRATION: effects.Effect(_check),
    Verb.PRE_LIVE_MIGRATION: effects.Effect(
        _prepare_destination, begin=_prepare_destination, partial=_prepare_destination
    ),
    Verb.LIVE_MIGRATE: effects.Effect(_advance),
    Verb.ABORT_LIVE_MIGRATION: effects.Effect(_abort),
    Verb.FORCE_COMPLETE: effects.Effect(_force),
    Verb.POST_LIVE_MIGRATION: effects.Effect(_arrive),
    Verb.ROLLBACK_LIVE_MIGRATION: effects.Effect(_roll_back),
}
