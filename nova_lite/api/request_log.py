"""[api]request_log: a line of JSON for each request whose token was accepted or not needed.

It shows which clients use which operations, and at which microversions.
"""

import json
import logging
from logging import handlers
import re
import typing

import falcon
from oslo_config import cfg
from oslo_log import log

from nova_lite import runtime

LOG = log.getLogger(__name__)

_SECRET = re.compile('(?<=/os-console-auth-tokens/)[^/]+')


class RequestLog:
    """Appends to the file at a path, also after the file was moved away."""

    def __init__(self, path: str) -> None:
        handler = handlers.WatchedFileHandler(path)
        handler.setFormatter(logging.Formatter('%(message)s'))
        # Not one of those by name: clouds of one process have files of their own.
        self._logger = logging.Logger('nova_lite.requests', logging.INFO)
        self._logger.addHandler(handler)

    def write(self, http: falcon.Request, response: falcon.Response, seconds: float) -> None:
        """Append the line of a request that has been answered."""
        context = http.context
        ctxt = context.get('ctxt')  # None for a version document, which needs no token
        line: dict[str, typing.Any] = {
            'time': runtime.now().isoformat(),
            'request_id': http.env['nova_lite.request_id'],
            'method': http.method,
            'path': path_of(http.env),
            'operation': _text(context.operation),
            'microversion': _text(context.version),
            'client': http.user_agent,
            'project_id': None if ctxt is None else ctxt.project_id,
            'status': response.status_code,
            'seconds': round(seconds, 4),
        }
        try:
            self._logger.info('%s', json.dumps(line))
        except OSError as error:
            # The file was moved away, and no other can be made.
            LOG.warning('Cannot write request %s to the request log: %s', line['request_id'], error)


def of(conf: cfg.ConfigOpts) -> RequestLog | None:
    """Return the RequestLog of a configuration, None without one."""
    return RequestLog(conf.api.request_log) if conf.api.request_log else None


def path_of(environ: dict[str, typing.Any]) -> str:
    """Return the path of a request as a log may have it, without the token of a console."""
    return _SECRET.sub('TOKEN', environ.get('PATH_INFO', ''))


def _text(value: object) -> str | None:
    return None if value is None else str(value)
