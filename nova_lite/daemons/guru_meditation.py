"""Guru Meditation Reports of oslo.reports: the state of a daemon, written on SIGUSR2."""

from collections.abc import Iterable
import importlib.metadata
import typing

from oslo_config import cfg

from nova_lite.daemons.monitoring import health as health_module

PACKAGE = 'nova-lite'


class Version:
    """The version of the product, in the form that oslo.reports expects."""

    def vendor_string(self) -> str:
        return PACKAGE

    def product_string(self) -> str:
        return PACKAGE

    def version_string_with_package(self) -> str:
        return importlib.metadata.version(PACKAGE)


def on_signal(conf: cfg.ConfigOpts, healths: Iterable[health_module.Health]) -> None:
    """Write threads, configuration and health to standard error on SIGUSR2.

    Options that are marked as secret are masked.
    """
    # A cloud in one process does not need the reports.
    from oslo_reports import guru_meditation_report
    from oslo_reports.generators import conf as conf_generator

    report = guru_meditation_report.TextGuruMeditation
    report.persistent_sections = []
    report.register_section(
        'Configuration of this daemon', conf_generator.ConfigReportGenerator(conf)
    )
    report.register_section('Health', lambda: _health(healths))
    report.setup_autorun(Version())


def _health(healths: Iterable[health_module.Health]) -> typing.Any:
    from oslo_reports.models import with_default_views

    found = {health.daemon: health.report()[1]['checks'] for health in healths}
    return with_default_views.ModelWithDefaultViews(found)
