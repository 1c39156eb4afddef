"""Metrics of a process for Prometheus.

All of them are declared here, so that the reference page, the dashboard's test and
the code read one list. Metrics that are read from databases at each scrape, such as those of
sagas and capacity, are in `monitoring`.
"""

from collections.abc import Iterator
import contextlib

import prometheus_client

from nova_lite import runtime

# Seconds. From a call on the embedded bus to a step that waits for a guest.
BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60)
OK = 'ok'

API = prometheus_client.Histogram(
    'nova_lite_api_seconds',
    'Response time of the compute API, by operation and status code.',
    ('operation', 'code'),
    buckets=BUCKETS,
)
RPC = prometheus_client.Histogram(
    'nova_lite_rpc_seconds',
    'Time of an RPC, measured by its caller (client) and its daemon (server). '
    'outcome: ok or the kind of error.',
    ('interface', 'method', 'side', 'outcome'),
    buckets=BUCKETS,
)
STEPS = prometheus_client.Histogram(
    'nova_lite_saga_step_seconds',
    'Time of a run of a saga step, without waits for its end. '
    'direction: forward or undo; outcome: ok or the kind of error.',
    ('kind', 'step', 'direction', 'outcome'),
    buckets=BUCKETS,
)
DECISIONS = prometheus_client.Counter(
    'nova_lite_scheduler_decisions_total',
    'Decisions of the scheduler. outcome: ok or the kind of error.',
    ('outcome',),
)
REFUSED = prometheus_client.Counter(
    'nova_lite_scheduler_hosts_refused_total',
    'Hosts that placement returned and a filter or the claim refused.',
    ('filter',),
)
REJECTED = prometheus_client.Counter(
    'nova_lite_conductor_reports_rejected_total',
    'Reports of hosts that the table of states refuses. They set the server to ERROR.',
    ('event',),
)
TRANSACTIONS = prometheus_client.Counter(
    'nova_lite_database_transactions_total',
    'Committed transactions. kind: read or write.',
    ('database', 'kind'),
)
STATEMENTS = prometheus_client.Counter(
    'nova_lite_database_statements_total',
    'Statements, without those that begin and end transactions.',
    ('database',),
)
REQUESTS = prometheus_client.Counter(
    'nova_lite_neighbour_requests_total',
    'HTTP requests to other services (image, network, placement, volume, …), with repetitions.',
    ('service', 'method'),
)
DECLARED = (
    *(API, RPC, STEPS),
    *(DECISIONS, REFUSED, REJECTED),
    *(TRANSACTIONS, STATEMENTS, REQUESTS),
)


@contextlib.contextmanager
def timed(histogram: prometheus_client.Histogram, **labels: str) -> Iterator[None]:
    """Time the block. The label `outcome` has the class of an error that leaves it."""
    started = runtime.monotonic()
    outcome = OK
    try:
        yield
    except Exception as error:
        outcome = type(error).__name__
        raise
    finally:
        histogram.labels(**labels, outcome=outcome).observe(runtime.monotonic() - started)
