"""A reader for sealed vault data, written from docs/vault-format.md alone, on PyNaCl, hashlib and argon2-cffi."""

import base64
import hashlib
import hmac
import struct
import unicodedata

from argon2.low_level import Type, hash_secret_raw
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt, crypto_scalarmult, crypto_scalarmult_base
from nacl.exceptions import CryptoError

KINDS = {
    "wrappedVaultKey": 1, "keyring": 2, "user": 3, "session": 4, "refresh": 5, "key": 6, "provider": 7,
    "authorizationRequest": 8, "outbox": 9, "auditDetail": 10, "spool": 11, "unusableReply": 12, "manifest": 13,
    "manifestPart": 14,
}


class Refused(Exception):
    """The data is not what the format says it must be."""


def require(condition, why):
    if not condition:
        raise Refused(why)


def open_cell(cell, kind, key, key_id, associated_data):
    require(len(cell) >= 24, "shorter than a header")
    header, nonce, commitment, sealed = cell[:24], cell[24:48], cell[48:80], cell[80:]
    require(header[:4] == b"TVCL", "magic")
    require(header[4] == 1, "format")
    require(header[5] == 1, "suite")
    require(header[6] in KINDS.values(), "unknown kind")
    require(header[7] == 0, "flags")
    require(header[6] == KINDS[kind], "wrong kind")
    require(len(cell) >= 224 and (len(cell) - 96) % 128 == 0, "length")
    require(header[8:24] == key_id, "key id")
    derived = hashlib.blake2b(nonce + header + associated_data, key=key, digest_size=64).digest()
    require(hmac.compare_digest(derived[32:], commitment), "commitment")
    try:
        padded = crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, None, nonce, derived[:32])
    except CryptoError as error:
        raise Refused("tag") from error
    plaintext, mark, zeros = padded.rpartition(b"\x80")
    require(mark and not any(zeros) and len(zeros) < 128, "padding")
    return plaintext


def encode_fields(fields):
    """Fields as (type, value) pairs: nil, integer, bytes, text."""
    out = b""
    for kind, value in fields:
        if kind == "nil":
            out += b"\x00"
        elif kind == "integer":
            out += b"\x01" + struct.pack("<q", value)
        else:
            content = value.encode() if kind == "text" else value
            out += (b"\x03" if kind == "text" else b"\x02") + struct.pack("<H", len(content)) + content
    require(len(out) <= 768, "associated data too long")
    return out


def read_length(data, offset):
    value = 0
    for count in range(4):
        require(offset + count < len(data), "length cut short")
        byte = data[offset + count]
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            require(byte or not count, "length not in its shortest form")
            return value, offset + count + 1
    raise Refused("length too long")


def read_bytes(data, offset):
    length, offset = read_length(data, offset)
    require(offset + length <= len(data), "content cut short")
    return data[offset:offset + length], offset + length


def read_record(data, known):
    fields, offset, last = {}, 0, 0
    while offset < len(data):
        tag = data[offset]
        require(tag > last, "tags do not ascend")
        require(tag in known or tag >= 128, "unknown tag")
        fields[tag], offset = read_bytes(data, offset + 1)
        last = tag
    return fields


def read_list(data):
    elements, offset = [], 0
    while offset < len(data):
        element, offset = read_bytes(data, offset)
        elements.append(element)
    return elements


def read_key(data):
    fields = read_record(data, {1, 2})
    require(len(fields[1]) == 16 and len(fields[2]) == 32, "key record")
    return fields[1], fields[2]


def read_former_audit_keys(data):
    """Each with the last row under it, the oldest first."""
    keys, last = [], 0
    for element in read_list(data) if data is not None else []:
        fields = read_record(element, {1, 2, 3})
        through = int.from_bytes(fields[3], "little", signed=True)
        require(len(fields[1]) == 16 and len(fields[2]) == 32 and len(fields[3]) == 8, "former audit key")
        require(through > last, "order of the former audit keys")
        keys.append((fields[1], fields[2], through))
        last = through
    require(keys or data is None, "no former audit keys are an absent field")
    return keys


def read_keyring(data):
    fields = read_record(data, {1, 2, 3, 4, 5, 6, 7, 8, 9})
    for tag in (5, 7, 9):
        require(tag not in fields or len(fields[tag]) == 8, "time of a key")
    return {
        "primaryRoot": read_key(fields[1]),
        "retiredRoots": [read_key(element) for element in read_list(fields[2])],
        "indexKey": read_key(fields[3]),
        "formerIndexKey": read_key(fields[6]) if 6 in fields else None,
        "auditKey": read_key(fields[4]),
        "formerAuditKeys": read_former_audit_keys(fields.get(8)),
    }


