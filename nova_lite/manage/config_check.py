"""nova-lite-status config check: the effects in nova_lite of the settings of a nova.conf."""

from collections.abc import Iterator
from collections.abc import Sequence
import enum
import functools
import importlib.resources
import itertools
import json
import re
import typing

from oslo_config import cfg

from nova_lite import conf as conf_module
from nova_lite.conf import known_options
from nova_lite.scheduler import enabled

# A default that nova computes at its start is written like <this>.
COMPUTED = '<'
# The name of another option in a value: $NAME, ${NAME} or ${GROUP.NAME}.
REFERENCE = re.compile(r'(?<!\\)\$\{?([a-z_][a-z0-9_.]*)')


class Effect(enum.StrEnum):
    """The effect of a setting in nova_lite."""

    WORKS = 'works'
    OTHER_NAME = 'works as'
    NO_EFFECT = 'no effect'
    UNKNOWN = 'unknown'
    REFUSED = 'refused'


class Finding(typing.NamedTuple):
    """The effect of one setting of a file.

    detail: the option that the setting sets (OTHER_NAME); why a daemon refuses to start (REFUSED)
    """

    setting: known_options.Setting
    effect: Effect
    detail: str = ''


class Default(typing.NamedTuple):
    """An option that no file sets, and whose default is not nova's."""

    name: str
    ours: object
    nova: object


@functools.cache
def _table() -> dict[str, typing.Any]:
    text = importlib.resources.files(__package__).joinpath('nova_options.json').read_text()
    found: dict[str, typing.Any] = json.loads(text)
    return found


def nova_version() -> str:
    """Return the version of nova whose options are compared."""
    version: str = _table()['nova']
    return version


class Files:
    """Configuration files, read in order as a daemon reads them.

    Raises cfg.Error for a file with wrong syntax, OSError for a file that cannot be read.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._sections = {path: known_options.read(path) for path in paths}
        self._known = known_options.Known(known_options.plugins_of(self._sections.values()))
        self._conf = conf_module.make_conf(files=list(paths))

    @functools.cached_property
    def findings(self) -> list[Finding]:
        """Return the effect of each setting, in the order of the files."""
        return [
            self._finding(known_options.Setting(path, group, name), values)
            for path, sections in self._sections.items()
            for group, settings in sections.items()
            for name, values in settings.items()
        ]

    def defaults(self) -> list[Default]:
        """Return the options that no file sets and whose defaults differ from nova's."""
        named = {
            self._known.option(finding.setting.group, finding.setting.name)
            for finding in self.findings
        }
        return [
            Default(f'[{group}]{option.dest}', option.default, theirs)
            for group, option in _options()
            if (group, option.dest) not in named
            for theirs in [_table()['options'].get(group, {}).get(option.dest, option.default)]
            if _differs(option.default, theirs)
        ]

    def _finding(self, setting: known_options.Setting, values: Sequence[str]) -> Finding:
        found = self._known.option(setting.group, setting.name)
        if found is None:
            of_nova = setting.name in _table()['options'].get(setting.group, {})
            return Finding(setting, Effect.NO_EFFECT if of_nova else Effect.UNKNOWN)
        reason = self._missing(values) or self._refusal(*found)
        if reason:
            return Finding(setting, Effect.REFUSED, reason)
        if found != (setting.group, setting.name):
            return Finding(setting, Effect.OTHER_NAME, '[%s]%s' % found)
        return Finding(setting, Effect.WORKS)

    def _refusal(self, group: str, name: str) -> str:
        """Return why a daemon does not start with the value of an option, or ''."""
        try:
            section = self._conf if group == known_options.DEFAULT else self._conf[group]
            section[name]
            enabled.require_names(self._conf, group, name)
        except cfg.NoSuchOptError:
            # A library registers it when it is used, as the options of plugins.
            return ''
        except (cfg.Error, ValueError) as error:
            # oslo.config's words for the place of the value come before these.
            before, middle, reason = str(error).partition(' is not valid: ')
            return reason if middle else before
        return ''

    def _missing(self, values: Sequence[str]) -> str:
        """Return why values refer to what does not exist, or ''."""
        for name in itertools.chain.from_iterable(map(REFERENCE.findall, values)):
            group, _dot, option = name.rpartition('.')
            if self._known.option(group or known_options.DEFAULT, option) is None:
                return f'it refers to ${name}, an option that does not exist here'
        return ''


def _options() -> Iterator[tuple[str, cfg.Opt]]:
    for group, options in conf_module.list_opts():
        for option in options:
            yield group, option


def _differs(ours: object, theirs: object) -> bool:
    if isinstance(theirs, str) and theirs.startswith((COMPUTED, '$')):
        return False
    # An empty list is how nova's table has an empty mapping.
    return json.loads(json.dumps(ours)) != theirs and bool(ours or theirs)


def code(findings: Sequence[Finding]) -> int:
    """Return the exit code: 0 all works; 1 a setting has no effect; 2 a value is refused."""
    effects = {finding.effect for finding in findings}
    if Effect.REFUSED in effects:
        return 2
    return int(bool(effects & {Effect.NO_EFFECT, Effect.UNKNOWN}))


def document(files: Files) -> dict[str, typing.Any]:
    """Return the result as values for JSON."""
    return {
        'nova': nova_version(),
        'settings': [
            {**finding.setting._asdict(), 'effect': finding.effect, 'detail': finding.detail}
            for finding in files.findings
        ],
        'other_defaults': [default._asdict() for default in files.defaults()],
    }


def lines(files: Files) -> Iterator[str]:
    """Yield the lines of the result for people: all but what works as in nova."""
    findings = files.findings
    for finding in findings:
        if finding.effect != Effect.WORKS:
            yield f'{finding.setting}: {_told(finding)}'
    counts = {effect: sum(each.effect == effect for each in findings) for effect in Effect}
    summed = ', '.join(f'{effect}: {number}' for effect, number in counts.items() if number)
    yield f'{len(findings)} settings; {summed or "none"}.'
    defaults = files.defaults()
    if defaults:
        yield f'Not set, with another default than in nova {nova_version()}:'
    for default in defaults:
        yield f'  {default.name}: {_shown(default.ours)} (nova: {_shown(default.nova)})'


def _told(finding: Finding) -> str:
    between = ' ' if finding.effect == Effect.OTHER_NAME else ': '
    return between.join(filter(None, (finding.effect, finding.detail)))


def _shown(value: object) -> str:
    return 'unset' if value is None else json.dumps(value)
