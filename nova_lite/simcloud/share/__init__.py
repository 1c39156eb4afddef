"""The shared file system service: the parts of Manila v2 that nova and users of shares call."""
