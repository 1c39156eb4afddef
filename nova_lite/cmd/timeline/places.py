"""Where the steps of sagas take effect: which daemon or service, and at which end.

A table for those who draw sagas. A test compares it with the steps that there are.
"""

SOURCE, DEST = 'source', 'destination'
SCHEDULER, PLACEMENT = 'scheduler', 'placement'
IMAGES, NETWORK, VOLUMES = 'image service', 'network service', 'volume service'
API_DATABASE = 'API database'
COMPUTE, RECORDS = 'compute', 'cell database'

_PLACES = {
    (RECORDS, SOURCE): (
        'record the migration',
        'record destination',
        'hide source records',
        'remove source records',
        'show source records',
        'record the revert',
        'switch the record to source',
        'switch the record to destination',
        'record the move',
        'record the action',
        'check server',
        'accept destination',
        'wait for a turn at source',
        'switch host in record',
        'tell that it is complete',
        'tell that it is done',
        'note what is held',
        'record that it is shelved',
        'record that it is nowhere',
        'tell that it is offloaded',
        'see that the host is up',
        'record the block device',
        'record the attachment',
        'forget the block device',
        'record the other volume',
        'record the name it keeps',
        'record the interface',
        'forget the interface',
        'give up the former guest',
    ),
    (RECORDS, DEST): (
        'copy records to destination cell',
        'show the copy',
        'delete what was deleted meanwhile',
        'record the request',
        'record confirmation',
        'hide destination records',
        'remove destination records',
    ),
    (COMPUTE, SOURCE): (
        'resize at source',
        'stop and snapshot at source',
        'leave the source',
        'clean up at source',
        'finish revert on source',
        'check source',
        'copy',
        'clean up source',
        'stop and snapshot',
        'destroy the guest',
        'attach on the host',
        'detach on the host',
        'unplug it from a guest made again',
        'swap on the host',
        'destroy the former guest',
        'rebuild the guest',
        'leave nothing of a deleted server',
    ),
    (COMPUTE, DEST): (
        'claim on destination',
        'finish on destination',
        'spawn on destination',
        'destroy on destination',
        'check destination',
        'prepare destination',
        'start guest on destination',
        'rebuild on destination',
        'admit the destination',
        'delete the server',
    ),
    (API_DATABASE, None): (
        'save request spec',
        'switch mapping to destination cell',
        'switch mapping to source cell',
    ),
    (SCHEDULER, None): ('choose destination', 'check the host for the image'),
    (PLACEMENT, None): (
        'hold source allocation',
        'release source allocation',
        'give allocations back',
        'free source allocation',
    ),
    (IMAGES, None): (
        'create snapshot image',
        'delete snapshot image',
        'create shelved image',
        'look for the image',
        'delete shelved image',
    ),
    (NETWORK, None): (
        'bind ports to destination',
        'activate destination bindings',
        'activate source bindings',
        'drop source bindings',
        'drop destination',
        'unbind ports',
        'give the server its port',
        'give the port up',
    ),
    (VOLUMES, None): (
        'reserve volumes for destination',
        'reserve volumes for source',
        'reserve volumes',
        'drop source attachments',
        'drop former attachments',
        'reserve the volume',
        'mark the volume as detaching',
        'end the attachment',
        'reserve the other volume',
        'tell the volume service',
        'write the image onto the root volume',
    ),
}
# Of each step the daemon or service, and at which end that is, if at any.
PLACES = {step: place for place, steps in _PLACES.items() for step in steps}
PIVOTS = frozenset(step for step in PLACES if step.startswith('switch'))
