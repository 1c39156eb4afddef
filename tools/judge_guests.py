"""Judge pairs of a flavor and an image by the checks of an installed nova.

  python -m tools.judge_guests

makes pairs (see tools.comparison.guest_pairs), asks nova, which is installed as for
tools.compare_with_nova, and us. Prints the differences of status by cause with a sample of each.
The exit code is 1 if there is a difference that EXPLAINED does not have. Texts and names of
refusals are compared, too, but only counted.
"""

import argparse
import collections
from collections.abc import Sequence
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lifecycle.guests import agreement
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import pci
from nova_lite.lifecycle.guests import tpm
from tools.comparison import environment
from tools.comparison import guest_pairs

JUDGE = pathlib.Path(__file__).parent / 'comparison' / 'nova_guests.py'
NAME, IMAGE = 'judged', '8f5a0b52-3a0e-4c3c-9d1b-6a2f1f1f0c11'
# Extra specs of the flavor of a server that is resized, as in tools.comparison.nova_guests.
FORMER = {'hw:tpm_version': '2.0'}
Verdict: typing.TypeAlias = dict[str, str | None]
# {(name of nova's exception, ours): reason}. A star marks what nova answers with 500.
EXPLAINED: dict[tuple[str | None, str | None], str] = {
    ('*ValueError', 'PciAliasCountInvalid'): 'an alias without a count is answered with 400',
    ('*ValueError', 'InvalidFlavorExtraSpec'): 'memory that is no number is answered with 400',
    ('*ValueError', None): 'an empty thread policy is no policy',
    (None, 'InvalidPCINUMAAffinity'): (
        'nova refuses an unknown PCI affinity of a flavor at create, and not at resize and rebuild'
    ),
    (None, 'ImagePCINUMAPolicyForbidden'): (
        'nova refuses different PCI affinities of flavor and image at create alone'
    ),
    ('*ValueError', 'ImagePCINUMAPolicyForbidden'): 'an alias without a count is answered with 400',
}


def ours(pair: guest_pairs.Pair) -> tuple[str | None, str | None]:
    """Return (name of our refusal, its text), or (None, None)."""
    guest = constraints.Asked(
        pair['vcpus'],
        pair['memory_mb'],
        pair['extra_specs'],
        pair['properties'],
        flavor_name=NAME,
        image_name=NAME,
        image_id=IMAGE,
    )
    try:
        constraints.of(guest)
        if pair['check'] != 'rebuild':
            pci.resolve(pair['extra_specs'], {})
        if pair['check'] == 'resize':
            tpm.check_resize(dataclasses.replace(guest, specs=FORMER), guest)
        else:
            agreement.sound_model(guest)
        if pair['check'] == 'create':
            agreement.ephemeral_encryption(guest)
    except exception.Invalid as error:
        return type(error).__name__, str(error)
    return None, None


def status(name: str | None) -> int:
    """Return the status that follows from the name of a refusal or failure."""
    if name is None:
        return 202
    return 500 if name.startswith('*') else 400


def chosen(number: int, seed: int) -> list[guest_pairs.Pair]:
    """Return `number` pairs: all of one key, and a sample of the others."""
    every = list(guest_pairs.pairs(seed, number))
    single = [p for p in every if len(p['extra_specs']) + len(p['properties']) == 1]
    others = [p for p in every if len(p['extra_specs']) + len(p['properties']) > 1]
    # Half of two keys, half of more.
    twos, more = others[:-number], others[-number:]
    half = max(number - len(single), 0) // 2
    chance = runtime.seeded_random(seed)
    return single + chance.sample(twos, min(half, len(twos))) + chance.sample(more, half)


def main(argv: Sequence[str] | None = None) -> int:
    """Judge, and print the differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--environment', default='.venv-nova', metavar='DIR')
    parser.add_argument('--pairs', type=int, default=20000, metavar='NUMBER')
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args(argv)
    environment.prepare(args.environment)
    asked = chosen(args.pairs, args.seed)
    python = os.path.join(args.environment, 'bin', 'python')
    lines = ''.join(f'{json.dumps(pair)}\n' for pair in asked)
    done = subprocess.run(
        [python, str(JUDGE)], input=lines, stdout=subprocess.PIPE, text=True, check=True
    )
    return report(asked, [json.loads(line) for line in done.stdout.splitlines()])


def report(asked: Sequence[guest_pairs.Pair], verdicts: Sequence[Verdict]) -> int:
    """Print the differences; return 1 if one of them has no explanation."""
    causes: dict[tuple[str | None, str | None], list[tuple[guest_pairs.Pair, str | None]]] = {}
    refused = alike = 0
    for pair, verdict in zip(asked, verdicts, strict=True):
        name, text = ours(pair)
        refused += name is not None
        alike += name is not None and text == verdict['reason']
        if status(name) != status(verdict['kind']):
            causes.setdefault((verdict['kind'], name), []).append((pair, verdict['reason']))
    for cause, found in causes.items():
        pair, reason = min(found, key=lambda each: len(str(each[0])))
        print(f'{len(found)} x nova {cause[0]}, here {cause[1]}: {EXPLAINED.get(cause, "NEW")}')
        print(f'  {json.dumps(pair)}\n  nova: {reason}')
    counts = collections.Counter(pair['check'] for pair in asked)
    sent = ', '.join(f'{count} at {check}' for check, count in counts.items())
    different = sum(map(len, causes.values()))
    new = {cause for cause in causes if cause not in EXPLAINED}
    print(
        f'{len(asked)} pairs sent ({sent}); {refused} refused here, {alike} with the text of '
        f'nova; {different} differ in status, {sum(len(causes[each]) for each in new)} of them '
        'without an explanation'
    )
    return 1 if new else 0


if __name__ == '__main__':
    sys.exit(main())
