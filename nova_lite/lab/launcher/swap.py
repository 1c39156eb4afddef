"""Files that replace those of a state directory: written beside them, moved once all are there.

They lie in the subdirectory DRAFT while they are written, in WHOLE while the former files are
deleted, and in MOVING while they go to their places. A process that was killed in the last two
has left a state that `complete` completes; a DRAFT is deleted.
"""

import contextlib
import os
import shutil

DRAFT, WHOLE, MOVING = 'snapshot.new', 'snapshot.whole', 'snapshot.moving'


@contextlib.contextmanager
def written(places, *, alone):
    """Yield a directory for files that have their places in a state directory after the block.

    After an error nothing has changed. places: the Layout of the directory, which it holds
    alone: delete all other files of the directory
    """
    draft = os.path.join(places.root, DRAFT)
    shutil.rmtree(draft, ignore_errors=True)
    os.mkdir(draft, mode=0o700)
    try:
        yield draft
    except BaseException:
        # Perhaps the disk is full.
        shutil.rmtree(draft, ignore_errors=True)
        raise
    os.rename(draft, os.path.join(places.root, WHOLE if alone else MOVING))
    complete(places)


def complete(places):
    """Complete what a process was killed in. places: as of `written`"""
    draft, whole, moving = (os.path.join(places.root, each) for each in (DRAFT, WHOLE, MOVING))
    shutil.rmtree(draft, ignore_errors=True)
    if os.path.isdir(whole):
        places.clear(keep=(WHOLE,))
        os.rename(whole, moving)
    if os.path.isdir(moving):
        for directory, _subdirectories, names in os.walk(moving):
            target = os.path.join(places.root, os.path.relpath(directory, moving))
            os.makedirs(target, mode=0o700, exist_ok=True)
            for name in names:
                os.replace(os.path.join(directory, name), os.path.join(target, name))
        shutil.rmtree(moving)
