"""Common parts of verbs: declaration, the deployment, output."""

import argparse
import collections
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import contextlib
import datetime
import functools
import io
import json
import typing

from oslo_config import cfg
from oslo_utils import timeutils

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite.clients import auth
from nova_lite.clients import placement
from nova_lite.db import transactions
from nova_lite.terminal import text_tables

Args: typing.TypeAlias = argparse.Namespace
# Runs a verb and returns its exit code.
Run: typing.TypeAlias = Callable[['Deployment', Args], int]


class Option(typing.NamedTuple):
    """An option or argument of a verb, as argparse's add_argument takes it."""

    flags: tuple[str, ...]
    keywords: Mapping[str, typing.Any]


class Verb(typing.NamedTuple):
    """One verb: a function with its options."""

    name: str
    run: Run
    options: tuple[Option, ...]

    def add_to(self, parsers: 'argparse._SubParsersAction[typing.Any]') -> None:
        """Add the parser of the verb to the parsers of its category."""
        parser = parsers.add_parser(self.name, help=(self.run.__doc__ or '').splitlines()[0])
        for flags, keywords in (*self.options, JSON):
            parser.add_argument(*flags, **keywords)
        parser.set_defaults(run=self._exit)

    def _exit(self, deployment: 'Deployment', args: Args) -> int:
        """Run the verb and return the exit code. With --json print one document.

        The document is that of the verb or, if the verb has none, its values and messages.
        """
        if not args.json:
            return self.run(deployment, args)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = self.run(deployment, args)
        document: object = deployment.document
        if document is None:
            messages = printed.getvalue().splitlines()
            document = {'code': code, **deployment.found, 'messages': messages}
        print(json.dumps(document, indent=2))
        return code


VERBS: dict[str, list[Verb]] = collections.defaultdict(list)


def verb(category: str, *options: Option, name: str | None = None) -> Callable[[Run], Run]:
    """Declare the decorated function as a verb of a category. name: default: of the function"""

    def declare(function: Run) -> Run:
        VERBS[category].append(Verb(name or function.__name__, function, options))
        return function

    return declare


def option(*flags: str, **keywords: typing.Any) -> Option:
    """Return an option or argument, as argparse's add_argument takes it."""
    return Option(flags, keywords)


def flag(name: str, text: str) -> Option:
    """Return an option without a value. text: its help"""
    return option(name, action='store_true', help=text)


VERBOSE = flag('--verbose', 'print more')
JSON = flag('--json', 'print JSON')


class NoApiDatabase(exception.Invalid):
    msg = (
        '[api_database]connection is not set in %(files)s. Name the configuration of a control '
        'daemon with --config-file or --config-dir, or a cloud of `nova-lite up` with --state-dir.'
    )

    @classmethod
    def of(cls, conf: cfg.ConfigOpts) -> typing.Self:
        """Return the error for a configuration, with the names of its files."""
        found = [*(conf.config_file or ()), *(conf.config_dir or ())]
        return cls(files=', '.join(found) or 'any file')


class Deployment:
    """The deployment: its configuration, API database, cells and placement.

    found: {key: value} that --json prints with the messages
    document: list or object that --json prints instead of `found` and the messages; None: neither
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf
        self.found: dict[str, typing.Any] = {}
        self.document: object = None
        self._closing = contextlib.ExitStack()
        # One statement may archive or map a whole table.
        conf.set_override('read_timeout', 0, group='database')

    def __enter__(self) -> typing.Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._closing.close()

    @functools.cached_property
    def api_db(self) -> transactions.Database:
        """Return the API database. Raise Invalid if it is not configured."""
        url = self.conf.api_database.connection
        if not url:
            raise NoApiDatabase.of(self.conf)
        opened = transactions.Database(url)
        self._closing.callback(opened.dispose)
        return opened

    @functools.cached_property
    def cells(self) -> cells_module.Cells:
        """Return the cells. Raise Invalid if the API database is not configured."""
        opened = cells_module.Cells(self.conf, self.api_db)
        self._closing.callback(opened.close)
        return opened

    @functools.cached_property
    def placement(self) -> placement.Placement:
        return placement.Placement(auth.Credentials(self.conf))

    @property
    def cell_url(self) -> str | None:
        """Return [database]connection, or None."""
        url: str | None = self.conf.database.connection
        return url


def print_list(
    deployment: Deployment,
    args: Args,
    columns: Mapping[str, str],
    lines: Iterable[tuple[object, ...]],
) -> None:
    """Print lines as a table, or with --json as a list of objects.

    columns: {key in JSON: title}
    """
    if args.json:
        deployment.document = [dict(zip(columns, line, strict=True)) for line in lines]
    else:
        text_tables.show(list(columns.values()), lines)


def moment(text: str) -> datetime.datetime:
    """Return the time in a text, in UTC without a zone. Raise ValueError."""
    try:
        return timeutils.normalize_time(timeutils.parse_isotime(_with_time(text)))
    except OverflowError as error:
        raise ValueError(str(error)) from None


def _with_time(text: str) -> str:
    """Return a date with a time. The time may be missing, or a blank may stand before it."""
    text = text.strip().replace(' ', 'T')
    return text if 'T' in text else f'{text}T00:00:00'
