"""Effects on a guest that stays where it is (life, power, devices, snapshots), and images."""

from collections.abc import Callable
import json
import sqlite3
from typing import NoReturn

from nova_lite import states
from nova_lite.virt import model
from nova_lite.virt.sim import effects
from nova_lite.virt.sim import passwords
from nova_lite.virt.sim import plugged
from nova_lite.virt.sim import store

Power = states.PowerState
Verb = model.Verb


def make(work: effects.Work, *, move: str | None = None) -> model.Json:
    """Make the guest that `args` describe: {spec: JSON text, power_on: bool}.

    Kept disks, and what a failed attempt left half made, are replaced.
    """
    row = work.find()
    if row is not None and row['role'] != model.Role.DISKS_ONLY and not effects.is_half_made(row):
        work.refuse_existing(row)
    power = Power.RUNNING if work.args['power_on'] else Power.SHUTDOWN
    work.insert(
        work.args['spec'],
        role=model.Role.RESIDENT,
        power_state=power,
        move=move,
        started_at=work.at if work.args['power_on'] else None,
    )
    work.write_drive()
    return work.power_result(power)


def _destroy(work: effects.Work) -> model.Json:
    if work.subject:
        work.end_move()
    row = work.find()
    if row is None:
        return {'destroyed': False}
    if not work.args['keep_disks'] or row['role'] == model.Role.INCOMING:
        store.delete_guest(work.tx, row)
    else:
        store.update_guest(
            work.tx,
            row,
            role=model.Role.DISKS_ONLY,
            power_state=Power.NOSTATE,
            rescue_image=None,
            started_at=None,
        )
    return {'destroyed': row['role'] != model.Role.DISKS_ONLY}


def _stop(work: effects.Work) -> None:
    """Stop the guest: the effect of a failed destroy or reboot."""
    row = work.find()
    if row is not None and row['role'] == model.Role.RESIDENT:
        store.update_guest(work.tx, row, power_state=Power.SHUTDOWN, started_at=None)


# ---- power ----------------------------------------------------------------


def _power_on(work: effects.Work) -> model.Json:
    row = work.resident()
    if row['power_state'] == Power.RUNNING:
        return work.power_result(Power.RUNNING)
    return _boot(work, row)


def _power_off(work: effects.Work) -> model.Json:
    row = work.resident()
    store.update_guest(work.tx, row, power_state=Power.SHUTDOWN, started_at=None)
    return work.power_result(Power.SHUTDOWN)


def _soft_reboot(work: effects.Work) -> model.Json:
    row = work.resident()
    if row['power_state'] != Power.RUNNING:
        _refuse_power(work, row)
    return _boot(work, row)


def _hard_reboot(work: effects.Work) -> model.Json:
    row = work.find()
    if row is not None and row['role'] == model.Role.RESIDENT:
        return _boot(work, row)
    if row is not None and row['role'] == model.Role.INCOMING:
        work.refuse_existing(row)
    departed = work.find(departed=True)
    if departed is not None:
        # It may run elsewhere: only revert_migration may start it again.
        work.refuse_existing(departed)
    spec = work.args['spec'] or (row or work.resident())['spec']
    work.insert(spec, role=model.Role.RESIDENT, power_state=Power.RUNNING, started_at=work.at)
    work.write_drive()
    return work.power_result(Power.RUNNING)


def _rescue(work: effects.Work) -> model.Json:
    row = work.resident()
    image = json.loads(work.args['spec'])['image_id'] if work.args['spec'] else None
    return _boot(work, row, rescue_image=image or '')


def _unrescue(work: effects.Work) -> model.Json:
    row = work.resident()
    if row['rescue_image'] is None:
        return work.power_result(row['power_state'])
    return _boot(work, row, rescue_image=None)


def _trigger_crash_dump(work: effects.Work) -> model.Json:
    row = work.resident()
    if row['power_state'] not in (Power.RUNNING, Power.PAUSED):
        _refuse_power(work, row)
    # A paused guest does not run the handler of its interrupt.
    if row['power_state'] == Power.PAUSED or work.args['crash_dump'] == 'ignore':
        return work.power_result(row['power_state'])
    if work.args['crash_dump'] == 'reboot':
        return _boot(work, row)
    store.update_guest(work.tx, row, power_state=Power.CRASHED, started_at=None)
    return work.power_result(Power.CRASHED)


def _boot(work: effects.Work, row: sqlite3.Row, **values: object) -> model.Json:
    store.update_guest(
        work.tx, row, power_state=Power.RUNNING, started_at=work.at, ticket=None, **values
    )
    return work.power_result(Power.RUNNING)


