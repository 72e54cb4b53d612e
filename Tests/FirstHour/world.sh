# What lies on the machine on which the rows of this directory are tried: $dir, with $vaultctl and the server at $issuer.
set -e
umask 077
cd "$dir"
"$vaultctl" init
"$vaultctl" provider add acme --issuer "$issuer" --client-id demo --redirect-uri https://app.example/callback \
    --scope "read offline_access" --allow-insecure-loopback
printf CANARY-token >token
for user in alice alice bob carol; do
    "$vaultctl" login add --user "$user" --access-token-file token --expires-in 1h
done
"$vaultctl" user disable carol --yes

# Sources that are cut or too long.
printf 'user,provider,refresh_token\nu1,acme,CANARY-1\n' | gzip -n | head -c 30 >cut.csv.gz
printf 'user,provider,refresh_token\nu1,acmee,CANARY-1\n' >typo.csv
python3 -c 'print("{\"user\":\"" + "u" * 1100000 + "\",\"provider\":\"acme\",\"refresh_token\":\"CANARY-1\"}")' >long.jsonl

mkdir directory
mkfifo fifo
: >empty
echo "some text" >text
ln -s loop loop
ln -s nothing dangling
ln -s app.vault link.vault

# Vaults that are not as they should be.
"$vaultctl" init --vault other.vault --key-file other.key
cp other.vault open.vault
chmod 644 open.vault
head -c 9000 other.vault >truncated.vault
cp other.vault newer.vault
cp other.vault odd.vault
cp other.vault unlocked.vault
cp "$vaults/v005/vault.db" older.vault
python3 - <<'END'
import sqlite3
for path, version in [("newer.vault", 4242), ("odd.vault", 4)]:
    vault = sqlite3.connect(path)
    vault.execute(f"PRAGMA user_version = {version}")
    vault.commit()
    vault.close()
vault = sqlite3.connect("unlocked.vault")
vault.execute("DELETE FROM keySlot")
vault.commit()
vault.close()
END

# Keys, likewise.
head -c 60 app.key >short.key
cp app.key open.key
chmod 644 open.key

# Files that are something else, and that an editor has been at.
printf '\211PNG\r\n\032\n 0000' >pic.png
truncate -s 4M huge
printf 'tokenvault\0key\0\0' >nul.key
{ cat app.key && printf '\n\n'; } >lines.key
cat app.key app.key >twice.key
sed 's/$/\r/' app.key >crlf.key
{ printf '\357\273\277' && cat app.key; } >bom.key
printf -- '-----BEGIN PRIVATE KEY-----\n' >client.pem
python3 -c 'import sqlite3; sqlite3.connect("other.db").execute("CREATE TABLE note (text)")'
cat >identity.txt <<'END'
# created: 2026-11-26T00:00:00Z
# public key: age16vgnf7fu2ae4y4saqrawzgazwrmyh6f6dj0k6acmxfrey2dgwurqlw0vv0
AGE-SECRET-KEY-1RDN7R9XEVUCWH3PWS8LSCPHXWZGVR989USXH5WSM4LXHR976FH4SPQF8X6
END
"$vaultctl" backup create "$dir/backup.tvbackup" --same-device
"$vaultctl" backup create "$dir/sealed.tvbackup" --same-device --for age16vgnf7fu2ae4y4saqrawzgazwrmyh6f6dj0k6acmxfrey2dgwurqlw0vv0

# Configuration files.
printf 'vault = "%s/app.vault"\n\nkey-file = "%s/nosuch.key"\n' "$dir" "$dir" >nokey.toml
printf 'vault = "%s/nosuch.vault"\nkey-file = "%s/app.key"\n' "$dir" "$dir" >novault.toml
printf 'vault = "%s/app.vault"\nkey-file = "%s/other.key"\n' "$dir" "$dir" >wrong.toml
printf '\357\273\277vault = "%s/app.vault"\nkey-file = "%s/app.key"\n' "$dir" "$dir" >bom.toml
