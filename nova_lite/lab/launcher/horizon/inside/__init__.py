"""Programs and settings that the interpreter of Horizon's environment reads, not this package."""
