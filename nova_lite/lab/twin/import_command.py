"""The command `nova-lite import`: write the file of a twin."""

import argparse
import http
import os
import sys

from keystoneauth1 import exceptions as auth_exceptions
import yaml

from nova_lite import exception
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import given_options
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import which_cloud
from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import document as documents
from nova_lite.lab.launcher.cloud_file import settings
from nova_lite.lab.maintenance import client
from nova_lite.lab.twin import importing
from nova_lite.lifecycle.guests import pci
from nova_lite.terminal import plurals

HEADER = '# A twin of a cloud, written by `nova-lite import`. `nova-lite up -f` starts it.\n'


def run(args: argparse.Namespace) -> None:
    """Read a cloud, and write its twin to a file or to standard output.

    Raise WrongUse, TooOld, Refused, Unavailable, Wrong.
    """
    if args.output is not None and os.path.exists(args.output) and not args.force:
        reason = f'{args.output} exists. Choose another --output, or add --force to replace it'
        raise client.WrongUse(reason=reason)
    directory = os.path.dirname(os.path.abspath(args.output or 'twin.yaml'))
    if args.output is not None and not os.access(directory, os.W_OK):
        reason = f'--output: {directory} is no directory that can be written. Choose another one'
        raise client.WrongUse(reason=reason)
    options = _options(args)
    found, lines = _read(args, options)
    text = yaml.safe_dump(found, sort_keys=False, allow_unicode=True)
    whole = HEADER + ''.join(f'# {line}\n' for line in lines) + text
    for line in lines:
        print(line, file=sys.stderr)
    # An error names a line of the file that `nova-lite up -f` would refuse.
    settings.described(documents.parse(args.output or 'twin.yaml', whole), directory)
    if args.output is None:
        print(whole, end='')
        return
    # It has the sizes and perhaps the names of the servers of others.
    try:
        layout.write(args.output, whole)
    except OSError as error:
        reason = (
            f'--output: {args.output} cannot be written: {messages.cause(error)}. Choose another'
        )
        raise client.WrongUse(reason=reason) from error
    hosts = plurals.of(sum(len(cell['hosts']) for cell in found['cells']), 'host')
    servers = plurals.of(len(found.get('servers', ())), 'server')
    print(
        f'{args.output}: {hosts}, {servers}. Start it with `nova-lite up -f {args.output} --name twin`.'
    )


def _options(args: argparse.Namespace) -> dict[str, layout.Options]:
    """Return the options that the twin gets. Raise WrongUse."""
    try:
        options = given_options.parse(args.set)
        given_options.check(options)
        pci.aliases(filter(None, [options.get('pci', {}).get('alias')]))
    except (ValueError, exception.NovaLiteError) as error:
        raise client.WrongUse(reason=str(error)) from error
    return options


def _read(
    args: argparse.Namespace, options: dict[str, layout.Options]
) -> tuple[importing.Json, list[str]]:
    """Return (document of the twin, notes as lines)."""
    ours = None if args.which is None or args.which.deployed else args.which
    if ours is not None and ours.state() != which_cloud.RUNNING:
        up = state_dir.command('up', ours.directory)
        raise client.WrongUse(reason=f'the cloud does not run. Start it with `{up}`')
    config = client.connection(args).config
    try:
        adapters = {
            service: client_connections.adapter_of(config, kind)
            for service, kind in apis.TYPES.items()
        }
        reading = importing.Import(
            apis.Api(adapters), shown=args.names, options=options, cells=args.cell
        )
        found = reading.read()
        lines = [f'Not in the twin: {note}.' for note in reading.notes]
        lines += [f'As in the cloud: {text}.' for text in reading.kept]
        return found, [*lines, *(f'Assumed: {text}.' for text in reading.assumed)]
    except auth_exceptions.ClientException as error:
        text = messages.of_clients(str(error)).rstrip('.')
        reason = f'{text}. Correct its address, or start its services'
        raise exception.Unavailable(service='The cloud', reason=reason) from error
    except apis.Refused as error:
        if error.kwargs['status'] != http.HTTPStatus.FORBIDDEN:
            raise
        reason = f'{error} Name a cloud with the credentials of an administrator'
        raise client.WrongUse(reason=reason) from error
