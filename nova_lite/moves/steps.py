"""Steps that several sagas have. Each takes its effects from the move of which it is a step."""

from nova_lite.moves import places

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
    return at.step(move.first, move.begin, move.give_up, **options)


def hold(move):
    """The migration holds what the server holds where it is."""
    return places.PLACEMENT.step(HOLD, move.hold, move.release)


def choose(move):
    """A destination is chosen, and its resources claimed."""
    return places.SCHEDULER.step(CHOOSE, move.choose, move.drop_claim)


def save_spec(move):
    """The server's request says what the server is now."""
    return places.API_DATABASE.step('save request spec', move.save_spec)
