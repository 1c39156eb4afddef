"""Undocumented names of oslo.context that we use."""

from oslo_context import context

from nova_lite.private_apis import guard

LIBRARY = guard.Library('oslo.context', lowest='6.1', newest='6.5.0')

with LIBRARY.declared():
    LIBRARY.has(context, '_request_store')


class _Nobody(context.RequestContext):
    """Stands for no context, which the library has no documented way to bind.

    The library binds a context when it is made, so this one is made only to be bound.
    """


def bind(ctxt: context.RequestContext | None) -> None:
    """Bind the log lines of this thread to a context, or to none (None)."""
    if LIBRARY.is_used:
        context._request_store.context = ctxt
    else:
        (ctxt or _Nobody(request_id='req-none')).update_store()


def bound() -> context.RequestContext | None:
    """Return the context to which the log lines of this thread are bound, or None."""
    found = context.get_current()
    return None if isinstance(found, _Nobody) else found
