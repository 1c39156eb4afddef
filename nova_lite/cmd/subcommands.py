"""Subcommands of a command, such as `list` of `nova-lite saga`."""

import argparse
from collections.abc import Mapping
import typing

from nova_lite.lab.console import arguments
from nova_lite.lab.launcher import state_dir


class Action(typing.NamedTuple):
    """A subcommand. example: the arguments after its name; text: further sentences of its help"""

    help: str
    example: str = ''
    text: str = ''


def add(
    parser: argparse.ArgumentParser, actions: Mapping[str, Action]
) -> dict[str, argparse.ArgumentParser]:
    """Add a subcommand for each of {name: Action}. Return {name: its parser}."""
    added = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    parsers: dict[str, argparse.ArgumentParser] = {}
    for name, action in actions.items():
        sentence = f'{action.help[0].upper()}{action.help[1:]}.'
        example = f'Example: {parser.prog} {name} {action.example}'.rstrip()
        parsers[name] = added.add_parser(
            name,
            help=action.help,
            description=arguments.described(
                f'{parser.prog} {name}: {sentence} {action.text}\n\n{example}'
            ),
            formatter_class=parser.formatter_class,
        )
        add_options(parsers[name])
    return parsers


def add_options(parser: argparse.ArgumentParser, *, json: str = 'print JSON') -> None:
    """Add the options of a command that prints data of a cloud. json: help of --json"""
    state_dir.add_option(parser)
    parser.add_argument('--json', action='store_true', help=json)
