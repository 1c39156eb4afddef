"""The shared file system service: shares, access rules and locks.

A share is read in the user's name. Access rules and locks are ours, so that users can neither
remove the rules nor read their addresses. Several servers, such as those of a host, may use one
access rule. So each attachment places its own lock on the share and on the rule. A rule that an
attachment has created is hidden by a lock of ours, and deleted with its last lock. A rule of users
for the same host is used and kept. The locks name the attachment; nothing else is stored.
"""

import typing

import requests

from nova_lite import exception
from nova_lite.clients import auth
from nova_lite.clients import items
from nova_lite.clients import session

VERSION = {'X-OpenStack-Manila-API-Version': '2.82'}  # access rules are locked
# Protocols whose shares hosts can mount for guests, with the type of access: the address of the
# host, or one user for all hosts.
NFS, CEPHFS = 'NFS', 'CEPHFS'
ADDRESS, USER = 'ip', 'cephx'
CEPH_USER = 'nova'
LEVEL = 'rw'
REASON = 'nova-lite attachment '
SHARE, RULE = 'share', 'access_rule'
# Locks per request. The service gives no more than 1,000 unless it is configured otherwise.
PAGE = 1000
# Tries to create a rule that another attachment removes at the same time.
ATTEMPTS = 3
IN_USE: session.Errors = {403: exception.Conflict, 404: None, 409: exception.Conflict}


class Attachment(typing.TypedDict):
    """A share that is attached to a server. uuid: that of the attachment"""

    uuid: str
    share_id: str
    access_type: str
    access_to: str


def access_of(protocol: str, host_ip: str | None) -> tuple[str, str]:
    """Return (access type, address or user) for a host and a share of this protocol."""
    if protocol == CEPHFS:
        return USER, CEPH_USER
    return ADDRESS, host_ip or ''


