"""Weighers of a host itself: its free resources, load, version, failed builds and metrics."""

import operator

from nova_lite import exception
from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler.weighers import base


class RAMWeigher(base.Weigher):
    """More free memory."""

    option = 'ram_weight_multiplier'
    minimum = 0

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        return operator.attrgetter('free_ram_mb')


class CPUWeigher(base.Weigher):
    """More free vCPUs, the allocation ratio applied."""

    option = 'cpu_weight_multiplier'
    minimum = 0

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        return operator.attrgetter('free_vcpus')


class DiskWeigher(base.Weigher):
    """More free disk."""

    option = 'disk_weight_multiplier'
    minimum = 0

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        return operator.attrgetter('free_disk_mb')


class HypervisorVersionWeigher(base.Weigher):
    """A newer hypervisor."""

    option = 'hypervisor_version_weight_multiplier'

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        return operator.attrgetter('hypervisor_version')


class NumInstancesWeigher(base.Weigher):
    """More servers; a negative multiplier spreads them."""

    option = 'num_instances_weight_multiplier'

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        return operator.attrgetter('num_instances')


class IoOpsWeigher(base.Weigher):
    """More busy operations; the multiplier is negative unless set otherwise."""

    option = 'io_ops_weight_multiplier'
    minimum = 0

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        return operator.attrgetter('num_io_ops')


class PCIWeigher(base.Weigher):
    """Fewer free PCI devices, so that servers leave devices that they do not want to others."""

    option = 'pci_weight_multiplier'
    negated = True

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        return operator.attrgetter('free_devices')


class BuildFailureWeigher(base.Weigher):
    """Fewer builds that failed of late."""

    option = 'build_failure_weight_multiplier'
    negated = True

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        return operator.attrgetter('failed_builds')


class MetricsWeigher(base.Weigher):
    """Weigh the metrics that a host reports by [metrics]weight_setting."""

    group = 'metrics'
    option = 'weight_multiplier'
    key = 'metrics_weight_multiplier'

    def measure(self, request: scheduling_request.Request) -> base.Measure | None:
        metrics = self.conf.metrics
        ratios: dict[str, float] = metrics.weight_setting
        if not ratios:
            return None

        def value(host: hosts.HostState) -> float:
            missing = [name for name in ratios if name not in host.metrics]
            if missing and metrics.required:
                raise exception.ComputeHostMetricNotFound(
                    name=missing[0], host=host.host, node=host.node
                )
            if missing:
                unavailable: float = metrics.weight_of_unavailable
                return unavailable
            return sum(host.metrics[name] * ratio for name, ratio in ratios.items())

        return value
