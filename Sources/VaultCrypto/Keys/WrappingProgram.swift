/// Slot keys that an operator's program wraps and unwraps: a key management service, a TPM, clevis.
///
/// The operator names the program at each opening; the vault never does. `PROGRAM … wrap` reads 32 bytes on standard
/// input and prints the wrapped key; `PROGRAM … unwrap` does the reverse. Exit code 75 means *try again*, any other
/// nonzero code is a refusal. A line `key-name: TEXT` on standard error of `wrap` gives the program's name for the key
/// that it used.
package struct WrappingProgram: SlotUnlocker, SlotMaker {
    private static let timeLimit = Duration.seconds(10)
    private static let keyNamePrefix = "key-name: "

    private let arguments: [String]
    private let passed: [String]
    private var vault: Bytes16?
    private var end: ContinuousClock.Instant?

    /// - Parameter variables: Variables of this process that the program gets in addition to `PATH`, `HOME` and `LANG`.
    package init(_ arguments: [String], passing variables: [String] = []) throws(VaultCryptoError) {
        _ = try OperatorProgram(arguments, environment: [], timeLimit: Self.timeLimit)
        self.arguments = arguments
        passed = variables
    }

    package func bound(to vault: Bytes16) -> WrappingProgram {
        var bound = self
        bound.vault = vault
        return bound
    }

    package func ending(at end: ContinuousClock.Instant) -> any SlotUnlocker {
        var limited = self
        limited.end = end
        return limited
    }

    package func slotKey(for slot: KeySlotDescription) throws(VaultCryptoError) -> SealingKey? {
        guard case .wrapped(let blob, _) = slot.kind else { return nil }
        let key = try unwrap(blob, slot: slot.id)
        return key.id == slot.keyID ? key : nil
    }

    package func makeSlot(
        id: Bytes16, label: String, createdAt: Int64
    ) throws(VaultCryptoError) -> (description: KeySlotDescription, key: SealingKey) {
        let key = try unsafe SealingKey.slotKey { target throws(VaultCryptoError) in
            try Sodium.initialize()
            unsafe SecureRandom.fill(target)
        }
        let limit = KeySlotDescription.maximumWrappedByteCount
        let bytes = unsafe key.withUnsafeBytes { unsafe SecretBytes(copying: $0) }
        let outcome = try run("wrap", bytes, slot: id, limit: limit)
        let blob = unsafe outcome.output.withUnsafeBytes { unsafe [UInt8]($0) }
        guard !blob.isEmpty else { throw try program(slot: id).failed("printed no wrapped key") }
        // A slot that does not open is detected now, not when it is needed.
        guard try unwrap(blob, slot: id).isSame(as: key) else {
            throw try program(slot: id).failed("does not unwrap what it has wrapped")
        }
        let description = try KeySlotDescription(
            id: id, keyID: key.id, kind: .wrapped(blob, keyName: Self.keyName(outcome.errors)), label: label,
            createdAt: createdAt)
        return (description, key)
    }

    private func unwrap(_ blob: [UInt8], slot: Bytes16) throws(VaultCryptoError) -> SealingKey {
        let outcome = try run("unwrap", SecretBytes(copying: blob), slot: slot, limit: SealingKey.byteCount)
        guard outcome.output.count == SealingKey.byteCount else {
            throw try program(slot: slot).failed(
                "printed \(outcome.output.count) bytes, and a key has \(SealingKey.byteCount)")
        }
        return try unsafe SealingKey.slotKey { target in
            unsafe outcome.output.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        }
    }

    private func run(
        _ verb: String, _ input: SecretBytes, slot: Bytes16, limit: Int
    ) throws(VaultCryptoError) -> OperatorProgram.Outcome {
        let program = try program(slot: slot)
        let outcome = try Self.ask(program, verb, input, limit)
        if let refusal = program.refusal(outcome) { throw refusal }
        return outcome
    }

    private static func ask(
        _ program: OperatorProgram, _ verb: String, _ input: SecretBytes, _ limit: Int
    ) throws(VaultCryptoError) -> OperatorProgram.Outcome {
        let result: Result<OperatorProgram.Outcome, VaultCryptoError> = unsafe input.withUnsafeBytes { input in
            do throws(VaultCryptoError) {
                return .success(try unsafe program.ask(verb, input: input, limit: limit))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func program(slot: Bytes16) throws(VaultCryptoError) -> OperatorProgram {
        let names = Set(["PATH", "HOME", "LANG"] + passed)
        var environment = OperatorProgram.inherited { names.contains(String($0.prefix { $0 != "=" })) }
        environment.append("TOKENVAULT_SLOT=\(Base32.encode(slot))")
        if let vault { environment.append("TOKENVAULT_VAULT_ID=\(Base32.encode(vault))") }
        return try OperatorProgram(arguments, environment: environment, timeLimit: Self.timeLimit).ending(at: end)
    }

    /// The key name in the program's standard error.
    private static func keyName(_ errors: String) -> String? {
        guard let start = errors.firstRange(of: keyNamePrefix) else { return nil }
        let name = errors[start.upperBound...].prefix { $0 != "\n" }
        guard !name.isEmpty, name.utf8.count <= KeySlotDescription.maximumKeyNameByteCount else { return nil }
        return String(name)
    }
}