def read_entries(data, size=16):
    """A handle and `size` bytes, as often as there are such."""
    require(len(data) % (16 + size) == 0, "manifest entries")
    entries = [(data[at:at + 16], data[at + 16:at + 16 + size]) for at in range(0, len(data), 16 + size)]
    handles = [handle for handle, _ in entries]
    require(handles == sorted(set(handles)), "order of the manifest's entries")
    return entries


def read_manifest(data):
    fields = read_record(data, {1, 2, 3})
    require(3 not in fields or fields[3], "no recipients are an absent field")
    return {
        "keySlots": read_entries(fields[1]), "providers": read_entries(fields[2]),
        "recipients": read_entries(fields.get(3, b""), 32), "proofs": read_entries(fields.get(128, b""), 8),
    }


def manifest_fields(vault, incarnation, created_at, revision, audit_sequence, keyring_tag):
    return encode_fields(
        [("bytes", vault), ("text", "vault"), ("integer", incarnation), ("integer", created_at),
         ("integer", revision), ("integer", audit_sequence), ("bytes", keyring_tag)])


def user_fields(vault, handle, blind, revision, audit_sequence, root_key):
    return encode_fields(
        [("bytes", vault), ("text", "user"), ("bytes", handle), ("bytes", blind), ("integer", revision),
         ("integer", audit_sequence), ("bytes", root_key)])


def read_login_entries(data):
    """Handle, revision and tag of each login."""
    require(len(data) % 40 == 0, "entries")
    return [
        (data[at:at + 16], struct.unpack("<q", data[at + 16:at + 24])[0], data[at + 24:at + 40])
        for at in range(0, len(data), 40)]


def read_user(data):
    fields = read_record(data, {1, 2, 3, 4, 5, 6, 7, 8})
    require(len(fields[1]) == 32 and len(fields[3]) == 1 and len(fields[4]) == 8, "user")
    require((7 in fields) == (8 in fields) and (5 in fields) != (7 in fields), "a manifest is whole or in parts")
    user = {"dataKey": fields[1], "userId": fields[2].decode(), "status": fields[3][0], "bits": None, "parts": []}
    user["logins"] = read_login_entries(fields.get(5, b""))
    if 7 in fields:
        user["bits"] = fields[7][0]
        require(len(fields[7]) == 1 and user["bits"] <= 15, "bits of the parts")
        require(len(fields[8]) == 18 << user["bits"], "number of parts")
        user["parts"] = [
            (fields[8][at:at + 16], struct.unpack("<H", fields[8][at + 16:at + 18])[0])
            for at in range(0, len(fields[8]), 18)]
    return user


def part_fields(vault, user, bits, number):
    return encode_fields(
        [("bytes", vault), ("text", "manifestPart"), ("bytes", user), ("integer", bits), ("integer", number)])


def part_of(login, bits):
    return int.from_bytes(login[8:], "big") >> (64 - bits)


def read_part(data, bits, number):
    entries = read_login_entries(read_record(data, {1})[1])
    handles = [handle for handle, _, _ in entries]
    require(handles == sorted(set(handles)), "order of a part")
    require(all(part_of(handle, bits) == number for handle in handles), "login of another part")
    return entries


def lock_file_number(identity, inode):
    digest = hashlib.blake2b(identity + struct.pack("<Q", inode), digest_size=16).digest()
    return struct.unpack("<Q", digest[:8])[0] >> 40


SESSION = {
    1: ("state", "small"), 2: ("accessToken", "text"), 3: ("tokenType", "text"), 4: ("scope", "text"),
    5: ("createdAt", "integer"), 6: ("obtainedAt", "integer"), 7: ("expiresAt", "integer"),
    8: ("terminationReason", "small"), 9: ("failureReason", "small"), 10: ("failedAt", "integer"),
    11: ("notifiedFailure", "truth"), 12: ("notBefore", "integer"), 13: ("attempts", "integer"),
    14: ("rejectedGeneration", "integer"), 15: ("rejectionCount", "integer"), 16: ("rejectedSince", "integer"),
    17: ("label", "text"), 18: ("grantedScope", "text"), 19: ("subject", "text"),
    20: ("doubtCause", "small"), 21: ("cameAfterDoubt", "truth"),
    22: ("resourceTokens", "tokens"), 23: ("accessGeneration", "integer"), 24: ("attributes", "table"),
    25: ("isExpiryAssumed", "truth"), 128: ("lastRefusal", "refusal"),
}
REFUSAL = {1: ("at", "integer"), 2: ("status", "integer"), 3: ("error", "text"), 4: ("message", "text")}
RESOURCE_TOKEN = {
    1: ("resource", "text"), 2: ("requestedScope", "text"), 3: ("accessToken", "text"), 4: ("tokenType", "text"),
    5: ("scope", "text"), 6: ("obtainedAt", "integer"), 7: ("expiresAt", "integer"),
    8: ("isExpiryAssumed", "truth"), 9: ("generation", "integer"), 10: ("isRejected", "truth"),
}