class Share:
    """The shared file system service."""

    def __init__(self, credentials: auth.Credentials) -> None:
        self.service = session.Neighbour(
            credentials, 'manila', title='shared file system', version='/v2'
        )
        self._shares = items.Items(
            self.service, '/shares', missing=(exception.ShareNotFound, 'share_id')
        )

    def get(self, ctxt: session.Ctxt, share_id: str) -> session.Json:
        """Return {'id', 'status', 'protocol', 'export_location'}. Raise ShareNotFound.

        export_location: the preferred one, or the first; None if there is none
        """
        options: session.Json = {'as_user': True, 'headers': VERSION}
        body = self._shares.call(ctxt, 'GET', share_id, **options).json()['share']
        answer = self._shares.call(ctxt, 'GET', share_id, '/export_locations', **options)
        found = sorted(
            answer.json()['export_locations'], key=lambda each: not each.get('preferred')
        )
        return {
            'id': body['id'],
            'status': body['status'],
            'protocol': body['share_proto'].upper(),
            'export_location': found[0]['path'] if found else None,
        }

    def grant(self, ctxt: session.Ctxt, attachment: Attachment) -> bool:
        """Lock a share and let the attachment's host mount it. Return whether it may now.

        It may be repeated. Raises ShareNotFound, and ShareNotUsable if access is refused.
        """
        self._lock(ctxt, attachment, SHARE, attachment['share_id'])
        for _attempt in range(ATTEMPTS):
            rule = self._rule(ctxt, attachment) or self._allow(ctxt, attachment)
            if rule['access_level'] != LEVEL:
                raise _refused(attachment)(
                    reason=f'the access rule {rule["id"]} of its users admits the host with level '
                    f'{rule["access_level"]} instead of {LEVEL}'
                )
            try:
                self._lock(ctxt, attachment, RULE, rule['id'])
            except exception.ShareNotFound:
                continue
            if rule['state'] == 'error':
                raise _refused(attachment)(reason='the access rule is in state error')
            return bool(rule['state'] == 'active')
        raise exception.Conflict(reason=f'access to share {attachment["share_id"]} is changing')

    def revoke(self, ctxt: session.Ctxt, attachment: Attachment) -> None:
        """Undo `grant`.

        The rule stays while other attachments use it, or if users have created it.
        """
        rule = self._rule(ctxt, attachment)
        if rule is not None:
            self._unlock(ctxt, attachment, rule['id'])
            locks = self._locks(ctxt, resource_id=rule['id'])
            is_locked = any(each['resource_action'] == 'delete' for each in locks)
            if not is_locked and any(hides(each) for each in locks):
                self._deny(ctxt, attachment, rule)
        self._unlock(ctxt, attachment, attachment['share_id'])

    def locks(self, ctxt: session.Ctxt) -> session.Jsons:
        """Return all locks that attachments have placed."""
        found = self._locks(ctxt, **{'lock_reason~': REASON})
        return [each for each in found if _is_ours(each)]

    def _call(
        self, ctxt: session.Ctxt, method: str, path: str, **options: typing.Any
    ) -> requests.Response:
        return self.service.call(ctxt, method, path, headers=VERSION, **options)

    def _rule(self, ctxt: session.Ctxt, attachment: Attachment) -> session.Json | None:
        """Return the rule that admits the attachment's host, or None."""
        params = {'share_id': attachment['share_id']}
        answer = self._call(ctxt, 'GET', '/share-access-rules', params=params, errors={404: None})
        found = answer.json().get('access_list', ())
        wanted = attachment['access_type'], attachment['access_to']
        for rule in found:
            if (rule['access_type'], rule['access_to']) == wanted:
                known: session.Json = rule
                return known
        return None

    def _allow(self, ctxt: session.Ctxt, attachment: Attachment) -> session.Json:
        """Admit the attachment's host, and hide that from users. Return the rule."""
        wanted = {
            'access_type': attachment['access_type'],
            'access_to': attachment['access_to'],
            'access_level': LEVEL,
            'lock_visibility': True,
            'lock_reason': REASON + attachment['uuid'],
        }
        refused = _refused(attachment)
        response = self._shares.call(
            ctxt,
            'POST',
            attachment['share_id'],
            '/action',
            headers=VERSION,
            json={'allow_access': wanted},
            errors={400: None, 403: refused, 409: refused},
        )
        if response.status_code == 400:
            # Another attachment may have made it since.
            rule = self._rule(ctxt, attachment)
            if rule is None:
                raise refused(reason=response.text)
            return rule
        made: session.Json = response.json()['access']
        return made

    def _deny(self, ctxt: session.Ctxt, attachment: Attachment, rule: session.Json) -> None:
        """Remove a rule, unless another attachment has locked it in the meantime."""
        try:
            self._shares.call(
                ctxt,
                'POST',
                attachment['share_id'],
                '/action',
                headers=VERSION,
                json={'deny_access': {'access_id': rule['id']}},
                errors=IN_USE,
            )
        except exception.Conflict:
            if not self._locks(ctxt, resource_id=rule['id'], resource_action='delete'):
                raise

    def _locks(self, ctxt: session.Ctxt, **filters: str) -> session.Jsons:
        """Return all locks that match, from as many pages as there are."""
        found: session.Jsons = []
        while True:
            params = {'all_projects': 1, 'limit': PAGE, 'offset': len(found), **filters}
            answer = self._call(ctxt, 'GET', '/resource-locks', params=params)
            page: session.Jsons = answer.json()['resource_locks']
            found += page
            if len(page) < PAGE:
                return found

    def _lock(
        self, ctxt: session.Ctxt, attachment: Attachment, kind: str, resource_id: str
    ) -> None:
        """Place the attachment's lock on a resource, unless it is there."""
        reason = REASON + attachment['uuid']
        found = self._locks(ctxt, resource_id=resource_id, resource_action='delete')
        if any(each['lock_reason'] == reason for each in found):
            return
        lock = {
            'resource_id': resource_id,
            'resource_type': kind,
            'resource_action': 'delete',
            'lock_reason': reason,
        }
        missing = self._shares.missing(attachment['share_id'])
        self._call(
            ctxt,
            'POST',
            '/resource-locks',
            json={'resource_lock': lock},
            errors={404: missing, 409: exception.Conflict},
        )

    def _unlock(self, ctxt: session.Ctxt, attachment: Attachment, resource_id: str) -> None:
        """Remove the attachment's locks on a resource, except those that hide it."""
        for lock in self._locks(ctxt, resource_id=resource_id):
            if lock['lock_reason'] == REASON + attachment['uuid'] and not hides(lock):
                self._call(ctxt, 'DELETE', f'/resource-locks/{lock["id"]}', errors={404: None})


def hides(lock: session.Json) -> bool:
    """Return whether a lock hides a rule that an attachment has made."""
    return lock['resource_action'] == 'show' and _is_ours(lock)


def attachment_of(lock: session.Json) -> str:
    """Return the uuid of the attachment that has placed a lock."""
    reason: str = lock['lock_reason']
    return reason.removeprefix(REASON)


def _is_ours(lock: session.Json) -> bool:
    return (lock['lock_reason'] or '').startswith(REASON)


def _refused(attachment: Attachment) -> session.Raising:
    return session.raising(exception.ShareNotUsable, share_id=attachment['share_id'])
