# shellcheck shell=bash
# Part of scripts/stack: certificates of a stack, signed by an authority that nobody else trusts.
# Guarantees: both servers offer TLS beside plain connections; the keys go with the folder.

tls_file() { echo "$STACK_DIR/tls/$1"; }

# tls_make NAME EXTENSIONS OPTIONS...: a key and a certificate of 30 days.
tls_make() {
	local name=$1 extensions=$2
	shift 2
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 \
		-config "$(tls_file openssl.cnf)" -extensions "$extensions" -subj "/CN=$name" \
		-keyout "$(tls_file "$name.key")" -out "$(tls_file "$name.pem")" "$@" \
		>"$(tls_file openssl.log)" 2>&1 9>&- ||
		die "openssl failed: $(tail -n 3 "$(tls_file openssl.log)")"
}

tls_create() {
	need openssl
	mkdir -p "$STACK_DIR/tls"
	cat >"$(tls_file openssl.cnf)" <<-'SETTINGS'
		[req]
		distinguished_name = name
		[name]
		[authority]
		basicConstraints = critical, CA:TRUE
		keyUsage = critical, keyCertSign
		subjectKeyIdentifier = hash
		[server]
		basicConstraints = critical, CA:FALSE
		keyUsage = critical, digitalSignature
		extendedKeyUsage = serverAuth
		subjectAltName = IP:127.0.0.1, DNS:localhost
	SETTINGS
	tls_make authority authority
	tls_make server server -CA "$(tls_file authority.pem)" -CAkey "$(tls_file authority.key)"
}
