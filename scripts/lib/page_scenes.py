"""What lies on the machine of a reader of the documentation, for scripts/pages-check.

SCENES: page → first line of a block, or its beginning → what is made before that block.
"""

import json


def vault(reader):
    """A vault with a provider that users log in to."""
    reader.run(
        "export TOKENVAULT_VAULT=app.vault TOKENVAULT_KEY_FILE=app.key\n"
        "vaultctl init\n"
        f"vaultctl provider add acme --issuer {reader.server.issuer} --client-id 4711 "
        "--redirect-uri https://app.example/callback --scope 'read offline_access'")


def login(reader, user, *options):
    reader.file("grant", reader.grant(user)["refresh_token"])
    return reader.run(
        f"vaultctl login add --user {user} --provider acme --refresh-token-file grant {' '.join(options)}").stdout.strip()


def vault_with_logins(reader):
    vault(reader)
    login(reader, "alice", "--label phone")


def files_of_a_provider(reader):
    reader.file("acme.json", PROFILE)
    reader.file("new.secret", "a new secret")


def recovery_key(reader):
    # What the page's first command prints.
    reader.values["age1…"] = "$(age-keygen -y recovery.txt)"
    reader.values["SLOT"] = "$(vaultctl key list | grep recovery | cut -f1)"


def leaked_key(reader):
    slot = reader.run("vaultctl key add --new-key-file leaked.key --label leaked").stdout.strip()
    reader.run("vaultctl key add --new-key-file backup.key --label backup")
    reader.values["SLOT"] = slot


def damaged_row(reader):
    row = login(reader, "carol")
    # As a bad disk would.
    reader.run(
        "python3 -c \"import sqlite3; c = sqlite3.connect('app.vault'); "
        "c.execute('UPDATE login SET dueAt = coalesce(dueAt, 0) + 1 WHERE rowid = (SELECT max(rowid) FROM login)'); "
        "c.commit()\"")
    reader.values["ROW"] = row


def note(reader):
    reader.file("note.json", "{}")


def first_row(reader):
    reader.values["4711"] = "0"


def place_of_a_witness(reader):
    (reader.disk / "other").mkdir(mode=0o700)


def place_of_backups(reader):
    vault_with_logins(reader)
    (reader.disk / "backup").mkdir(mode=0o700)


def one_backup(reader):
    reader.values["BACKUP"] = f"$(ls {reader.disk}/backup/*.tvbackup | tail -n 1)"


def identity_of_another_system(reader):
    vault_with_logins(reader)
    reader.run("age-keygen -o other.txt")
    reader.values["age1…"] = "$(age-keygen -y other.txt)"


def lost_vault(reader):
    reader.run(
        f"vaultctl backup create {reader.disk}/backup\n"
        "mkdir -m 700 before && mv app.vault app.vault-* before/\n"
        f"vaultctl backup restore $(ls {reader.disk}/backup/*.tvbackup | tail -n 1) app.vault")


def lost_vault_with_log(reader):
    reader.run(
        f"export TOKENVAULT_WITNESS_LOG=app.intents TOKENVAULT_WITNESS={reader.disk}/app.witness\nvaultctl witness begin\n"
        f"vaultctl backup create {reader.disk}/backup\n"
        "vaultctl login list\n"
        "unset TOKENVAULT_WITNESS_LOG TOKENVAULT_WITNESS\n"
        "mkdir -m 700 again && mv app.vault app.vault-* again/")


def secret_and_vault(reader):
    reader.file("secret", "demo-basic-secret")
    reader.run("export TOKENVAULT_VAULT=app.vault TOKENVAULT_KEY_FILE=app.key\nvaultctl init")


def backups_on_another_disk(reader):
    (reader.disk / "backup").mkdir(mode=0o700)
    one_backup(reader)


def some_logins(reader):
    for user in ("bob", "carol"):
        login(reader, user)


def restored_vault(reader):
    lost_vault(reader)
    reader.run("vaultctl witness accept")


def older_state(reader):
    reader.run("cp app.vault old")
    login(reader, "dave")
    reader.run("cp old app.vault")


def lost_key(reader):
    reader.values["LOST"] = "$(vaultctl key list --identity recovery.txt | awk -F'\\t' '$2 == \"keyFile\" { print $1; exit }')"


def key_in_wrong_hands(reader):
    leaked_key(reader)
    reader.values["LEAKED"] = reader.values["SLOT"]


def dead_login(reader):
    reader.values["ID"] = login(reader, "erin")


def profiles(reader):
    (reader.directory / "profiles").mkdir()
    reader.file("profiles/acme.json", PROFILE)


def other_system(reader):
    vault(reader)
    rows = [{"user": user, "provider": "acme", "subject": user, "refresh_token": reader.grant(user)["refresh_token"]}
            for user in ("alice", "bob")]
    reader.file("accounts.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


PROFILE = """{
  "profile": 1,
  "name": "acme",
  "source": [{ "url": "https://acme.example/docs/oauth", "read": "2026-11-21" }]
}
"""

SCENES = {
    "docs/adding-a-provider.md": {
        "vaultctl provider add acme": secret_and_vault,
        "vaultctl provider profiles": profiles,
    },
    "docs/backup.md": {
        "vaultctl backup create": place_of_backups,
        "vaultctl backup verify": one_backup,
        "vaultctl restore status": lost_vault,
        "vaultctl backup restore": lost_vault_with_log,
    },
    "docs/operating.md": {
        "export TOKENVAULT_VAULT": vault_with_logins,
        "age-keygen": recovery_key,
        "vaultctl backup create": backups_on_another_disk,
        "export TOKENVAULT_WITNESS": place_of_a_witness,
        "vaultctl migrate discard": some_logins,
        "vaultctl restore status": restored_vault,
        "vaultctl witness show ||": older_state,
        "vaultctl key list --identity": lost_key,
        "vaultctl key remove LEAKED": key_in_wrong_hands,
        "vaultctl damage list": damaged_row,
        "vaultctl login list --state dead": dead_login,
    },
    "docs/cut-over.md": {
        "vaultctl import run": other_system,
    },
    "docs/export.md": {
        "vaultctl export": identity_of_another_system,
    },
    "docs/vaultctl.md": {
        "vaultctl request": note,
        "vaultctl provider update": files_of_a_provider,
        "age-keygen": recovery_key,
        "vaultctl key remove": leaked_key,
        "vaultctl damage list": damaged_row,
        "vaultctl audit list": first_row,
        "export TOKENVAULT_WITNESS": place_of_a_witness,
    },
}
