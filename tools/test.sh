#!/bin/sh
# Install what the tests need and run them: pep8, lowest-apis or plain, docs, gabbi, sim, unit,
# functional and functional-rabbit. The last line is their sum.
#
#   tools/test.sh [STEP ...]
#   tools/test.sh --only-install
#
# The second form prepares a bare Debian or Ubuntu machine and runs nothing; tox finds
# there what its environments need.
#
# Python packages go to .venv-test. Debian packages (bindep.txt) are installed
# when this runs as root or sudo asks for no password; otherwise the missing
# ones are named, and all that can run without them runs.
#
# PYTHON=python3.12 chooses the interpreter (3.11 or newer). By default it is the
# distribution's, which is compiled with profile-guided optimization: unit tests took a
# fifth less time than with one that pyenv had compiled.
set -eu
cd "$(dirname "$0")/.."
venv=.venv-test

say() { printf '\n== %s\n' "$*"; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_install() {
    command -v apt-get >/dev/null &&
        { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }
}

# Debian starts a server as soon as it is installed, unless this file says no.
# The tests start servers of their own.
policy=/usr/sbin/policy-rc.d

made_policy=

restore_policy() {
    if [ -n "$made_policy" ]; then as_root rm -f "$policy"; fi
    made_policy=
}

install_packages() {
    say "Installing Debian packages: $*"
    if [ ! -e "$policy" ]; then
        made_policy=yes
        trap restore_policy EXIT
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
        as_root chmod 755 "$policy"
    fi
    result=0
    as_root apt-get update -q || echo 'The lists of packages may be old.'
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
        --no-install-recommends "$@" || result=$?
    restore_policy
    return "$result"
}

find_python() {
    for name in ${PYTHON:-/usr/bin/python3 python3 python3.13 python3.12 python3.11}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    echo 'Python 3.11 or newer is needed; none found' >&2
    exit 1
}

python=$(find_python)
unset PYTHON # stestr would run the tests with it, outside the environment
# Many tests start interpreters: each would compile nova_lite again.
unset PYTHONDONTWRITEBYTECODE
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    may_install || { echo "$python cannot make virtual environments: install python3-venv" >&2; exit 1; }
    install_packages python3-venv
fi

say "Python packages, in $venv"
is_new=
[ -x "$venv/bin/python" ] || { "$python" -m venv "$venv"; is_new=yes; }
export PIP_DISABLE_PIP_VERSION_CHECK=1
install_python() {
    "$venv/bin/pip" install --quiet --no-compile -c constraints.txt "$@"
}
[ -x "$venv/bin/bindep" ] || install_python bindep

# Debian packages are installed beside the Python packages: each takes half a minute or more.
installing=
missing=$("$venv/bin/bindep" --brief test | tr '\n' ' ')
if [ -n "$missing" ]; then
    if may_install; then
        # shellcheck disable=SC2086 # one word per package
        install_packages $missing &
        installing=$!
    else
        say "Not installed, and no right to install: $missing"
        echo 'Tests that need them are skipped (with CI=true they fail).'
    fi
fi

result=0
install_python -r test-requirements.txt -e . || result=$?
# pip would compile on one processor, and the tests of packages, too. Some packages have files for
# other versions of Python: an import of these would fail, this need not.
[ -z "$is_new" ] || "$venv/bin/python" -m compileall -qq -j 0 -x '/tests?/' "$venv/lib" || :
[ -z "$installing" ] || wait "$installing" || say 'Some packages could not be installed'
[ "$result" = 0 ] || exit "$result"

if [ "${1:-}" = --only-install ]; then
    say "Ready: tools/test.sh, or tox from $venv/bin"
    exit 0
fi
PATH="$PWD/$venv/bin:$PATH"
export PATH
exec "$venv/bin/python" -m tools.run_tests "$@"
