"""The compute services of a real cloud: hosts that are disabled, down, or not shown."""

from collections.abc import Container
import dataclasses
import typing

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import compute
from nova_lite.lab.twin import names as names_
from nova_lite.terminal import plurals

Json: typing.TypeAlias = dict[str, typing.Any]
# The status of services of a cell that does not answer.
UNKNOWN = 'UNKNOWN'


@dataclasses.dataclass(frozen=True)
class Services:
    """The compute services. rows: as the API shows them; hosts: names of the hosts of the twin"""

    rows: tuple[Json, ...]
    hosts: Container[str]

    def disabled(self, *, shown: bool) -> list[Json]:
        """Return entries of disabled hosts. shown: whether reasons are kept"""
        found = []
        for entry in compute.disabled_hosts(self._known):
            reason = {'reason': entry['reason']} if shown and 'reason' in entry else {}
            found.append({'hosts': entry['hosts'], **reason})
        return found

    def down(self) -> list[str]:
        """Return the names of the hosts that are down, forced or not."""
        return sorted(
            row['host'] for row in self._known if row['state'] == 'down' or row['forced_down']
        )

    @property
    def _known(self) -> list[Json]:
        return [row for row in self.rows if row['host'] in self.hosts and row['status'] != UNKNOWN]

    def kept(self, *, shown: bool) -> list[str]:
        """Return texts on the states of hosts that the twin has. shown: see `disabled`"""
        entries, down = self.disabled(shown=True), self.down()
        texts = []
        if entries:
            names = sorted(name for entry in entries for name in entry['hosts'])
            text = f'{_hosts(names)} disabled'
            if not shown and any('reason' in entry for entry in entries):
                text += ' (add --names to keep the reasons)'
            texts.append(text)
        if down:
            texts.append(
                f'{_hosts(down)} down: the services are forced down once the servers run, nothing is '
                'scheduled there, and servers there can only be evacuated'
            )
        return texts

    def notes(self, left_out: Container[str]) -> list[str]:
        """Return notes on hosts that have a service and are missing. left_out: those with a note"""
        unknown: list[str] = []
        others: list[str] = []
        for row in sorted(self.rows, key=lambda each: str(each['host'])):
            name = row['host']
            if name not in self.hosts and name not in left_out:
                (unknown if row['status'] == UNKNOWN else others).append(name)
        notes = []
        if unknown:
            texts = plurals.of(len(unknown), 'host'), names_.listed(unknown)
            notes.append('{} of cells that do not answer ({})'.format(*texts))
        if others:
            texts = plurals.of(len(others), 'host'), names_.listed(others)
            notes.append('{} with a compute service and without a hypervisor ({})'.format(*texts))
        return notes


def read(api: apis.Api, hosts: Container[str]) -> Services:
    """Return the compute services of a cloud. hosts: names of the hosts of the twin"""
    return Services(tuple(compute.read_services(api)), hosts)


def _hosts(names: list[str]) -> str:
    verb = 'is' if len(names) == 1 else 'are'
    return f'{plurals.of(len(names), "host")} ({names_.listed(names)}) {verb}'
