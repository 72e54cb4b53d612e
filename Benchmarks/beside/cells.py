"""The cell alone: what sealing and opening 1 000 bytes costs in general libraries."""
import os
import statistics
import time

from . import order

KEY = bytes(range(32))
CONTEXT = b"user-00000001"


def aes_gcm():
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    cipher = AESGCM(KEY)

    def seal(text: bytes) -> bytes:
        nonce = os.urandom(12)
        return nonce + cipher.encrypt(nonce, text, CONTEXT)

    return seal, lambda cell: cipher.decrypt(cell[:12], cell[12:], CONTEXT)


def fernet():
    from cryptography.fernet import Fernet

    cipher = Fernet(Fernet.generate_key())
    return cipher.encrypt, cipher.decrypt


def tink():
    from tink import aead, new_keyset_handle

    aead.register()
    cipher = new_keyset_handle(aead.aead_key_templates.AES256_GCM).primitive(aead.Aead)
    return (lambda text: cipher.encrypt(text, CONTEXT)), (lambda cell: cipher.decrypt(cell, CONTEXT))


def aws(policy: str, algorithm: str):
    import aws_encryption_sdk as sdk
    from aws_encryption_sdk.identifiers import Algorithm, CommitmentPolicy, EncryptionKeyType, WrappingAlgorithm
    from aws_encryption_sdk.internal.crypto.wrapping_keys import WrappingKey
    from aws_encryption_sdk.key_providers.raw import RawMasterKeyProvider

    class Keys(RawMasterKeyProvider):
        provider_id = "bench"

        def _get_raw_key(self, key_id):
            return WrappingKey(WrappingAlgorithm.AES_256_GCM_IV12_TAG16_NO_PADDING, KEY, EncryptionKeyType.SYMMETRIC)

    keys = Keys()
    keys.add_master_key("key")
    client = sdk.EncryptionSDKClient(commitment_policy=CommitmentPolicy[policy])

    def seal(text: bytes) -> bytes:
        return client.encrypt(
            source=text, key_provider=keys, encryption_context={"user": "00000001"}, algorithm=Algorithm[algorithm])[0]

    return seal, lambda cell: client.decrypt(source=cell, key_provider=keys)[0]


CELLS = {
    "AES-GCM (cryptography)": (aes_gcm, 20_000),
    "Fernet": (fernet, 5_000),
    "Tink AES256-GCM": (tink, 10_000),
    "AWS Encryption SDK, commitment": (
        lambda: aws("REQUIRE_ENCRYPT_REQUIRE_DECRYPT", "AES_256_GCM_HKDF_SHA512_COMMIT_KEY"), 200),
    "AWS Encryption SDK, default": (
        lambda: aws("REQUIRE_ENCRYPT_REQUIRE_DECRYPT", "AES_256_GCM_HKDF_SHA512_COMMIT_KEY_ECDSA_P384"), 50),
}


def run(report, rounds: int) -> None:
    text = order.access(1).encode()
    made = {name: (make(), count) for name, (make, count) in CELLS.items()}
    for number in range(rounds + 1):
        for name, ((seal, opened), count) in made.items():
            cell = seal(text)
            if opened(cell) != text:
                raise SystemExit(f"peers: {name} does not open what it sealed")
            sealing = timed(lambda: seal(text), count)
            opening = timed(lambda: opened(cell), count)
            if number > 0:
                report.sample("cells", name, {
                    "round": number, "seal_ns": round(sealing), "open_ns": round(opening), "bytes": len(cell)})
    for name in CELLS:
        samples = [sample for sample in report.samples_of("cells") if sample["name"] == name]
        for verb in ("seal", "open"):
            value = statistics.median(sample[f"{verb}_ns"] for sample in samples) / 1000
            report.figure("cells", f"{verb} 1 000 bytes, µs: {name}", value, None, f"{samples[0]['bytes']} bytes")


def timed(work, count: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(count):
        work()
    return (time.perf_counter_ns() - start) / count
