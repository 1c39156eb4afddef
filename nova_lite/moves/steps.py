"""Steps that several sagas have. Each takes its effects from the move of which it is a step."""

from nova_lite import saga
from nova_lite.moves import places

# How often a step is tried that a host or a service may refuse to do for no lasting reason.
PATIENCE = 8
MIGRATION = 'record the migration'
HOLD = 'hold source allocation'
CHOOSE = 'choose destination'
RECORD = 'record destination'
BIND = 'bind ports to destination'
RESERVE = 'reserve volumes for destination'
CLAIM = 'claim on destination'
ACTIVATE = 'activate destination bindings'
FORMER = 'drop source attachments'


def begin(move, *, at=places.SOURCE_RECORDS, **options):
    """The first step: what is recorded when a move begins. options: of saga.Step"""
    return saga.Step(move.first, move.begin, undo=move.give_up, at=at, **options)


def hold(move):
    """The migration holds what the server holds where it is."""
    return saga.Step(HOLD, move.hold, undo=move.release, at=places.PLACEMENT)


def choose(move):
    """A destination is chosen, and its resources claimed."""
    return saga.Step(CHOOSE, move.choose, undo=move.drop_claim, at=places.SCHEDULER)


def save_spec(move):
    """The server's request says what the server is now."""
    return saga.Step('save request spec', move.save_spec, at=places.API_DATABASE)


def patient(name, do, *, at, clean=None, calls=()):
    """A step behind the pivot, which is left after so many tries. clean, at, calls: of saga.Step"""
    return saga.Step(name, do, attempts=PATIENCE, left=True, clean=clean, at=at, calls=calls)
