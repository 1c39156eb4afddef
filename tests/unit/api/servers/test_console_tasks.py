"""Consoles of servers with each task."""

from nova_lite import states
from tests.unit.api.servers import base


class ConsoleTasksTest(base.Case):
    def test_every_task(self):
        """Nova refuses consoles of a server that leaves its host or is being deleted."""
        consoles = {'vnc': 'novnc', 'spice': 'spice-html5', 'serial': 'serial', 'mks': 'webmks'}
        for task in (None, *states.TaskState):
            uuid = self.api.add_server(task_state=task and str(task))
            refused = task in (states.TaskState.MIGRATING, states.TaskState.DELETING)
            for protocol, kind in consoles.items():
                answers = [self.new_console(uuid, protocol, kind)]
                if protocol != 'mks':
                    answers.append(self.old_console(uuid, protocol, kind))
                for answer in answers:
                    code = 409 if refused else 400 if protocol == 'mks' else 200
                    self.assertEqual(code, answer.status_code, f'{task} {protocol}: {answer.text}')
                    if refused:
                        text = f"Cannot 'get_{protocol}_console' instance {uuid} while it is in "
                        self.assertIn(f'{text}task_state {task}', answer.text)

    def new_console(self, uuid, protocol, kind):
        body = {'remote_console': {'protocol': protocol, 'type': kind}}
        return self.api.call('POST', f'/servers/{uuid}/remote-consoles', body, version='2.8')

    def old_console(self, uuid, protocol, kind):
        name = protocol.capitalize() if protocol == 'serial' else protocol.upper()
        body = {f'os-get{name}Console': {'type': kind}}
        return self.api.call('POST', f'/servers/{uuid}/action', body)
