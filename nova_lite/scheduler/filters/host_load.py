"""Filters about the compute service of a host and how busy the host is."""

from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler.filters import base


class AllHostsFilter(base.Filter):
    """Passes every host."""

    once = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        return None


class ComputeFilter(base.Filter):
    """The compute service is up and not disabled."""

    once = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        def refuse(host: hosts.HostState) -> str | None:
            if host.disabled:
                return f'disabled: {host.disabled_reason or "no reason given"}'
            if not host.up:
                return 'its compute service is down'
            return None

        return refuse


class IoOpsFilter(base.Filter):
    """Fewer busy operations than max_io_ops_per_host."""

    key = 'max_io_ops_per_host'

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        def refuse(host: hosts.HostState) -> str | None:
            most = self.limit(host)
            if host.num_io_ops >= most:
                return f'{host.num_io_ops} busy operations, at most {most}'
            return None

        return refuse

    def limit(self, host: hosts.HostState) -> int:
        """Return the maximum number of busy operations on the host."""
        limit: int = self.options.max_io_ops_per_host
        return limit


class AggregateIoOpsFilter(IoOpsFilter):
    """As IoOpsFilter, with limits in the metadata of the host's aggregates."""

    def limit(self, host: hosts.HostState) -> int:
        return base.aggregate_number(host, self.key, self.options.max_io_ops_per_host)


class NumInstancesFilter(base.Filter):
    """Fewer servers than max_instances_per_host."""

    key = 'max_instances_per_host'

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        def refuse(host: hosts.HostState) -> str | None:
            most = self.limit(host)
            if host.num_instances >= most:
                return f'{host.num_instances} servers, at most {most}'
            return None

        return refuse

    def limit(self, host: hosts.HostState) -> int:
        """Return the maximum number of servers on the host."""
        limit: int = self.options.max_instances_per_host
        return limit


class AggregateNumInstancesFilter(NumInstancesFilter):
    """As NumInstancesFilter, with limits in the metadata of the host's aggregates."""

    def limit(self, host: hosts.HostState) -> int:
        return base.aggregate_number(host, self.key, self.options.max_instances_per_host)


class MetricsFilter(base.Filter):
    """The host reports every metric that [metrics]weight_setting names."""

    once = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        wanted = self.conf.metrics.weight_setting

        def refuse(host: hosts.HostState) -> str | None:
            missing = [name for name in wanted if name not in host.metrics]
            return f'does not report {", ".join(missing)}' if missing else None

        return refuse if wanted else None
