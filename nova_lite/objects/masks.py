"""CPU masks such as `0-3,^2`."""

from nova_lite import exception

# Highest CPU number that a mask may include: a mask must not fill the memory.
HIGHEST = 65535


class InvalidMask(exception.Invalid):
    msg = "Invalid %(part)s expression '%(text)s'"


def cpus(mask: str) -> frozenset[int]:
    """Return the CPU numbers that a mask includes and does not exclude. Raise InvalidMask."""
    included: set[int] = set()
    excluded: list[range] = []
    for part in mask.split(','):
        text = part.strip()
        if not text:
            continue
        numbers = _numbers(text)
        if text.startswith('^'):
            excluded.append(numbers)
        elif numbers[-1] > HIGHEST:
            raise InvalidMask(part='range', text=text)
        else:
            included.update(numbers)
    return frozenset(n for n in included if not any(n in numbers for numbers in excluded))


def cpus_of(mask: str, count: int) -> frozenset[int]:
    """Return the CPU numbers of a mask that, beginning with an exclusion, includes the others."""
    return cpus(f'0-{count - 1},{mask}' if mask.startswith('^') else mask)


def _numbers(text: str) -> range:
    first, dash, last = text.removeprefix('^').partition('-')
    kind = 'range' if dash else 'exclusion' if text.startswith('^') else 'inclusion'
    try:
        start = int(first)
        numbers = range(start, int(last if dash else first) + 1)
    except ValueError:
        raise InvalidMask(part=kind, text=text) from None
    if not numbers:
        raise InvalidMask(part=kind, text=text)
    return numbers
