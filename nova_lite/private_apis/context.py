"""Undocumented names of oslo.context that we use."""

from oslo_context import context

from nova_lite.private_apis import guard

LIBRARY = guard.Library('oslo.context', lowest='6.1', newest='6.5.0')

LIBRARY.has(context, '_request_store')


def bind(ctxt: context.RequestContext | None) -> None:
    """Bind the log lines of this thread to a context, or to none (None)."""
    context._request_store.context = ctxt
