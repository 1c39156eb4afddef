"""The rules by which a flavor and an image together describe a guest. No module here does I/O."""
