#!/usr/bin/env python3
"""Opens the golden vectors, and cells that a test run has just written, with the reader of vaultformat.py.

usage: check_vectors.py [--fresh DIRECTORY]

Prints what was opened; ends with 1 if anything cannot be opened, or if a changed bit goes unseen.
"""

import argparse
import json
import pathlib
import sys

from vaultformat import (
    Refused, audit_link, blind_index, encode_fields, lock_file_number, manifest_fields, open_cell, part_fields,
    passphrase_key, read_audit_detail, read_key, read_key_file, read_keyring, read_manifest, read_named, read_part,
    read_record, read_session, read_spool, read_user, recipient_key, require,
    slot_fields, slot_key_id, spool_fields, user_fields, PAGE,
    SPOOLED_REPLY,
)

VECTORS = pathlib.Path(__file__).resolve().parents[3] / "Tests/VaultCryptoTests/Vectors"
GOLDEN = VECTORS / "golden-1.json"
SESSIONS = VECTORS / "sessions-1.json"
SLOTS = VECTORS / "slots-2.json"
SPOOL = VECTORS / "spool-1.json"
MANIFESTS = [VECTORS / "manifest-1.json", VECTORS / "manifest-2.json"]
USERS = VECTORS / "users-1.json"
NAMES = VECTORS / "names-1.json"
AUDIT = VECTORS / "audit-1.json"


def fields_of(vector):
    def value(field):
        return bytes.fromhex(field["hex"]) if field["type"] == "bytes" else field.get("integer", field.get("text"))
    return encode_fields([(field["type"], value(field)) for field in vector["associatedData"]])


def unhex(vector, *names):
    return [bytes.fromhex(vector[name]) for name in names]


def check_cell(vector):
    key, key_id, cell, plaintext = unhex(vector, "key", "keyID", "cell", "plaintext")
    associated_data = fields_of(vector)
    require(open_cell(cell, vector["kind"], key, key_id, associated_data) == plaintext, "plaintext differs")
    return lambda changed: open_cell(changed, vector["kind"], key, key_id, associated_data), cell


def check_record(vector):
    fields = read_record(bytes.fromhex(vector["record"]), set(range(1, 256)))
    expected = {field["tag"]: bytes.fromhex(field["hex"]) for field in vector["fields"]}
    require(fields == expected, "fields differ")


def check_index(vector):
    key, value, index = unhex(vector, "key", "value", "index")
    require(blind_index(key, vector["domain"], value) == index, "index differs")


def check_link(vector):
    key, previous, mac = unhex(vector, "key", "previous", "mac")
    require(audit_link(key, previous, fields_of(vector)) == mac, "link differs")


def check_key_file(vector):
    text = vector["text"].encode()
    require(read_key_file(text) == tuple(unhex(vector, "keyID", "key")), "key differs")
    return read_key_file, text


def check_slot(vector):
    slot = dict(vector["slot"])
    for name in ("vault", "id", "keyID", "salt", "wrappedKey", "recipient", "share"):
        if name in slot:
            slot[name] = bytes.fromhex(slot[name])
    if slot["kind"] == 2:
        key = passphrase_key(vector["secret"].encode(), slot["salt"], slot["passes"], slot["memoryKiB"])
    elif slot["kind"] == 3:
        key = bytes.fromhex(vector["secret"])
    elif slot["kind"] == 4:
        key = recipient_key(vector["secret"], slot["recipient"], slot["share"])
    else:
        key = read_key_file(vector["secret"].encode())[1]
    require(slot_key_id(key) == slot["keyID"], "the slot's key id differs")
    cell, keyring_cell, retired = unhex(vector, "cell", "keyring", "retiredRoot")
    opened = read_key(open_cell(cell, "wrappedVaultKey", key, slot["keyID"], slot_fields(slot)))
    require(opened == tuple(unhex(vector, "vaultKeyID", "vaultKey")), "the vault key differs")
    keyring = read_keyring(open_cell(keyring_cell, "keyring", opened[1], opened[0], fields_of(vector)))
    require(keyring["primaryRoot"][1] == bytes.fromhex(vector["primaryRoot"]), "the root key differs")
    require([key for _, key in keyring["retiredRoots"]] == [retired], "the retired root differs")
    return lambda changed: open_cell(changed, "wrappedVaultKey", key, slot["keyID"], slot_fields(slot)), cell


CHECKS = {
    "cells": check_cell, "records": check_record, "blindIndexes": check_index, "auditLinks": check_link,
    "keyFiles": check_key_file, "slots": check_slot,
}


