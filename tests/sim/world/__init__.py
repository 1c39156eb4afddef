"""The simulated cloud's surroundings: files, databases, buses and HTTP without sockets."""
