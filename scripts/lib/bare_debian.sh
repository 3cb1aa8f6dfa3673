# shellcheck shell=bash
# A Debian 12 of the base packages alone, for images and for clean installs.

as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi; }

# The mirror of this machine, so that one in a closed network works as well; empty: not known, and
# debootstrap takes its own.
debian_mirror() {
	{ cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true; } |
		grep -v '^#' | grep -oE 'https?://[^ ]+/debian/?( |$)' | tr -d ' ' | head -n 1
}

# bare_debian ROOT [OPTION...]: into the folder ROOT, with this machine's package sources, keys and
# apt settings; options go to debootstrap.
bare_debian() {
	local root=$1 from
	shift
	from=$(debian_mirror) || true
	as_root debootstrap --variant=minbase "$@" bookworm "$root" ${from:+"$from"} || return
	as_root rm -f "$root/etc/apt/sources.list"
	as_root cp -a /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d "$root/etc/apt/" 2>/dev/null || true
}
