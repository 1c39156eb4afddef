"""Judge the answers to operations on servers in many states by a cloud of nova.

  python -m tools.judge_answers --sample 600

starts a cloud of nova and one of nova_lite as tools.compare_with_nova does, brings servers of both
into the same states (tools.comparison.answer_cases), sends both the same requests of users and
administrators and compares the status and the shape of each answer: which fields there are, of
which types. Texts are not compared. Then it compares how the servers end. Members of server groups
are moved to named hosts, too. Prints the differences by cause: in which states, and a reason if
tools.comparison.answer_reasons has one. The exit code is 1 if a difference has no reason.

With --creations it also sends combinations of the parts of requests for new servers
(tools.comparison.creation_cases). It then compares the status, the subject of a refusal and what is
recorded of the servers, which are not built. With --special it brings servers booted from volumes,
in groups and of other kinds into several states (tools.comparison.special_servers).

--clouds names the state directories of two such clouds that run already. Some of their hosts are
declared down at the end.
"""

import argparse
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import signal
import sys
import typing

from nova_lite import exception
from nova_lite import runtime
from tools.comparison import answer_cases
from tools.comparison import answer_cloud
from tools.comparison import answer_clouds
from tools.comparison import answer_groups
from tools.comparison import answer_shapes
from tools.comparison import answer_table
from tools.comparison import creation_cases
from tools.comparison import creation_judge
from tools.comparison import creation_objects
from tools.comparison import environment
from tools.comparison import special_servers

# One thread sends so many cases of a state, one after the other.
CHUNK = 12
# So many servers of states with a lost host are made at once.
ROUND = 24
Pair: typing.TypeAlias = list[str]


class Judge:
    """Sends cases to both clouds, nova's and ours, and keeps the differences in a table"""

    def __init__(
        self, clouds: Sequence[answer_cloud.Cloud], workers: int, table: answer_table.Table
    ) -> None:
        self._clouds, self._workers, self.table = clouds, workers, table

    def judge(self, cases: Sequence[answer_cases.Case]) -> None:
        """Send all cases."""
        live = [
            case
            for case in cases
            if case.state in answer_cases.STATES or special_servers.SEPARATOR in case.state
        ]
        with runtime.executor(self._workers) as pool:
            list(pool.map(self._chunk, _chunks(live)))
        self._with_lost_host([case for case in cases if case.state in answer_cases.DOWN])
        self._while_building([case for case in cases if case.state == answer_cases.BUILDING])
        self._without_servers([case for case in cases if case.state == answer_cases.NO_SERVER])

    def judge_groups(self, cases: Sequence[answer_groups.GroupCase]) -> None:
        """Move members of server groups. Those that lose their host come last: it stays down."""
        with runtime.executor(self._workers) as pool:
            list(pool.map(self._judge_group, [case for case in cases if not case.loses_host]))
        lost = [case for case in cases if case.loses_host]
        for home in sorted({case.home for case in lost}, reverse=True):
            prepared = [(case, self._prepared(case)) for case in lost if case.home == home]
            self._declare(home, down=True)
            for case, groups in prepared:
                self._moved(case, groups)

    def _judge_group(self, case: answer_groups.GroupCase) -> None:
        self._moved(case, self._prepared(case))

    def _prepared(self, case: answer_groups.GroupCase) -> list[answer_groups.Group]:
        try:
            return [answer_groups.prepare(cloud, case) for cloud in self._clouds]
        except exception.NovaLiteError as error:
            self.table.fail('groups', f'{case}: {error}')
            return []

    def _moved(self, case: answer_groups.GroupCase, groups: Sequence[answer_groups.Group]) -> None:
        if groups:
            ends = [answer_groups.play(group, case) for group in groups]
            self.table.add('groups', str(case), answer_shapes.differences(*ends))
        for group in groups:
            answer_groups.clean(group)

    # ---- servers whose host is up ----

    def _chunk(self, cases: Sequence[answer_cases.Case]) -> None:
        pair: Pair | None = None
        for case in cases:
            pair = pair or self._made(case)
            if pair is None:
                return
            if self._judged(case, pair):
                self._discard(pair)
                pair = None
        if pair:
            self._discard(pair)

    def _made(self, case: answer_cases.Case) -> Pair | None:
        try:
            return [cloud.make(case.state) for cloud in self._clouds]
        except exception.NovaLiteError as error:
            self.table.fail(case.state, str(error))
            return None

    def _judged(self, case: answer_cases.Case, pair: Pair) -> bool:
        """Judge a case with a pair of servers; return whether it may have changed them."""
        answers = self._answers(case, pair)
        if answers is None:
            return True
        changed = case.changes and any(answer.accepted for answer in answers)
        if changed and case.state != answer_cases.BUILDING:
            ends = [cloud.end(uuid) for cloud, uuid in zip(self._clouds, pair, strict=True)]
            self.table.add(case.state, str(case), answer_shapes.differences(*ends), prefix='end ')
        return changed

    def _answers(
        self, case: answer_cases.Case, pair: Pair
    ) -> Sequence[answer_shapes.Answer] | None:
        try:
            answers = [
                cloud.send(case, uuid) for cloud, uuid in zip(self._clouds, pair, strict=True)
            ]
        except exception.NovaLiteError as error:
            self.table.fail(case.state, f'{case}: {error}')
            return None
        self.table.add(case.state, str(case), answer_shapes.of_answers(*answers), texts=answers)
        return answers

    def _discard(self, pair: Pair) -> None:
        for cloud, uuid in zip(self._clouds, pair, strict=True):
            cloud.discard(uuid)

    # ---- others ----

    def _with_lost_host(self, cases: Sequence[answer_cases.Case]) -> None:
        if not cases:
            return
        # After an accepted evacuation the host cannot be declared up again without a restart.
        last = [case for case in cases if 'evacuate' in str(case)]
        others = [case for case in cases if case not in last]
        rounds = [others[start : start + ROUND] for start in range(0, len(others), ROUND)]
        for some in [*rounds, last]:
            with runtime.executor(self._workers) as pool:
                made = list(pool.map(self._made_in_zone, some))
            self._declare(answer_cloud.DOWN_HOST, down=True)
            for case, pair in zip(some, made, strict=True):
                if pair:
                    self._judged(case, pair)
                    self._discard(pair)
            if some is not last:
                self._declare(answer_cloud.DOWN_HOST, down=False)

    def _made_in_zone(self, case: answer_cases.Case) -> Pair | None:
        try:
            return [cloud.make_in_zone(case.state) for cloud in self._clouds]
        except exception.NovaLiteError as error:
            self.table.fail(case.state, str(error))
            return None

    def _declare(self, host: str, *, down: bool) -> None:
        for cloud in self._clouds:
            cloud.force_down(host, down)

    def _while_building(self, cases: Sequence[answer_cases.Case]) -> None:
        made: list[Pair] = []
        with contextlib.ExitStack() as stack:
            for cloud in self._clouds if cases else ():
                stack.callback(cloud.freeze, False)
                cloud.freeze(True)
            pair: Pair | None = None
            for case in cases:
                pair = pair or self._made(case)
                if pair is None:
                    break
                made.append(pair)
                if self._judged(case, pair):
                    pair = None
        for pair in made:
            self._discard(pair)

    def _without_servers(self, cases: Sequence[answer_cases.Case]) -> None:
        for case in cases:
            self._answers(case, ['', ''])


