"""Texts of refusals: their subjects, and their form without ids; pure functions."""

import json
import re

# (pattern, placeholder), in this order.
_VALUES = (
    (re.compile(r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'), 'ID'),
    (re.compile(r'(?<=Value: ).*', re.DOTALL), '...'),
    (re.compile(r"^(['\"\[{]).*?(?= (is|does|has|was) )", re.DOTALL), '...'),
    (re.compile(r'\d+(\.\d+)+|(?<![\w-])-?\d+'), 'N'),
    (re.compile(r'\s+'), ' '),
)
LENGTH = 110
# {subject: words of texts about it}. A text may have several subjects.
SUBJECTS = {
    'schema': r'invalid input for|additional properties|unexpected|is a required property|is not valid under|value was provided',
    'policy': r"policy doesn't allow|not allowed by policy|policy does not",
    'quota': r'quota|exceeded|too many',
    'boot': r'boot (sequence|index|disk)|not bootable|booting from volume',
    'device': r'block device|block_device|bdm|device type|disk bus|mapping',
    'root': r'root device',
    'volume': r'volume',
    'snapshot': r'snapshot',
    'image': r'image',
    'flavor': r'flavor',
    'port': r'\bport',
    'network': r'network',
    'address': r'\bip\b|fixed_ip|fixed ip|address|subnet',
    'group': r'security.?group',
    'server group': r'instance.?group|server.?group',
    'key': r'key_?(pair|name)',
    'zone': r'zone',
    'host': r'host\b|hypervisor',
    'count': r'min_count|max_count|multiple|max_servers|launch',
    'data': r'user_?data',
    'file': r'personality|injected',
    'certificate': r'certificate',
    'swap': r'swap|ephemeral',
    'pci': r'pci',
}  # fmt: skip
_COMPILED = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in SUBJECTS.items()}


def message(body: str) -> str:
    """Return the message of an error in the form of nova, or the body."""
    try:
        (fault,) = json.loads(body).values()
        return str(fault['message'])
    except (AttributeError, KeyError, TypeError, ValueError):
        return body


def normal(text: str) -> str:
    """Return a text without what differs between two requests or clouds."""
    for pattern, placeholder in _VALUES:
        text = pattern.sub(placeholder, text)
    return text[:LENGTH].strip()


def subjects(text: str) -> frozenset[str]:
    """Return what a text is about."""
    return frozenset(name for name, pattern in _COMPILED.items() if pattern.search(text))


def agree(nova: str, ours: str) -> bool:
    """Return whether two texts have a common subject, or neither has one.

    A refusal by the schema agrees with another refusal by the schema only.
    """
    theirs, here = subjects(nova), subjects(ours)
    if 'schema' in theirs ^ here:
        return False
    return bool(theirs & here) or not (theirs or here)
