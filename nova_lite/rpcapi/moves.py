"""What each kind of saga asks of computes, for the API to refuse what they do not know.

Kept by hand, since the API knows no saga; a test compares it with the sagas' code.
"""

_BACK = ('discard_guest', 'finish_revert_resize', 'revert_resize')
_RESIZE = ('prep_resize', 'forgo_resize', 'resize_instance', 'finish_resize', *_BACK)
_LEAVE = ('prep_snapshot_based_resize_at_source', 'revert_resize')
_ARRIVE = 'finish_snapshot_based_resize_at_dest'
_CROSS = ('prep_resize', 'forgo_resize', 'resize_instance', *_LEAVE, _ARRIVE, 'discard_guest')
_VOLUME = ('attach_volume', 'detach_volume')
_INTERFACE = ('attach_interface', 'detach_interface')

METHODS = {
    'resize': _RESIZE,
    'migrate': _RESIZE,
    'confirm-resize': ('confirm_resize',),
    'revert-resize': ('discard_guest', 'restore_guest', 'revert_resize'),
    'cross-cell-resize': _CROSS,
    'cross-cell-migrate': _CROSS,
    'cross-cell-confirm': ('confirm_resize',),
    'cross-cell-revert': ('discard_guest',),
    'live-migration': (
        'check_can_live_migrate_destination',
        'check_can_live_migrate_source',
        'live_migration',
        'post_live_migration',
        'post_live_migration_at_destination',
        'pre_live_migration',
        'rollback_live_migration',
        'rollback_live_migration_at_destination',
        'take_live_migration_turn',
    ),
    'evacuation': ('rebuild_instance', 'undo_rebuild'),
    'rebuild': ('rebuild_instance', 'revert_resize'),
    'shelve': (*_LEAVE, 'finish_revert_resize'),
    'shelve-offload': (*_LEAVE, 'finish_revert_resize'),
    'unshelve': (*_LEAVE, 'finish_revert_resize', _ARRIVE),
    'attach-volume': _VOLUME,
    'detach-volume': _VOLUME,
    'swap-volume': ('swap_volume', *_VOLUME),
    'attach-interface': _INTERFACE,
    'detach-interface': _INTERFACE,
}