def _chunks(cases: Sequence[answer_cases.Case]) -> list[Sequence[answer_cases.Case]]:
    states = dict.fromkeys(case.state for case in cases)
    found: list[Sequence[answer_cases.Case]] = []
    for state in states:
        own = [case for case in cases if case.state == state]
        found += [own[start : start + CHUNK] for start in range(0, len(own), CHUNK)]
    return found


@contextlib.contextmanager
def _clouds(args: argparse.Namespace) -> Iterator[list[answer_cloud.Cloud]]:
    with contextlib.ExitStack() as stack:
        directories: list[str] = args.clouds or []
        if not directories:
            environment.prepare(args.environment)
            nova = stack.enter_context(answer_clouds.novas(args.environment, args.reclaim))
            ours = stack.enter_context(answer_clouds.ours(args.reclaim))
            directories = [nova.state_dir, ours.state_dir]
        sides = answer_clouds.NOVA, answer_clouds.OURS
        yield [
            answer_cloud.Cloud(side, directory)
            for side, directory in zip(sides, directories, strict=True)
        ]


def _end(number: int, _frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def main(argv: Sequence[str] | None = None) -> int:
    """Judge, and print the differences."""
    args = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, _end)
    states = args.states or answer_cases.EVERY
    if not args.reclaim:
        states = [state for state in states if state not in answer_cases.SOFT]
    cases = answer_cases.chosen(args.sample, args.seed, states)
    groups = answer_groups.every() if args.groups else ()
    with _clouds(args) as clouds:
        judge = Judge(clouds, args.workers, answer_table.Table(args.results))
        objects = []
        if args.special or args.creations:
            objects = [creation_objects.Objects(cloud) for cloud in clouds]
            cases += special_servers.chosen(args.special, args.seed)
        judge.judge(cases)
        judge.judge_groups(groups)
        sent = len(cases) + len(groups)
        if args.creations:
            wanted = creation_cases.chosen(args.creations, args.seed)
            creations = creation_judge.Creations(clouds, objects, judge.table)
            sent += creations.judge(wanted, args.seconds)
    return judge.table.report(sent)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add('--environment', default='.venv-nova', metavar='DIR', help='virtual environment of nova')
    add('--sample', type=int, metavar='N', help='requests to send (default: all)')
    add('--seed', type=int, default=1, help='chooses the sample (default: %(default)s)')
    add(
        '--reclaim',
        type=int,
        default=3600,
        metavar='SECONDS',
        help='reclaim_instance_interval of both clouds; 0: no soft deletion (default: %(default)s)',
    )
    add('--states', nargs='+', choices=answer_cases.EVERY, help='states (default: all)')
    add('--groups', action=argparse.BooleanOptionalAction, default=True, help='server groups')
    add('--creations', type=int, default=0, metavar='N', help='requests for new servers to send')
    add('--special', type=int, default=0, metavar='N', help='requests about special servers')
    add('--seconds', type=float, metavar='S', help='time for requests for new servers')
    add('--workers', type=int, default=6, metavar='N', help='pairs of servers at once')
    add('--results', metavar='FILE', help='file to which each difference is added at once')
    add('--clouds', nargs=2, metavar='DIR', help='state directories of nova and of nova_lite')
    return parser


if __name__ == '__main__':
    sys.exit(main())
