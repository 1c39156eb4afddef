"""Errors of statements without the statements: records, answers and messages are made of them.

The text of SQLAlchemy's error contains the whole statement and an address of its documentation,
in each traceback and wherever the error is sent to.
"""

from oslo_log import log
import sqlalchemy as sa

LOG = log.getLogger(__name__)


def use(engine: sa.Engine) -> None:
    """Make an engine raise errors with the driver's text alone. Statements are logged for DEBUG.

    Called before the engine gets oslo.db's listener, which copies the text.
    """
    sa.event.listen(engine, 'handle_error', _shorten)


def _shorten(context: sa.ExceptionContext) -> None:
    error = context.sqlalchemy_exception
    if error is None:
        return
    if isinstance(error, sa.exc.StatementError) and error.statement is not None:
        LOG.debug('%s. The statement was: %s', context.original_exception, error.statement)
        error.statement = None
    error.code = None
