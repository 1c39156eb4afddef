"""The scenes of `nova-lite demo`, played on a real cloud."""
