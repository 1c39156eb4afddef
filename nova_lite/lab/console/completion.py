"""Scripts that complete the arguments of nova-lite in a shell, generated from its --help.

What --help prints is the same in all versions of Python, and public, unlike the parser's lists.
"""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import dataclasses
import io
import os
import re

# The help of a long name is on the next line.
ACTION = re.compile(r'^    ([a-z][a-z-]*)(?: {2,}|\n {6,})(.+)$', re.MULTILINE)
OPTION = re.compile(r'^  (-\S.*?)(?: {2,}|\n {6,})(.+)$', re.MULTILINE)
PARENT = re.compile(r'^  (?:COMMAND|ACTION)$', re.MULTILINE)
NAME = re.compile(r'(--?[a-z][a-z-]*)(?: (\S+))?')
POSITIONAL = re.compile(r'^  \{(\S+)\}', re.MULTILINE)
# Values of options that the shell knows.
DIRECTORIES, FILES, CLOUDS = 'directories', 'files', 'clouds'
KNOWN = {'DIR': DIRECTORIES, 'FILE': FILES, 'NAME|FILE': FILES}
WIDE = '1000'


@dataclasses.dataclass(frozen=True)
class Option:
    """An option. value: None without one, else choices, or the name of values of KNOWN, or ''"""

    names: tuple[str, ...]
    help: str
    value: tuple[str, ...] | str | None


@dataclasses.dataclass(frozen=True)
class Command:
    """A command or an action. words: its names; choices: {next word: help}"""

    words: tuple[str, ...]
    choices: dict[str, str]
    options: tuple[Option, ...]


def commands(run: Callable[[list[str]], object], words: tuple[str, ...] = ()) -> Iterator[Command]:
    """Yield nova-lite itself, its commands and their actions. run: runs it with arguments"""
    head, _title, options = _help(words, run).partition('\noptions:\n')
    is_parent = PARENT.search(head) is not None
    choices = dict(ACTION.findall(head)) if is_parent else {}
    for found in POSITIONAL.findall(head):
        choices.update(dict.fromkeys(found.split(','), ''))
    yield Command(words, choices, tuple(_option(*each) for each in OPTION.findall(options)))
    if is_parent:
        for name in choices:
            yield from commands(run, (*words, name))


def _help(words: tuple[str, ...], run: Callable[[list[str]], object]) -> str:
    """Return the text of --help, with each argument on one line."""
    printed = io.StringIO()
    before = os.environ.get('COLUMNS')
    os.environ['COLUMNS'] = WIDE
    try:
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            run([*words, '--help'])
    finally:
        if before is None:
            del os.environ['COLUMNS']
        else:
            os.environ['COLUMNS'] = before
    return printed.getvalue()


def _option(names: str, help_: str) -> Option:
    found = NAME.findall(names)
    metavar = found[-1][1]
    value: tuple[str, ...] | str | None = KNOWN.get(metavar, '')
    if not metavar:
        value = None
    elif metavar.startswith('{'):
        value = tuple(metavar.strip('{}').split(','))
    elif found[-1][0] == '--name':
        value = CLOUDS
    return Option(tuple(name for name, _metavar in found), help_, value)


BASH = """\
# Completion of nova-lite in bash and zsh, made by `nova-lite completion`.
_nova_lite() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} path= words= word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$path${{path:+ }}$word" in
        {paths}) path="$path${{path:+ }}$word" ;;
        esac
    done
    case "$path $previous" in
{values}
    *' --name') words=$(ls "${{XDG_STATE_HOME:-$HOME/.local/state}}/nova-lite-clouds" 2> /dev/null) ;;
    {directories}) COMPREPLY=($(compgen -d -- "$current")); return ;;
    {files}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    *)
        case "$path" in
{words}
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -F _nova_lite nova-lite
"""
ZSH = """\
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
"""
FISH = """\
# Completion of nova-lite in fish, made by `nova-lite completion fish`.
function __nova_lite_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        set -l longer (string trim -- "$path $word")
        if contains -- $longer {paths}
            set path $longer
        end
    end
    test "$path" = "$argv[1]"
end
complete -c nova-lite -f
"""


def bash(found: list[Command]) -> str:
    """Return the script for bash."""
    quoted = {name: [] for name in (DIRECTORIES, FILES)}  # type: dict[str, list[str]]
    values, words = [], []
    for command in found:
        path = ' '.join(command.words)
        names = [name for option in command.options for name in option.names]
        words.append(f"        '{path}') words='{' '.join([*command.choices, *names])}' ;;")
        for option in command.options:
            if isinstance(option.value, tuple):
                for name in option.names:
                    values.append(f"    '{path} {name}') words='{' '.join(option.value)}' ;;")
            elif option.value in quoted:
                quoted[option.value].extend(f"*' {name}'" for name in option.names)
    return BASH.format(
        paths=' | '.join(f"'{' '.join(each.words)}'" for each in found if each.words),
        values='\n'.join(values),
        words='\n'.join(words),
        **{name: ' | '.join(dict.fromkeys(each)) for name, each in quoted.items()},
    )


def zsh(found: list[Command]) -> str:
    """Return the script for zsh, which runs that for bash."""
    return ZSH + bash(found)


def fish(found: list[Command]) -> str:
    """Return the script for fish."""
    paths = ' '.join(_quoted(' '.join(each.words)) for each in found if each.words)
    lines = [FISH.format(paths=paths)]
    for command in found:
        at = f'complete -c nova-lite -n "__nova_lite_at \'{" ".join(command.words)}\'"'
        for name, text in command.choices.items():
            lines.append(f'{at} -a {name}' + (f' -d {_quoted(text)}' if text else '') + '\n')
        lines.extend(f'{at}{_fish_option(option)}\n' for option in command.options)
    return ''.join(lines)


def _fish_option(option: Option) -> str:
    names = ''.join(
        f' -l {name[2:]}' if name.startswith('--') else f' -s {name[1:]}' for name in option.names
    )
    value = ''
    if isinstance(option.value, tuple):
        value = f' -x -a {_quoted(" ".join(option.value))}'
    elif option.value == DIRECTORIES:
        value = " -x -a '(__fish_complete_directories)'"
    elif option.value == FILES:
        value = ' -r -F'
    elif option.value is not None:
        value = ' -x'
    return f'{names}{value} -d {_quoted(option.help)}'


def _quoted(text: str) -> str:
    return "'" + text.replace('\\', '\\\\').replace("'", "\\'") + "'"


SHELLS = {'bash': bash, 'zsh': zsh, 'fish': fish}
