"""Subcommands of a command, such as `list` of `nova-lite saga`."""

import argparse
from collections.abc import Mapping

from nova_lite.lab.launcher import state_dir


def add(
    parser: argparse.ArgumentParser, actions: Mapping[str, str]
) -> dict[str, argparse.ArgumentParser]:
    """Add a subcommand for each of {name: help}. Return {name: its parser}."""
    added = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    parsers: dict[str, argparse.ArgumentParser] = {}
    for name, text in actions.items():
        parsers[name] = added.add_parser(
            name,
            help=text,
            description=parser.description,
            formatter_class=parser.formatter_class,
        )
        add_options(parsers[name])
    return parsers


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that prints data of the cloud of a state directory."""
    state_dir.add_option(parser)
    parser.add_argument('--json', action='store_true', help='print JSON')
