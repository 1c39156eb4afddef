"""The pre-copy model, on generated hosts and guests."""

import math

import hypothesis
from hypothesis import strategies as st
import testtools

from nova_lite.virt.sim import precopy
from tests.fixtures import examples

RATE = st.floats(0.5, 1e5)
PARAMETERS = st.builds(
    precopy.Parameters,
    memory_mb=st.integers(1, 10**7),
    disk_mb=st.floats(0, 1e7),
    bandwidth_mb_s=RATE,
    dirty_rate_mb_s=st.one_of(st.just(0), RATE),
    max_downtime_ms=st.integers(1, 10_000),
    auto_converge=st.booleans(),
    converges=st.sampled_from([None, None, False, True]),
)
FORCES = st.one_of(
    st.none(), st.builds(precopy.Force, st.floats(0, 1e6), st.sampled_from(precopy.ForceMode))
)
SETTINGS = examples.settings(60)


def moments(params, force):
    """Instants worth a look: before, at and after each change of phase."""
    ends = precopy.timeline(params, force)
    last = (
        ends.completed
        if math.isfinite(ends.completed)
        else (params.disk_seconds + 20 * params.memory_mb / params.bandwidth_mb_s)
    )
    return sorted(last * part / 17 for part in range(20))


def converges(params):
    """Return whether a copy ends without being forced."""
    if params.memory_mb <= params.threshold_mb:
        return True
    return params.throttled or params.dirty < params.bandwidth_mb_s


class PrecopyProperties(testtools.TestCase):
    @SETTINGS
    @hypothesis.given(PARAMETERS, FORCES)
    def test_counters_add_up_and_processed_never_falls(self, params, force):
        before = None
        for moment in moments(params, force):
            found = precopy.progress(params, moment, force)
            self.assertEqual(found.disk_total, found.disk_processed + found.disk_remaining)
            self.assertTrue(0 <= found.memory_remaining <= found.memory_total)
            self.assertTrue(0 <= found.throttle_percent <= 99)
            if before is not None:
                self.assertGreaterEqual(found.memory_processed, before.memory_processed)
                self.assertGreaterEqual(found.disk_processed, before.disk_processed)
                self.assertGreaterEqual(found.iteration, before.iteration)
            before = found

    @SETTINGS
    @hypothesis.given(PARAMETERS)
    def test_converges_if_and_only_if_the_link_is_faster(self, params):
        ends = precopy.timeline(params)
        self.assertEqual(converges(params), math.isfinite(ends.completed))
        if params.converges is None and params.memory_mb > params.threshold_mb:
            self.assertEqual(
                params.bandwidth_mb_s > params.dirty_rate_mb_s or params.auto_converge,
                converges(params),
            )
        elif params.converges is not None:
            self.assertEqual(
                params.converges or params.memory_mb <= params.threshold_mb,
                converges(params),
            )

    @SETTINGS
    @hypothesis.given(PARAMETERS, st.floats(0, 1e6), st.sampled_from(precopy.ForceMode))
    def test_a_forced_copy_ends(self, params, at, mode):
        natural = precopy.timeline(params)
        ends = precopy.timeline(params, precopy.Force(at, mode))
        self.assertTrue(math.isfinite(ends.completed))
        self.assertLessEqual(ends.handover, ends.completed)
        if math.isfinite(natural.completed) and at < natural.completed - natural.downtime:
            # Nothing more is written once the guest is paused.
            self.assertLessEqual(ends.handover, natural.completed * (1 + 1e-9) + 1e-9)

    @SETTINGS
    @hypothesis.given(PARAMETERS, FORCES)
    def test_the_end_leaves_nothing_over(self, params, force):
        ends = precopy.timeline(params, force)
        hypothesis.assume(math.isfinite(ends.completed))
        found = precopy.progress(params, ends.completed, force)
        self.assertEqual(precopy.Phase.COMPLETED, found.phase)
        self.assertEqual((0, 0), (found.memory_remaining, found.disk_remaining))
        self.assertGreaterEqual(found.memory_processed, found.memory_total * (1 - 1e-6) - 1024)
        if force is None:
            self.assertLessEqual(found.downtime_ms, params.max_downtime_ms + 1)


class PrecopyExamples(testtools.TestCase):
    PARAMS = precopy.Parameters(
        memory_mb=4096, disk_mb=1024, bandwidth_mb_s=1024, dirty_rate_mb_s=512, max_downtime_ms=300
    )

    def test_rounds(self):
        # 1 s of disks; rounds of 4, 2, 1, 0.5 s; the 0.25 s that is left is downtime.
        ends = precopy.timeline(self.PARAMS)
        self.assertAlmostEqual(8.75, ends.completed)
        self.assertAlmostEqual(0.25, ends.downtime)
        found = precopy.progress(self.PARAMS, 6.0)
        self.assertEqual((precopy.Phase.MEMORY, 2), (found.phase, found.iteration))
        self.assertEqual(1024 * precopy.MB, found.memory_remaining)
        self.assertEqual(5 * 1024 * precopy.MB, found.memory_processed)
        self.assertEqual(precopy.Phase.SWITCHOVER, precopy.progress(self.PARAMS, 8.6).phase)
        self.assertEqual(precopy.Phase.DISK, precopy.progress(self.PARAMS, 0.5).phase)

    def test_pause_sends_what_is_left_and_what_was_written(self):
        force = precopy.Force(2.0, precopy.ForceMode.PAUSE)
        # 3 GiB of the first round are left and 0.5 GiB were written meanwhile.
        self.assertAlmostEqual(5.5, precopy.timeline(self.PARAMS, force).completed)
        found = precopy.progress(self.PARAMS, 3.0, force)
        self.assertEqual(precopy.Phase.PAUSED, found.phase)
        self.assertEqual(2560 * precopy.MB, found.memory_remaining)

    def test_post_copy_hands_over_first(self):
        force = precopy.Force(2.0, precopy.ForceMode.POST_COPY)
        ends = precopy.timeline(self.PARAMS, force)
        self.assertAlmostEqual(2.0, ends.handover)
        self.assertAlmostEqual(5.5, ends.completed)

    def test_post_copy_waits_for_the_disks(self):
        force = precopy.Force(0.5, precopy.ForceMode.POST_COPY)
        self.assertAlmostEqual(1.0, precopy.timeline(self.PARAMS, force).handover)

    def test_auto_converge_slows_a_guest_that_writes_too_fast(self):
        busy = precopy.Parameters(1024, 0, 100, 150, auto_converge=True)
        throttles = {precopy.progress(busy, second).throttle_percent for second in range(0, 60, 2)}
        self.assertEqual({0, 20, 30, 40, 50}, throttles & {0, 20, 30, 40, 50})
        self.assertTrue(
            math.isinf(precopy.timeline(precopy.Parameters(1024, 0, 100, 150)).completed)
        )
