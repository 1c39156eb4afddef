"""Parsers of arguments: how --help shows a docstring, and what an error proposes."""

import argparse
from collections.abc import Iterable
from collections.abc import Sequence
import difflib
import re
import shutil
import sys
import textwrap
import typing

WRONG = 2
# In the list of options that --help prints.
OPTION = re.compile(r'^  (?:-\w\S*(?: \S+)?, )?(--[a-z][a-z-]*)', re.MULTILINE)
# Messages of argparse, which quotes choices or not, by its version.
CHOICE = re.compile(
    r"(argument .+): invalid choice: '?(?P<given>.*?)'? \(choose from (?P<known>.*)\)"
)
LACKING = re.compile(r'the following arguments are required: (COMMAND|ACTION|CATEGORY|VERB)')
# The name of the function that reads the value.
VALUE = re.compile(r"(argument .+): invalid (?P<kind>\S+) value: (?P<given>'.*')")
KINDS = {'int': 'a whole number', 'float': 'a number'}
REQUEST = re.compile(r'req-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
# From here on, argparse takes words that begin with a hyphen for arguments.
SEPARATOR = '--'
HELP = ('-h', '--help')
UNKNOWN = 'unrecognized arguments: '
REQUIRED = 'the following arguments are required: '
# A value that argparse takes for an option, such as a duration below zero.
HYPHENATED = re.compile(r'-\d')
# What options call values that are paths.
PATHS = ('DIR', 'FILE', 'PATH')
# Attributes of the arguments of a command that are no options.
INTERNAL = ('command', 'run', 'which', 'default_of')
# The similarity from which on a word is proposed for another one.
SIMILAR = 0.7
# The length from which on a word is taken for the beginning of a longer one.
BEGINNING = 3


class Parser(argparse.ArgumentParser):
    """A parser whose errors come first, propose what may be meant, and are short.

    An unknown option of a command is refused by the parser of that command, not by its parent. A
    command without the subcommand that it needs prints its help. Options have no abbreviations:
    `--state` would be --state-dir, and `--del` would delete.

    before: the options with values that may stand before the arguments of another program, if the
        words after them are such arguments
    """

    before: Sequence[str] = ()
    _given: Sequence[str] = ()

    def __init__(self, **options: typing.Any) -> None:
        super().__init__(**{'allow_abbrev': False, **options})

    def add_argument(self, *names: str, **options: typing.Any) -> argparse.Action:
        """Add an argument. The value may not be empty if it is a path or no option."""
        nargs = options.get('nargs')
        is_ours = not names[0].startswith('-') and nargs != argparse.REMAINDER
        is_ours = is_ours or options.get('metavar') in PATHS
        if is_ours and not options.keys() & {'type', 'choices'}:
            options['type'] = _filled_or_omitted if nargs == '?' else _filled
        return super().add_argument(*names, **options)

    def parse_known_args(  # type: ignore[override]  # fewer overloads
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return (arguments, []), or end the process."""
        self._given = [*(sys.argv[1:] if args is None else args)]
        if self.before:
            self._given = self._separated(self._given)
        found, unknown = super().parse_known_args(self._given, namespace)
        if unknown:
            self.error(f'{UNKNOWN}{" ".join(unknown)}')
        return found, unknown

    def _separated(self, words: list[str]) -> list[str]:
        """Return words with SEPARATOR before the first that is neither an option nor its value."""
        place = 0
        while place < len(words):
            name, has_value, _value = words[place].partition('=')
            if name not in (*self.before, *HELP):
                break
            place += 1 if has_value or name in HELP else 2
        if place >= len(words) or words[place] == SEPARATOR or self._is_mistyped(words[place]):
            return words
        return [*words[:place], SEPARATOR, *words[place:]]

    def _is_mistyped(self, word: str) -> bool:
        """Return whether a word resembles an option of this parser more than a foreign one."""
        own = [option for option in (*self.before, *HELP) if option.startswith('--')]
        is_foreign = not word.startswith('--') or word.startswith('--os-')
        return not is_foreign and bool(difflib.get_close_matches(word, own, n=1, cutoff=0.8))

    def error(self, message: str) -> typing.NoReturn:
        """Print an error and where the arguments are explained; end the process."""
        if LACKING.fullmatch(message):
            if not self._given:
                self.print_help()
                self.exit(0)
            message = f'{UNKNOWN}{self._given[0]}'
        text = (
            f'{self.prog}: {self._proposing(message)}\n`{self.prog} --help` explains the arguments.'
        )
        self.exit(WRONG, f'{text}\n')

    def _proposing(self, message: str) -> str:
        """Return a message of argparse, with what the user may have meant."""
        choice = CHOICE.fullmatch(message)
        if choice is not None:
            known = [each.strip(" '") for each in choice['known'].split(',')]
            return (
                f'{choice[1]}: {choice["given"]!r} does not exist.{like(choice["given"], known)} '
                f'Use one of: {", ".join(known)}'
            )
        value = VALUE.fullmatch(message)
        if value is not None:
            return f'{value[1]}: {value["given"]} is not {KINDS.get(value["kind"], "a possible value")}'
        if message.startswith(REQUIRED):
            hidden = next((word for word in self._given if HYPHENATED.match(word)), None)
            if hidden is None:
                return message
            return f'{message}. {hidden!r} begins with a hyphen, as options do: no value does'
        if message.startswith(UNKNOWN):
            unknown = message.removeprefix(UNKNOWN).split(' ')
            given = unknown[0].partition('=')[0]
            if given.startswith('-'):
                known = OPTION.findall(self.format_help())
                return f'there is no option {given}.{like(given, known)}'
            return f'it takes no further argument, such as {given!r}'
        return message

    def exit(self, status: int = 0, message: str | None = None) -> typing.NoReturn:
        """End the process. A reader of the output that has gone is no error of its own."""
        if message:
            print(message, end='', file=sys.stderr)
        sys.exit(status)


class Distinct(argparse.Action):
    """An option that may be repeated, with another value each time."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: typing.Any,
        option_string: str | None = None,
    ) -> None:
        """Add a value to the list. Raise ArgumentError for one that the list has."""
        before = getattr(namespace, self.dest) or []
        if values in before:
            raise argparse.ArgumentError(self, f'{values!r} is given twice')
        setattr(namespace, self.dest, [*before, values])


def _filled(text: str, way_out: str = 'give a value') -> str:
    if not text:
        raise argparse.ArgumentTypeError(f'it is empty; {way_out}')
    return text


def _filled_or_omitted(text: str) -> str:
    return _filled(text, 'give a value or omit it')


def like(word: str, known: Iterable[str]) -> str:
    """Return a question about the one of the known words that a word resembles, or ''."""
    # The dashes of options would make all short ones alike: `--reason` and `--json`.
    names = {each.lstrip('-'): each for each in known}
    wrong = word.lstrip('-')
    longer = [each for each in names if len(wrong) >= BEGINNING and each.startswith(wrong)]
    if len(longer) == 1:
        return f' Did you mean {names[longer[0]]!r}?'
    # `flavor_aliases` is no mistyped `flavors`.
    near = [each for each in names if abs(len(each) - len(wrong)) <= max(2, len(wrong) // 3)]
    found = difflib.get_close_matches(wrong, near, n=1, cutoff=SIMILAR)
    return f' Did you mean {names[found[0]]!r}?' if found else ''


def given(args: argparse.Namespace, besides: Iterable[str] = ()) -> list[str]:
    """Return the options whose values are not their defaults.

    args: with `default_of`, the method get_default of the parser of the command
    besides: destinations of options that are not asked about
    """
    unasked = {*INTERNAL, *besides}
    return [
        f'--{name.replace("_", "-")}'
        for name, value in vars(args).items()
        if name not in unasked and value != args.default_of(name)
    ]


def directory(text: str) -> str:
    """Return the path that an option was given: not '', as of a variable that is not set."""
    if not text:
        raise argparse.ArgumentTypeError('it is empty; name a directory')
    return text


def count(text: str) -> int:
    """Return the number that an option was given, 1 or more. Raise ArgumentTypeError."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number, 1 or more')
    return int(text)


def request_id(text: str) -> str:
    """Return the request id that an option was given. Raise ArgumentTypeError."""
    if not REQUEST.fullmatch(text):
        example = 'req-3f0c7c5e-7f8e-4a55-9f0d-3b1c1f6a2d10'
        raise argparse.ArgumentTypeError(f'{text!r} is not a request id, such as {example}')
    return text


def counts(text: str) -> int | tuple[int, ...]:
    """Return the number that an option was given, or one for each cell. Raise ArgumentTypeError."""
    try:
        found = tuple(map(int, text.split(',')))
    except ValueError:
        reason = f'{text!r} is not a whole number, nor one for each cell, such as 3,5'
        raise argparse.ArgumentTypeError(reason) from None
    return found[0] if len(found) == 1 else found


def described(text: str) -> str:
    """Return a docstring for --help: paragraphs fit the terminal, examples keep their lines."""
    width = shutil.get_terminal_size().columns - 2
    return '\n\n'.join(
        part if part.startswith('Example') else textwrap.fill(part, width, break_on_hyphens=False)
        for part in text.strip().split('\n\n')
    )
