"""Neutron v2.0: networks, subnets, ports with bindings, security groups, routers and more."""
