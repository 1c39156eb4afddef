"""The drills, a file each."""
