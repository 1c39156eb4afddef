"""Common parts of verbs: declaration, the deployment, output."""

import collections
import contextlib
import functools
import io
import json

from oslo_utils import timeutils

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite.clients import auth
from nova_lite.clients import placement
from nova_lite.db import transactions
from nova_lite.terminal import text_tables

VERBS = collections.defaultdict(list)


class Verb:
    """One verb: a function of (deployment, args) with its options."""

    def __init__(self, name, run, options):
        self.name, self.run, self.options = name, run, options

    def add_to(self, parsers):
        """Add the verb's parser to its category's."""
        parser = parsers.add_parser(self.name, help=self.run.__doc__.splitlines()[0])
        for flags, keywords in (*self.options, JSON):
            parser.add_argument(*flags, **keywords)
        parser.set_defaults(run=self._exit)

    def _exit(self, deployment, args):
        """Run the verb and return the exit code. With --json print one document.

        The document is the verb's list or, if it prints none, its values and messages.
        """
        if not args.json:
            return self.run(deployment, args) or 0
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = self.run(deployment, args) or 0
        document = deployment.listed
        if document is None:
            document = {'code': code, **deployment.found, 'messages': said.getvalue().splitlines()}
        print(json.dumps(document, indent=2))
        return code


def verb(category, *options, name=None):
    """Declare the decorated function as a verb. It returns the exit code, or None for 0."""

    def declare(function):
        VERBS[category].append(Verb(name or function.__name__, function, options))
        return function

    return declare


def option(*flags, **keywords):
    """Return an option or argument, as argparse's add_argument takes it."""
    return flags, keywords


def flag(name, text):
    """Return an option without a value."""
    return option(name, action='store_true', help=text)


VERBOSE = flag('--verbose', 'print more')
JSON = flag('--json', 'print JSON')


class Deployment:
    """The deployment: its configuration, API database, cells and placement.

    found: {key: value} that --json prints with the messages; listed: list that --json prints
        instead of the messages
    """

    def __init__(self, conf):
        self.conf = conf
        self.found, self.listed = {}, None
        # One statement may archive or map a whole table.
        conf.set_override('read_timeout', 0, group='database')

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        for name in ('cells', 'api_db'):
            opened = self.__dict__.get(name)
            if opened is not None:
                opened.close() if name == 'cells' else opened.dispose()

    @functools.cached_property
    def api_db(self):
        """Return the API database. Raise Invalid if it is not configured."""
        url = self.conf.api_database.connection
        if not url:
            raise exception.Invalid(reason='[api_database]connection is not set')
        return transactions.Database(url)

    @functools.cached_property
    def cells(self):
        return cells_module.Cells(self.conf, self.api_db)

    @functools.cached_property
    def placement(self):
        return placement.Placement(auth.Credentials(self.conf))

    @property
    def cell_url(self):
        """Return [database]connection, or None."""
        return self.conf.database.connection


def print_list(deployment, args, columns, lines):
    """Print lines as a table, or with --json as a list of objects.

    columns: {key in JSON: title}
    """
    if args.json:
        deployment.listed = [dict(zip(columns, line, strict=True)) for line in lines]
    else:
        text_tables.show(columns.values(), lines)


def moment(text):
    """Return the time in a text, in UTC without a zone. Raise ValueError."""
    return timeutils.normalize_time(timeutils.parse_isotime(_with_time(text)))


def _with_time(text):
    """Return the text with a time: a date may come without it, or with a blank before it."""
    text = text.strip().replace(' ', 'T')
    return text if 'T' in text else f'{text}T00:00:00'
