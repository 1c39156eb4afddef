"""What the simulated cloud runs on: files, databases, buses and HTTP without sockets."""
