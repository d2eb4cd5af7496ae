# Sourced: packages of the system, from apt.

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

# Why no package of the system can be installed here; nothing where one can.
no_packages() {
    if ! command -v apt-get >/dev/null; then
        echo "no apt-get"
    elif [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
        echo "neither root nor sudo without a password"
    fi
}

install_system() {
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}
