"""The users of the services whose middleware has checked the token."""

ADMINISTRATOR = {'user': 'a' * 32, 'project': 'b' * 32, 'roles': 'admin,member,reader'}
SERVICE = {'user': '2' * 32, 'project': '3' * 32, 'roles': 'admin,member,reader,service'}
MEMBER = {'user': 'c' * 32, 'project': 'd' * 32, 'roles': 'member,reader'}
READER = {'user': 'e' * 32, 'project': 'd' * 32, 'roles': 'reader'}
STRANGER = {'user': 'f' * 32, 'project': '1' * 32, 'roles': 'member,reader'}
NOWHERE = '00000000-0000-4000-8000-000000000000'


def by(who):
    """The headers that keystonemiddleware sets for this caller."""
    return {
        'X-Identity-Status': 'Confirmed',
        'X-User-Id': who['user'],
        'X-Project-Id': who['project'],
        'X-Roles': who['roles'],
    }