SPOOLED_REPLY = {
    1: ("user", "handle"), 2: ("provider", "handle"), 3: ("accessToken", "text"), 4: ("tokenType", "text"),
    5: ("scope", "text"), 6: ("obtainedAt", "integer"), 7: ("expiresAt", "integer"), 8: ("refreshToken", "text"),
    9: ("refreshExpiresAt", "integer"), 10: ("idToken", "text"), 11: ("dpopPrivateKey", "text"),
    12: ("nonces", "table"), 13: ("resource", "text"), 14: ("requestedScope", "text"),
    15: ("isExpiryAssumed", "truth"), 16: ("attributes", "table"), 17: ("hasLostSuccessor", "truth"),
}
LOOK = {
    1: ("state", "small"), 2: ("isNew", "truth"), 3: ("generation", "integer"), 4: ("expiresAt", "integer"),
    5: ("isExpiryUnknown", "truth"), 6: ("tokenGeneration", "integer"), 7: ("failureReason", "small"),
    8: ("failedAt", "integer"), 9: ("terminationReason", "small"), 10: ("refreshExpiresAt", "integer"),
    11: ("grantedAt", "integer"), 12: ("provider", "handle"),
}
PAGE = 4096


def read_spool(data):
    """Entries as (head, cell), and the number of torn pieces."""
    entries, torn, offset, in_damage = [], 0, 0, False
    while offset < len(data):
        page = data[offset:offset + PAGE]
        head = page[:120]
        if head[:5] == b"TVSP\x01" and hashlib.blake2b(head[:104], digest_size=16).digest() == head[104:]:
            length = struct.unpack("<Q", head[8:16])[0]
            require(offset + 120 + length <= len(data) and head[5] in (1, 2) and head[6:8] == b"\0\0", "head")
            cell = data[offset + 120:offset + 120 + length]
            if head[5] == 1 and hashlib.blake2b(cell, digest_size=16).digest() == head[88:104]:
                chain, generation, fence = struct.unpack("<qqq", head[64:88])
                entries.append((
                    {"vault": head[16:32], "entry": head[32:48], "login": head[48:64], "chain": chain,
                     "generation": generation, "fence": fence}, cell))
            elif head[5] == 1:
                torn += 1
            offset += (120 + length + PAGE - 1) // PAGE * PAGE
            in_damage = False
            continue
        if any(page):
            torn += not in_damage or page[:4] == b"TVSP"
            in_damage = True
        else:
            in_damage = False
        offset += PAGE
    return entries, torn


def spool_fields(head):
    return encode_fields(
        [("bytes", head["vault"]), ("text", "spool"), ("bytes", head["entry"]), ("bytes", head["login"]),
         ("integer", head["chain"]), ("integer", head["generation"]), ("integer", head["fence"])])


def read_content(kind, data):
    if kind == "handle":
        require(len(data) == 16, "handle")
        return data.hex()
    if kind == "text":
        return data.decode()
    if kind == "small":
        require(len(data) == 1, "small number")
        return data[0]
    if kind == "truth":
        require(data in (b"\0", b"\1"), "truth value")
        return data == b"\1"
    if kind == "integer":
        require(len(data) == 8, "integer")
        return struct.unpack("<q", data)[0]
    if kind == "refusal":
        return read_named(data, REFUSAL)
    elements = read_list(data)
    require(elements, "an empty list has no field")
    if kind == "tokens":
        return [read_named(element, RESOURCE_TOKEN) for element in elements]
    require(len(elements) % 2 == 0 and elements[::2] == sorted(elements[::2]), "table")
    return {name.decode(): value.decode() for name, value in zip(elements[::2], elements[1::2])}


def read_named(data, layout):
    fields = read_record(data, set(layout))
    return {layout[tag][0]: read_content(layout[tag][1], content) for tag, content in fields.items() if tag in layout}


def read_session(data):
    return read_named(data, SESSION)