def flips_seen(reader, data):
    """Changes every bit once; each change must be refused."""
    for position in range(len(data) * 8):
        changed = bytearray(data)
        changed[position // 8] ^= 1 << position % 8
        try:
            reader(bytes(changed))
        except (Refused, ValueError, KeyError, IndexError):
            continue
        raise Refused(f"bit {position} was changed and nobody saw it")
    return len(data) * 8


def check_book(path, sections=tuple(CHECKS)):
    book = json.loads(path.read_text())
    require(book["format"] == 1, "book format")
    bits = 0
    counts = {}
    for section, check in ((section, CHECKS[section]) for section in sections):
        vectors = book[section]
        require(vectors, f"{section}: none")
        counts[section] = len(vectors)
        for number, vector in enumerate(vectors):
            try:
                target = check(vector)
                bits += flips_seen(*target) if target else 0
            except Refused as error:
                raise Refused(f"{path.name}: {section}[{number}]: {error}") from error
    told = ", ".join(f"{count} {section}" for section, count in counts.items())
    print(f"{path.name}: {told}; {bits} changed bits refused")


def check_sessions(path):
    book = json.loads(path.read_text())
    require(book["format"] == 1, "book format")
    for vector in book["sessions"]:
        record = bytes.fromhex(vector["record"])
        require(read_session(record) == vector["session"], f"{vector['name']}: the session differs")
        for length in range(len(record)):
            try:
                cut = read_session(record[:length])
            except Refused:
                continue
            require(cut != vector["session"], f"{vector['name']}: cut short and nobody saw it")
    print(f"{path.name}: {len(book['sessions'])} sessions")


def check_audit(path):
    book = json.loads(path.read_text())
    require(book["format"] == 1, "book format")
    for vector in book["details"]:
        record = bytes.fromhex(vector["record"])
        require(read_audit_detail(record) == (vector["texts"], vector["look"]), f"{vector['name']}: differs")
        for length in range(len(record)):
            try:
                cut = read_audit_detail(record[:length])
            except Refused:
                continue
            require(cut != (vector["texts"], vector["look"]), f"{vector['name']}: cut short, and not noticed")
    print(f"{path.name}: {len(book['details'])} audit details")


def check_names(path):
    book = json.loads(path.read_text())
    require(book["format"] == 1 and book["blindIndexes"], "book format")
    for vector in book["blindIndexes"]:
        check_index(vector)
    print(f"{path.name}: {len(book['blindIndexes'])} names")


def check_spool(path):
    book = json.loads(path.read_text())
    require(book["format"] == 1, "spool format")
    key, key_id, vault = unhex(book, "key", "keyID", "vault")
    file = b"".join(bytes.fromhex(page).ljust(PAGE, b"\0") for page in book["pages"])
    entries, torn = read_spool(file)
    require(torn == book["torn"] and len(entries) == len(book["entries"]) > 0, "spool entries")
    for (head, cell), expected in zip(entries, book["entries"]):
        require(head["vault"] == vault, "spool vault")
        for name in ("entry", "login"):
            require(head[name].hex() == expected[name], f"spool {name}")
        for name in ("chain", "generation", "fence"):
            require(head[name] == expected[name], f"spool {name}")
            changed = dict(head, **{name: head[name] + 1})
            try:
                open_cell(cell, "spool", key, key_id, spool_fields(changed))
            except Refused:
                continue
            raise Refused(f"a spooled reply opens with another {name}")
        reply = read_named(open_cell(cell, "spool", key, key_id, spool_fields(head)), SPOOLED_REPLY)
        require(reply == expected["reply"], "the spooled reply differs")
    print(f"{path.name}: {len(entries)} entries, {torn} torn")


def check_manifest(path):
    book = json.loads(path.read_text())
    require(book["format"] == 1, "manifest format")
    key, key_id, vault, keyring_tag, cell = unhex(book, "key", "keyID", "vault", "keyringTag", "cell")
    columns = [book[name] for name in ("incarnation", "createdAt", "revision", "auditSequence")]

    def read(data, columns=columns, keyring_tag=keyring_tag):
        fields = manifest_fields(vault, *columns, keyring_tag)
        return read_manifest(open_cell(data, "manifest", key, key_id, fields))

    manifest = read(cell)
    for name in ("keySlots", "providers"):
        found = [{"handle": handle.hex(), "tag": tag.hex()} for handle, tag in manifest[name]]
        require(found == book[name], f"the manifest's {name} differ")
    found = [{"handle": handle.hex(), "recipient": key.hex()} for handle, key in manifest["recipients"]]
    require(found == book.get("recipients", []), "the manifest's recipients differ")
    found = [{"handle": handle.hex(), "provenAt": int.from_bytes(at, "little", signed=True)}
             for handle, at in manifest["proofs"]]
    require(found == book.get("proofs", []), "the manifest's proofs differ")
    slots = {handle for handle, _ in manifest["keySlots"]}
    for name in ("recipients", "proofs"):
        require(slots.issuperset(handle for handle, _ in manifest[name]), f"the manifest's {name} have no slot")
    bits = flips_seen(read, cell)
    for column in range(len(columns)):
        changed = [value + (index == column) for index, value in enumerate(columns)]
        bits += flips_seen(lambda _, changed=changed: read(cell, changed), b"\0")
    bits += flips_seen(lambda tag: read(cell, keyring_tag=tag), keyring_tag)
    for lock in book.get("lockFiles", []):
        require(lock_file_number(bytes.fromhex(lock["id"]), lock["inode"]) == lock["number"], "lock file number")
    print(f"{path.name}: {sum(len(manifest[name]) for name in manifest)} entries; {bits} changed bits refused")


def check_users(path):
    """A user whose manifest is whole, and one whose manifest lies in parts."""
    book = json.loads(path.read_text())
    require(book["format"] == 1 and len(book["users"]) == 2, "book format")
    vault, root, root_id = unhex(book, "vault", "rootKey", "rootKeyID")
    bits = parts = 0
    for vector in book["users"]:
        handle, blind, cell = unhex(vector, "handle", "blindIndex", "cell")
        columns = [vector["revision"], vector["auditSequence"]]

        def read(data, columns=columns, handle=handle, blind=blind):
            return read_user(open_cell(data, "user", root, root_id, user_fields(vault, handle, blind, *columns, root_id)))

        user = read(cell)
        require(user["userId"] == vector["userId"] and user["bits"] == vector.get("bits"), "the user differs")
        require([count for _, count in user["parts"]] == vector.get("counts", []), "the parts' logins differ")
        bits += flips_seen(read, cell) + flips_seen(lambda data: read(cell, handle=data), handle)
        logins = user["logins"]
        for number, text in enumerate(vector.get("parts", [])):
            part = bytes.fromhex(text)

            def open_part(data, number=number, width=user["bits"], handle=handle, user=user):
                require(data[-16:] == user["parts"][number][0], "the user names another part")
                plain = open_cell(data, "manifestPart", user["dataKey"], handle, part_fields(vault, handle, width, number))
                return read_part(plain, width, number)

            entries = open_part(part)
            require(len(entries) == user["parts"][number][1], "the user says that a part has another number of logins")
            logins = logins + entries
            bits += flips_seen(open_part, part)
            for number_of_other in range(len(vector["parts"])):
                if number_of_other == number:
                    continue
                try:
                    open_part(part, number=number_of_other)
                except Refused:
                    continue
                raise Refused("a part opens in another place")
            parts += 1
        found = [{"login": login.hex(), "revision": revision, "tag": tag.hex()} for login, revision, tag in logins]
        require(found == vector["logins"], "the logins differ")
    print(f"{path.name}: {len(book['users'])} users, {parts} parts; {bits} changed bits refused")


def self_test():
    """A book in which one hex digit is different must fail, in every section."""
    text = json.loads(GOLDEN.read_text())
    for section, check, name in (
        ("cells", check_cell, "cell"), ("records", check_record, "record"), ("blindIndexes", check_index, "index"),
        ("auditLinks", check_link, "mac"), ("slots", check_slot, "cell"),
    ):
        vector = dict(text[section][0])
        last = vector[name][-1]
        vector[name] = vector[name][:-1] + ("0" if last != "0" else "1")
        try:
            check(vector)
        except Refused:
            continue
        raise Refused(f"self-test: a changed vector in {section} passed")
    print("self-test: a changed vector in each section is refused")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fresh", type=pathlib.Path, help="the directory named by TOKENVAULT_VECTOR_OUT")
    arguments = parser.parse_args()
    try:
        check_book(GOLDEN)
        check_book(SLOTS, ["slots"])
        check_sessions(SESSIONS)
        check_spool(SPOOL)
        for path in MANIFESTS:
            check_manifest(path)
        check_users(USERS)
        check_names(NAMES)
        check_audit(AUDIT)
        self_test()
        if arguments.fresh:
            check_book(arguments.fresh / "fresh-cells.json")
            check_book(arguments.fresh / "fresh-slots.json", ["slots"])
            check_spool(arguments.fresh / "fresh-spool.json")
    except (Refused, OSError) as error:
        print(f"check_vectors: error: {error}", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
