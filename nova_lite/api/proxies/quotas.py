"""Quotas of the network service, as the proxies report them."""

from nova_lite import exception


def or_quota(otherwise):
    """Return an entry of `errors` for a conflict that is a quota, or else `otherwise`."""

    def made(reason):
        if 'quota' in reason.lower():
            return exception.OverQuota(reason)
        return otherwise(reason=reason)

    return made
