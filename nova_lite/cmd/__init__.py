"""Commands and daemons' entry points: wiring, no behaviour of their own."""
