"""Message bodies: the envelope around a payload, with the publisher."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import typing

from oslo_config import cfg

from nova_lite import runtime
from nova_lite.notify import derive
from nova_lite.notify import from_records
from nova_lite.notify import legacy
from nova_lite.notify import payloads
from nova_lite.notify import spec_payloads
from nova_lite.notify import usage_payloads
from nova_lite.notify import watch

HIGH = 'ERROR'

# Plain values, as messages have them.
Json: typing.TypeAlias = dict[str, typing.Any]
Facts: typing.TypeAlias = Mapping[str, typing.Any]
# The host of the event or None, the message, and its unversioned form or None.
Bodies: typing.TypeAlias = tuple[str | None, Json, Json | None]
PartsOf: typing.TypeAlias = Callable[[typing.Any], spec_payloads.Parts]


class Builder:
    """Builds the notifications for a set of changed records.

    conf: the daemon's
    parts_of: function that returns the parts of hosts that a recorded server asks for
    """

    def __init__(self, conf: cfg.ConfigOpts, parts_of: PartsOf) -> None:
        self._host, self._parts_of = conf.host, parts_of
        self._level = conf.notifications.default_level
        self._audit_period = conf.instance_usage_audit_period
        self._tasks = conf.notifications.notify_on_state_change == 'vm_and_task_state'
        self._legacy = conf.notifications.notification_format != 'versioned'

    def bodies(self, change: watch.Change) -> Iterable[Bodies]:
        """Return (host or None, body, its unversioned form or None), ... of a watch.Change."""
        what = change.note.what
        if what == 'event':
            return self._of_event(change)
        if what == 'action':
            return [self._of_action(derive.ACTIONS[change.note.facts['action']], change)]
        if what == 'change':
            return self._of_change(change)
        if what == derive.EXISTS_NOTE:
            return [self._of_audit(change)]
        return self._of_record(change)

    @staticmethod
    def context_of(change: watch.Change) -> Json:
        """Return the fields of the request's context in the message, without a token."""
        server, facts = change.server, change.note.facts
        if server is None:
            return {'request_id': facts.get('request_id')}
        return {
            'request_id': server.request_id,
            'user_id': server.user_id,
            'project_id': server.project_id,
        }

    # ---- events of servers' actions ----

    def _of_event(self, change: watch.Change) -> list[Bodies]:
        facts = change.note.facts
        event, phase = facts['event'], facts['phase']
        if event in derive.TASKS:
            return self._of_task(change, event, phase)
        fault = self._fault(facts) if phase == derive.ERROR else None
        asked = change.subject.asked and change.subject.asked.action
        several = [each for each in derive.EVENTS.get(event, ()) if each.asked in (None, asked)]
        found = [
            self._of_phase(declared, name, change, fault)
            for declared in (several if phase == derive.START else reversed(several))
            if (name := declared.type_of(phase))
        ]
        if fault is not None:
            publisher = self._publisher(derive.COMPUTE, facts['host'])
            body = self._envelope(derive.EXCEPTION, publisher, fault, level=HIGH, at=change.note.at)
            found.append((facts['host'], body, None))
        return found

    def _of_phase(
        self,
        declared: derive.Notification,
        name: str,
        change: watch.Change,
        fault: payloads.ExceptionPayload | None,
    ) -> Bodies:
        host = change.note.facts['host']
        if declared.at == derive.SOURCE and change.subject.migration is not None:
            host = change.subject.migration.source_compute
        at = None if declared.binary == derive.API else host
        payload = from_records.of_server(
            declared.payload,
            change.subject if declared.move else change.subject.at_rest(),
            fault=fault,
            facts={'audit_period': self._audit_period, **change.facts},
        )
        level = HIGH if fault is not None else self._level
        return self._message(name, declared.binary, at, payload=payload, level=level, change=change)

    def _of_task(self, change: watch.Change, event: str, phase: str) -> list[Bodies]:
        if phase == derive.END and event in derive.SCHEDULED:
            return [self._of_action(derive.SCHEDULED[event], change)]
        if phase != derive.ERROR or change.covered:
            return []
        server = change.subject
        parts = self._parts_of(server.row)
        payload = from_records.of_task(server, self._fault(change.note.facts), parts)
        name = f'compute_task.{derive.TASKS[event]}.error'
        return [
            self._message(name, derive.CONDUCTOR, None, payload=payload, level=HIGH, change=change)
        ]

    def _of_action(self, declared: derive.Notification, change: watch.Change) -> Bodies:
        """Return the notifications of an action without events."""
        server = change.subject if declared.move else change.subject.at_rest()
        payload = from_records.of_server(declared.payload, server, facts=change.facts)
        name = f'instance.{declared.action}'
        return self._message(
            name, declared.binary, None, payload=payload, level=self._level, change=change
        )

    @staticmethod
    def _fault(facts: Facts) -> payloads.ExceptionPayload:
        return from_records.of_error(facts['error'], facts.get('traceback'))

    # ---- changes and other records ----

    def _of_audit(self, change: watch.Change) -> Bodies:
        """Return the notification of a server that a usage audit has found."""
        facts = change.note.facts
        payload = from_records.of_server(
            payloads.InstanceExistsPayload, change.subject.at_rest(), facts=facts
        )
        return self._message(
            derive.EXISTS,
            derive.COMPUTE,
            facts['host'],
            payload=payload,
            level=self._level,
            change=change,
        )

    def _of_change(self, change: watch.Change) -> list[Bodies]:
        former, row = change.note.facts['former'], change.subject.row
        names = ['vm_state', 'display_name', *(['task_state'] if self._tasks else [])]
        if all(former[name] == getattr(row, name) for name in names):
            return []
        facts = {'audit_period': self._audit_period}
        payload = from_records.of_update(change.subject, former, facts)
        return [
            self._message(
                derive.UPDATE,
                derive.COMPUTE,
                row.host,
                payload=payload,
                level=self._level,
                change=change,
            )
        ]

    def _of_record(self, change: watch.Change) -> list[Bodies]:
        what, facts = change.note.what, change.note.facts
        kind, phases = derive.RECORDS[what]
        payload = _payload_of(kind, facts)
        host, binary = None, derive.publisher_of(what)
        if kind is payloads.ServiceStatusPayload:
            binary, host = facts['values']['binary'], facts['values']['host']
        elif what in derive.OF_HOSTS:
            host = facts['host']
        at = host if binary == derive.COMPUTE else None
        only = [facts['phase']] if 'phase' in facts else phases
        publisher = self._publisher(binary, host)
        bodies = [
            self._envelope(name, publisher, payload, level=self._level, at=change.note.at)
            for name in ([f'{what}.{phase}' for phase in only] or [what])
        ]
        return [
            (at, body, legacy.body_of_record(body, facts) if self._legacy else None)
            for body in bodies
        ]

    # ---- the envelope ----

    def _publisher(self, binary: str, host: str | None) -> str:
        return f'{binary}:{host or self._host}'

    def _message(
        self,
        event_type: str,
        binary: str,
        host: str | None,
        *,
        payload: payloads.Payload,
        level: str,
        change: watch.Change,
    ) -> Bodies:
        publisher = self._publisher(binary, host)
        body = self._envelope(event_type, publisher, payload, level=level, at=change.note.at)
        older = None
        if self._legacy:
            older = legacy.body(body, change)
        return host, body, older

    @staticmethod
    def _envelope(
        event_type: str, publisher: str, payload: payloads.Payload, *, level: str, at: object
    ) -> Json:
        return {
            'message_id': runtime.new_uuid(),
            'publisher_id': publisher,
            'event_type': event_type,
            'priority': level,
            'payload': payload.as_wire(),
            'timestamp': str(at),
        }


def _payload_of(kind: type[payloads.Payload], facts: Facts) -> payloads.Payload:
    if kind is payloads.FlavorPayload:
        return from_records.of_flavor(facts['values'], projects=facts['projects'])
    if kind is usage_payloads.MetricsPayload:
        return usage_payloads.of_metrics(facts['values'])
    if kind is spec_payloads.RequestSpecPayload:
        spec: spec_payloads.RequestSpecPayload = facts['payload']
        return spec
    return from_records.of_record(kind, facts['values'])