def read_audit_detail(data):
    """The texts, and the look of the login or None."""
    fields = read_record(data, {1, 2})
    words = [word.decode() for word in read_list(fields[1])] if 1 in fields else []
    require(len(words) % 2 == 0, "texts")
    return dict(zip(words[::2], words[1::2])), read_named(fields[2], LOOK) if 2 in fields else None


def slot_key_id(key):
    return hashlib.blake2b(b"", key=key, digest_size=16, person=b"TokenVault keyid").digest()


def unbase32(text, count):
    require(len(text) == (count * 8 + 4) // 5 and text == text.lower(), "base32")
    value = base64.b32decode(text.upper() + "=" * (-len(text) % 8))
    require(base64.b32encode(value).decode().lower().rstrip("=") == text, "base32 rest")
    return value


def read_key_file(data):
    require(len(data) == 111 and data.endswith(b"\n"), "line")
    name, key_id, key, checksum = data.decode("ascii")[:-1].split(" ")
    require(name == "tokenvault-key-1", "name")
    key_id, key, checksum = unbase32(key_id, 16), unbase32(key, 32), unbase32(checksum, 8)
    require(hashlib.blake2b(data[:96]).digest()[:8] == checksum, "checksum")
    require(slot_key_id(key) == key_id, "id")
    return key_id, key


def passphrase_key(passphrase, salt, passes, memory_kib):
    require(1 <= passes <= 10 and 47104 <= memory_kib <= 2097152, "cost")
    return hash_secret_raw(
        passphrase, salt, time_cost=passes, memory_cost=memory_kib, parallelism=1, hash_len=32, type=Type.ID)


BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
IDENTITY_PREFIX = "AGE-SECRET-KEY-"


def bech32_step(state, value):
    top = state >> 25
    state = (state & 0x1FFFFFF) << 5 ^ value
    for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
        state ^= generator if top >> bit & 1 else 0
    return state


def read_identity(text):
    """The secret of an age identity, 32 bytes."""
    prefix, _, rest = text.rpartition("1")
    require(prefix == IDENTITY_PREFIX and text == text.upper() and len(rest) == 58, "identity")
    values = [BECH32.index(character) for character in rest.lower()]
    state = 1
    lower = prefix.lower().encode()
    for value in [byte >> 5 for byte in lower] + [0] + [byte & 31 for byte in lower] + values:
        state = bech32_step(state, value)
    require(state == 1, "identity checksum")
    number = 0
    for value in values[:-6]:
        number = number << 5 | value
    require(number & 15 == 0, "identity rest")
    return (number >> 4).to_bytes(32, "big")


def recipient_key(identity, recipient, share):
    """The slot key that was wrapped for a recipient: HKDF-SHA-256 over an X25519 secret, as age does it."""
    secret = read_identity(identity)
    require(crypto_scalarmult_base(secret) == recipient, "the identity has another recipient")
    shared = crypto_scalarmult(secret, share)
    require(any(shared), "all-zero secret")
    extracted = hmac.digest(share + recipient, shared, "sha256")
    return hmac.digest(extracted, b"age-encryption.org/v1/X25519\x01", "sha256")


def slot_fields(slot):
    """The associated data of a slot; `passes` is absent for a key file."""
    rest = [("nil", None)] * 3
    more = []
    if slot["kind"] == 3:
        name = slot.get("keyName")
        digest = hashlib.blake2b(slot["wrappedKey"], digest_size=32).digest()
        more = [("bytes", digest), ("nil" if name is None else "text", name)]
    if slot["kind"] == 4:
        more = [("bytes", slot["recipient"]), ("bytes", slot["share"])]
    if slot["kind"] == 2:
        rest = [("bytes", slot["salt"]), ("integer", slot["passes"]), ("integer", slot["memoryKiB"])]
    return encode_fields(
        [("bytes", slot["vault"]), ("text", "keySlot"), ("bytes", slot["id"]), ("integer", slot["kind"]),
         ("bytes", slot["keyID"])] + rest + [("text", slot["label"]), ("integer", slot["createdAt"])] + more)


def blind_index(key, domain, value):
    person = {
        "userId": b"TokenVault user ", "authorizationState": b"TokenVault state", "providerName": b"TokenVault pname",
    }[domain]
    if domain == "providerName":
        value = unicodedata.normalize("NFC", value.decode()).encode()
    return hashlib.blake2b(value, key=key, digest_size=16, person=person).digest()


def audit_link(key, previous, row):
    return hashlib.blake2b(previous + row, key=key, digest_size=32).digest()
