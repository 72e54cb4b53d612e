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
cp "$vaults/v005/vault.db" older.vault
python3 - <<'END'
import sqlite3
for path, version in [("newer.vault", 4242), ("odd.vault", 4)]:
    vault = sqlite3.connect(path)
    vault.execute(f"PRAGMA user_version = {version}")
    vault.commit()
    vault.close()
END

# Keys, likewise.
head -c 60 app.key >short.key
cp app.key open.key
chmod 644 open.key