def _switch(before: tuple[Power, ...], after: Power) -> Callable[[effects.Work], model.Json]:
    """Return an effect that takes a guest from one of `before` to `after`, its memory kept."""

    def finish(work: effects.Work) -> model.Json:
        row = work.resident()
        if row['power_state'] not in (*before, after):
            _refuse_power(work, row)
        store.update_guest(work.tx, row, power_state=after)
        return work.power_result(after)

    return finish


def _refuse_power(work: effects.Work, row: sqlite3.Row) -> NoReturn:
    state = Power(row['power_state']).name
    raise effects.Refused(
        'InstanceInvalidState',
        f'Cannot {work.verb} guest {work.guest} on {work.node}: its power state is {state}.',
    )


def _set_password(work: effects.Work) -> model.Json:
    row = work.resident()
    if row['power_state'] != Power.RUNNING:
        _refuse_power(work, row)
    store.update_guest(work.tx, row, spec=passwords.put(row['spec'], work.args['password']))
    return work.power_result(row['power_state'])


# ---- devices and snapshots ------------------------------------------------


def _attach(work: effects.Work) -> model.Json:
    row = work.resident()
    _replace_device(work, row, plugged.mark(work.args['device'], work.at))
    return {'attached': True}


def _detach(work: effects.Work) -> model.Json:
    row = work.find()
    if row is None:
        return {'detached': False}
    return {'detached': _replace_device(work, row, None)}


def _replace_device(work: effects.Work, row: sqlite3.Row, device: model.Json | None) -> bool:
    """Drop the device that is the job's subject, plug `device` in; was it there?"""
    spec = json.loads(row['spec'])
    others = [
        entry
        for entry in spec['devices']
        if (entry['kind'], entry['id']) != (work.args['kind'], work.subject)
    ]
    was_there = len(others) < len(spec['devices'])
    spec['devices'] = [*others, device] if device else others
    store.update_guest(work.tx, row, spec=json.dumps(spec))
    return was_there


def _snapshot(work: effects.Work) -> model.Json:
    work.resident()
    return {'size': work.args['size'], 'disk_format': 'raw', 'container_format': 'bare'}


# ---- images, which stand in the place of a guest --------------------------


def _has_image(work: effects.Work) -> bool:
    return store.has_image(work.tx, work.node, work.guest)


def _cache_image(work: effects.Work) -> model.Json:
    return {'fetched': store.cache_image(work.tx, work.node, work.guest)}


EFFECTS = {
    Verb.SPAWN: effects.Effect(make, begin=effects.half_made, partial=effects.half_made),
    Verb.DESTROY: effects.Effect(_destroy, partial=_stop),
    Verb.POWER_ON: effects.Effect(_power_on),
    Verb.POWER_OFF: effects.Effect(_power_off),
    Verb.SOFT_REBOOT: effects.Effect(_soft_reboot),
    Verb.HARD_REBOOT: effects.Effect(_hard_reboot, partial=_stop),
    Verb.PAUSE: effects.Effect(_switch((Power.RUNNING,), Power.PAUSED)),
    Verb.UNPAUSE: effects.Effect(_switch((Power.PAUSED,), Power.RUNNING)),
    Verb.SUSPEND: effects.Effect(_switch((Power.RUNNING, Power.PAUSED), Power.SUSPENDED)),
    Verb.RESUME: effects.Effect(_switch((Power.SUSPENDED,), Power.RUNNING)),
    Verb.RESCUE: effects.Effect(_rescue, partial=_stop),
    Verb.UNRESCUE: effects.Effect(_unrescue, partial=_stop),
    Verb.SET_PASSWORD: effects.Effect(_set_password),
    Verb.TRIGGER_CRASH_DUMP: effects.Effect(_trigger_crash_dump),
    Verb.SNAPSHOT: effects.Effect(_snapshot),
    Verb.ATTACH_VOLUME: effects.Effect(_attach),
    Verb.DETACH_VOLUME: effects.Effect(_detach),
    Verb.ATTACH_INTERFACE: effects.Effect(_attach),
    Verb.DETACH_INTERFACE: effects.Effect(_detach),
    Verb.MOUNT_SHARE: effects.Effect(_attach),
    Verb.UNMOUNT_SHARE: effects.Effect(_detach),
    Verb.CACHE_IMAGE: effects.Effect(_cache_image, is_idle=_has_image),
}
