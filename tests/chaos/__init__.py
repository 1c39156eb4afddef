"""Racing clients and a nemesis against a cloud of processes; what they find is reported."""
