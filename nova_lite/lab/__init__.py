"""Work with clouds on one machine: their launcher, commands, page, clock and test fixtures."""
