"""What the super-conductor looks for again and again; each audit is one module."""
