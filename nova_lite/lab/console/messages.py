"""Errors as commands print them: the mistake, without the internals of libraries."""

import re

from nova_lite import exception

# Their message is the reason after the name of a status of HTTP.
WITH_STATUS = (exception.Invalid, exception.Conflict, exception.NotImplementedHere)
OF_DATABASES = ('sqlalchemy', 'oslo_db', 'sqlite3', 'alembic')
# {words of Python: plain words}
OF_PYTHON = {
    'invalid literal for int': 'it is not a whole number',
    'could not convert string to float': 'it is not a number',
}
# {package of an error's class: what the error says about the world rather than about us}
OF_OTHERS = {
    'keystoneauth1': 'A service of the cloud cannot be used',
    'openstack': 'The cloud cannot be used',
    'oslo_config': 'The configuration cannot be used',
    'oslo_messaging': 'The message bus cannot be used',
    'requests': 'A service of the cloud does not answer',
    'yaml': 'A file is not YAML',
}
# What requests appends to a text about a connection, up to the end of the text.
OF_REQUESTS = re.compile(r'(?:: )?(?:HTTPS?ConnectionPool|\(.Connection aborted).*', re.DOTALL)
# Words within it that name the cause.
CAUSE = re.compile(
    r'\[Errno -?\d+\] ([\w ]+)|(timed out|CERTIFICATE_VERIFY_FAILED|closed connection)'
)


def of(error: Exception) -> str:
    """Return the text of an error, without the words that only the API needs."""
    if isinstance(error, WITH_STATUS) and type(error) in WITH_STATUS and 'reason' in error.kwargs:
        return of_clients(str(error.kwargs['reason']))
    return of_clients(str(error))


def of_clients(text: str) -> str:
    """Return a text that may have the words of requests, with the cause in their place."""
    found = OF_REQUESTS.search(text)
    if found is None:
        return text
    named = CAUSE.search(found.group())
    before = text[: found.start()].rstrip()
    why = 'no answer' if named is None else (named[1] or named[2]).lower().replace('_', ' ')
    return f'{before}: {why}' if before else why


def cause(error: Exception) -> str:
    """Return the reason of an error with a file or a value, without the words of Python."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, UnicodeError):
        return 'it is not text'
    text = str(error)
    for words, plain in OF_PYTHON.items():
        if words in text:
            return plain
    return text


def of_library(error: Exception) -> str | None:
    """Return the text of an error of the system or of a library; None for a defect of ours."""
    for each in type(error).__mro__:
        package = each.__module__.partition('.')[0]
        if package in OF_DATABASES:
            return f'A database of the cloud cannot be used: {_first_line(error)}'
        if package in OF_OTHERS:
            return f'{OF_OTHERS[package]}: {_first_line(error)}'
    # Errors of requests are such errors, too.
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f'{error.filename}: {reason}' if error.filename is not None else reason
    return None


def _first_line(error: Exception) -> str:
    # The rest has the statement, its parameters and links.
    line = of_clients(str(error)).strip().partition('\n')[0]
    return line.partition(') ')[2] if line.startswith('(') and ') ' in line else line
