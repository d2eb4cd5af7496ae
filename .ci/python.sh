# To be sourced: finds a Python that the project supports.

python_is_recent() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local candidate
    for candidate in python3 python3.11 python3.12 python3.13 python; do
        if python_is_recent "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    echo "error: $0: no Python 3.11 or newer on PATH" >&2
    return 1
}
