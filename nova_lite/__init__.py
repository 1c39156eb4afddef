"""nova_lite: a Nova-compatible compute control plane over simulated hosts."""
