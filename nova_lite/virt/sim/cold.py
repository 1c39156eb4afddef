"""Effects of cold moves: out of the source, into the destination, back, forgotten."""

from collections.abc import Callable
import json
import sqlite3

from nova_lite import states
from nova_lite.virt import model
from nova_lite.virt.sim import effects
from nova_lite.virt.sim import life
from nova_lite.virt.sim import passwords
from nova_lite.virt.sim import store

Power = states.PowerState
Verb = model.Verb
COLD, LIVE = 'cold', 'live'


def depart(work: effects.Work, row: sqlite3.Row, power_state: Power) -> None:
    """Turn the resident guest into one that left with the move `work.subject`."""
    work.insert(
        row['spec'],
        departed=1,
        role=model.Role.DEPARTED,
        power_state=power_state,
        prior_power=row['power_state'],
        move=work.subject,
        started_at=row['started_at'],
    )
    store.delete_guest(work.tx, row)


def handover(
    work: effects.Work, kind: str, row: sqlite3.Row, *, power_state: int, **values: object
) -> model.Handover:
    """Return the proof, for the destination, that the guest (its row) has left this node."""
    return {
        'kind': kind,
        'guest': work.guest,
        'move': work.subject,
        'source': work.node,
        'power_state': int(power_state),
        'password': passwords.get(row['spec']),
        **values,
    }


def check_handover(work: effects.Work, kind: str) -> model.Handover:
    """Refuse a handover of another kind, guest or move."""
    given: model.Handover = work.args['handover']
    if (given.get('kind'), given.get('guest'), given.get('move')) != (
        kind,
        work.guest,
        work.subject,
    ):
        raise effects.Refused(
            'InvalidHandover', f'Guest {work.guest} was not handed over to {work.node}.'
        )
    return given


def _migrate_out(work: effects.Work) -> model.Json:
    work.check_move()
    departed = work.find(departed=True)
    if departed is not None and departed['move'] == work.subject:
        return {'handover': handover(work, COLD, departed, power_state=departed['prior_power'])}
    row = work.resident()
    depart(work, row, Power.SHUTDOWN)
    return {'handover': handover(work, COLD, row, power_state=row['power_state'])}


def _stop(work: effects.Work) -> None:
    work.check_move()
    row = work.resident()
    store.update_guest(work.tx, row, power_state=Power.SHUTDOWN, started_at=None)


def copy_s(work: effects.Work, settings_of: Callable[[str, model.GuestSpec], model.Json]) -> float:
    """Return the seconds in which the disks of a guest come from another node.

    settings_of: returns the parameters of copies for a node and a guest
    """
    spec = model.GuestSpec.from_dict(json.loads(work.args['spec']))
    if work.args['handover'].get('source') == work.node:
        return 0.0
    return disk_copy_s(spec.disk_gb, settings_of(work.node, spec))


def disk_copy_s(disk_gb: float, settings: model.Json) -> float:
    """Return the seconds in which disks are copied. settings: parameters of copies"""
    return float(disk_gb * 1024 * settings['disk_fill'] / settings['bandwidth_mb_s'])


def _finish_migration(work: effects.Work) -> model.Json:
    work.check_move()
    given = check_handover(work, COLD)
    row = work.find()
    if row is not None and row['role'] == model.Role.RESIDENT and row['move'] == work.subject:
        return _ensure_power(work, row)
    work.args['spec'] = passwords.put(work.args['spec'], given.get('password'))
    return life.make(work, move=work.subject)


def _ensure_power(work: effects.Work, row: sqlite3.Row) -> model.Json:
    """Return an attempt before this one got as far as the guest: see that it runs if it shall."""
    if work.args['power_on'] and row['power_state'] == Power.SHUTDOWN:
        store.update_guest(work.tx, row, power_state=Power.RUNNING, started_at=work.at)
        return work.power_result(Power.RUNNING)
    return work.power_result(row['power_state'])


def _half_finished(work: effects.Work) -> None:
    work.check_move()
    check_handover(work, COLD)
    effects.half_made(work)


def _take_back(work: effects.Work) -> model.Json:
    """Revert: the departed guest is defined here again; one that never left stays."""
    row = work.find()
    departed = work.find(departed=True)
    if departed is None or departed['move'] != work.subject:
        row = work.resident()
        if work.move_has_ended:
            return work.power_result(row['power_state'])
        work.end_move()
        store.update_guest(work.tx, row, spec=_with_devices(work, row['spec']))
        return _ensure_power(work, row)
    if row is not None and row['role'] != model.Role.DISKS_ONLY:
        work.refuse_existing(row)
    power = Power.RUNNING if work.args['power_on'] else Power.SHUTDOWN
    work.insert(
        _with_devices(work, departed['spec']),
        role=model.Role.RESIDENT,
        power_state=power,
        move=work.subject,
        started_at=work.at if work.args['power_on'] else None,
    )
    store.delete_guest(work.tx, departed)
    work.end_move()
    return work.power_result(power)


def _with_devices(work: effects.Work, spec: str) -> str:
    """Return a definition (JSON text) with the devices that the job names, if it names any."""
    devices = work.args.get('devices')
    return spec if devices is None else json.dumps({**json.loads(spec), 'devices': devices})


def _take_back_stopped(work: effects.Work) -> None:
    """Take back the remains of a failure in the middle; the move is not over."""
    departed = work.find(departed=True)
    if work.find() is None and departed is not None and departed['move'] == work.subject:
        work.insert(
            departed['spec'],
            role=model.Role.RESIDENT,
            power_state=Power.SHUTDOWN,
            move=work.subject,
        )
        store.delete_guest(work.tx, departed)


def _confirm(work: effects.Work) -> model.Json:
    work.end_move()
    departed = work.find(departed=True)
    if departed is None or departed['move'] != work.subject:
        return {'dropped': False}
    store.delete_guest(work.tx, departed)
    return {'dropped': True}


EFFECTS = {
    Verb.MIGRATE_OUT: effects.Effect(_migrate_out, partial=_stop),
    Verb.FINISH_MIGRATION: effects.Effect(
        _finish_migration, begin=_half_finished, partial=_half_finished
    ),
    Verb.REVERT_MIGRATION: effects.Effect(_take_back, partial=_take_back_stopped),
    Verb.CONFIRM_MIGRATION: effects.Effect(_confirm),
}
