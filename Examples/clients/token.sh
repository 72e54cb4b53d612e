#!/bin/sh
# Gets an access token from `vaultctl serve` with curl, and prints when it expires: token.sh SOCKET USER PROVIDER
set -eu
case "$2$3" in *[\"\\]*) echo "a name with a quotation mark needs a JSON library" >&2; exit 64 ;; esac
body=$(printf '{"user": "%s", "provider": "%s"}' "$2" "$3")
reply=$(curl --silent --show-error --max-time 60 --unix-socket "$1" --header 'Content-Type: application/json' \
    --data "$body" --write-out '\n%{http_code}' http://tokenvault/v1/token)

# The value of a member that is a text or a number. Where there is jq, use that.
member() { printf '%s\n' "$reply" | sed -n "s/.*\"$1\":\"\\{0,1\\}\\([^\",}]*\\).*/\\1/p"; }

if [ "${reply##*
}" != 200 ]; then
    echo "$(member code): $(member detail)" >&2
    # An application would send the user to its page for logging in again.
    [ "$(member needs_user)" != true ] || exit 2
    exit 1
fi
# To use it without showing it to other programs: printf 'header = "Authorization: Bearer %s"' "$token" | curl --config - …
expires=$(member expires_at)
[ -z "$expires" ] && echo unknown || date -u -d "@$expires" +%Y-%m-%dT%H:%M:%SZ
