"""Changes by outsiders: people who change objects of servers without asking the compute service."""

import dataclasses
import itertools
import typing

from tests.sim import kernel
from tests.sim.workload import codes

# What is said of a server's state by an administrator.
RESET, CHANGE_QUOTA, DELETE_PROVIDER = 'reset state', 'change quota', 'delete provider'
# What an owner or an administrator says of a volume.
RESET_VOLUME = 'reset volume'
# RESET_VOLUME of a volume whose status says that somebody works on it.
STICK_VOLUME = 'stick volume'


@dataclasses.dataclass
class Change:
    """A change of one object by an outsider. call: a caller.Call, None before its answer

    value: the one that the object is to have, of some changes
    """

    what: str
    uuid: str
    began: float
    value: str | None = None
    call: typing.Any = None

    @property
    def may_be_done(self):
        """Return whether the request was not refused."""
        return self.call is None or self.call.code not in codes.REFUSALS

    @property
    def is_done(self):
        """Return whether the request was accepted."""
        return self.call is not None and self.call.code in codes.DONE

    def overlaps(self, began, ended):
        """Return whether the request was under way between two virtual times."""
        return self.began <= ended and (self.call is None or began <= self.call.ended)


class Outside:
    """changes: [Change, ...], in the order in which they were sent

    parts: {id: True} of snapshots that images referred to when an owner deleted these
    """

    def __init__(self):
        self.changes, self.parts = [], {}

    def begin(self, what, uuid, value=None, *, began=0.0):
        """An outsider is about to change an object; return the Change, to be given its Call."""
        change = Change(what, uuid, began, value)
        self.changes.append(change)
        return change

    def done(self, *names):
        """Return {id: the last Change} of objects for which one of these was accepted."""
        return {each.uuid: each for each in self.changes if each.what in names and each.is_done}

    def may_have(self, uuid, *names):
        """Return whether one of these may have been done to an object."""
        return any(
            each.uuid == uuid and each.what in names and each.may_be_done for each in self.changes
        )

    def resets(self):
        """Return whether an administrator has reset the state of a server."""
        return any(each.what == RESET and each.may_be_done for each in self.changes)

    def values(self, what, uuid):
        """Return the values that an object may have been given by changes of a kind."""
        return [
            each.value
            for each in self.changes
            if each.what == what and each.uuid == uuid and each.may_be_done
        ]

    def held(self, what, value, began, ended):
        """Return the values that something may have had between two virtual times.

        what: kind of the changes, all by one outsider; value: the one before them
        """
        found = [value]
        for each in self.changes:
            if each.what == what and each.is_done and each.call.ended < began:
                found = [each.value]
            elif each.what == what and each.may_be_done and each.began <= ended:
                found.append(each.value)
        return found

    def met(self, what, uuid, began, ended):
        """Return whether a change of a kind was made to an object between two virtual times."""
        # What is on record of actions has whole seconds.
        return any(
            each.what == what
            and each.uuid == uuid
            and each.may_be_done
            and each.overlaps(began, ended + 1)
            for each in self.changes
        )

    def is_named(self, text, before=float('inf'), what=None):
        """Return whether a text names an object that outsiders changed before a virtual time.

        what: the kind of the change; None: any
        """
        return any(
            each.uuid in text and each.began <= before and each.may_be_done
            for each in self.changes
            if what in (None, each.what)
        )


def act(actor, who, operations, *, pause_s, until):
    """Operations of one outsider, one after the other until a virtual time.

    actor: has a method for each of the operations, called with its name, and an attribute
        `rng`: each operation has a stream of its own, so that one can be left out
    who: names these streams; pause_s: between two operations, on average
    """
    now = kernel.current()
    asks = now.stream(f'asks {who}')
    for number in itertools.count():
        now.sleep(asks.expovariate(1 / pause_s))
        if now.time() >= until:
            return
        if asks.happens(1, 'operation'):
            actor.rng = now.stream(f'{who} {number}')
            name = actor.rng.choice(operations)
            getattr(actor, name.replace(' ', '_'))(name)
