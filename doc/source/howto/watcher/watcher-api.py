# Settings of gunicorn. Watcher's API reads the command line, which is gunicorn's.
import sys

sys.argv = ['watcher-api', '--config-file', 'watcher.conf']
bind = '127.0.0.1:9322'
