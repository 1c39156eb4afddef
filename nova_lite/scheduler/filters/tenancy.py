"""Filters that keep projects, flavors and images to certain hosts."""

from nova_lite.lifecycle.guests import former_names
from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request
from nova_lite.scheduler.filters import base

PROJECT_KEY = 'filter_tenant_id'


class AggregateMultiTenancyIsolation(base.Filter):
    """Hosts whose aggregates name projects accept only these. Other hosts accept all projects."""

    once = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        def refuse(host: hosts.HostState) -> str | None:
            projects = {
                project
                for key in host.metadata
                if key.startswith(PROJECT_KEY)
                for project in base.aggregate_values(host, key)
            }
            if projects and request.project_id not in projects:
                return 'its aggregates are for other projects'
            return None

        return refuse


class AggregateTypeAffinityFilter(base.Filter):
    """Hosts whose aggregates name flavors (`instance_type`) accept only these."""

    once = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        def refuse(host: hosts.HostState) -> str | None:
            flavors = base.aggregate_values(host, 'instance_type')
            if flavors and request.flavor_name not in flavors:
                return f'its aggregates are for the flavors {", ".join(sorted(flavors))}'
            return None

        return refuse


class AggregateImagePropertiesIsolation(base.Filter):
    """Require the values that an aggregate's metadata has for the properties of the image.

    An image without that property passes.
    """

    once = True
    on_rebuild = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        namespace = self.options.aggregate_image_properties_isolation_namespace
        separator = self.options.aggregate_image_properties_isolation_separator
        prefix = namespace + separator if namespace else ''
        given = former_names.replaced(request.image_properties)
        properties = {key: value for key, value in given.items() if key.startswith(prefix)}

        def refuse(host: hosts.HostState) -> str | None:
            for key, value in properties.items():
                allowed = base.aggregate_values(host, key)
                if allowed and str(value) not in allowed:
                    return f'its aggregates require {key} to be {", ".join(sorted(allowed))}'
            return None

        return refuse if properties else None


class IsolatedHostsFilter(base.Filter):
    """Isolated images go only to isolated hosts, which can be restricted to these images."""

    once = True
    on_rebuild = True

    def rule(self, request: scheduling_request.Request) -> base.Refuse | None:
        isolated = set(self.options.isolated_hosts)
        images = set(self.options.isolated_images)
        restrict = self.options.restrict_isolated_hosts_to_isolated_images
        image_isolated = request.image_id in images

        def refuse(host: hosts.HostState) -> str | None:
            host_isolated = host.host in isolated
            if image_isolated and not host_isolated:
                return 'the image is for isolated hosts only'
            if restrict and host_isolated and not image_isolated:
                return 'the host is for isolated images only'
            return None

        return refuse if isolated or images else None
