"""The verbs of nova-lite-manage, and the checks of nova-lite-status; each module is a subject."""
