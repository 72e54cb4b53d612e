import ArgumentParser
import TokenVault
import VaultAdministration
import VaultStorage

/// The key of the vault that another one is moved to.
struct MoveTargetKeyOptions: ParsableArguments {
    @Option(
        help: .init("The target's key file. By default the key of the vault that is moved.", valueName: "path"),
        completion: .file())
    var targetKeyFile: String?

    @OptionGroup var targetPassphrase: SecretOptions<TargetPassphraseKind>

    @Option(help: .init("The program that unwraps the target's wrapped key, as a JSON array.", valueName: "json"))
    var targetWrapCommand: String?

    @Option(
        help: .init("The file with the age identity that opens the target.", valueName: "path"),
        completion: .file())
    var targetIdentity: String?

    func validate() throws {
        let given = [
            targetKeyFile != nil, targetPassphrase.isGiven, targetWrapCommand != nil, targetIdentity != nil,
        ]
        guard given.count(where: \.self) <= 1 else {
            throw ValidationError("only one key of the target can be specified")
        }
    }

    /// The key as errors name it.
    func keyInUse(otherwise source: KeyInUse?) throws -> KeyInUse? {
        if let targetKeyFile { return KeyInUse(.keyFile(targetKeyFile), from: "--target-key-file") }
        if let targetIdentity { return KeyInUse(.identity(targetIdentity), from: "--target-identity") }
        if let text = targetWrapCommand {
            return KeyInUse(
                .wrapped(try ProgramArguments.parse(text, "--target-wrap-command")), from: "--target-wrap-command")
        }
        if let given = try targetPassphrase.source {
            return KeyInUse(.passphrase(given), from: given.option(TargetPassphraseKind.option))
        }
        return source.map { KeyInUse($0.key, from: "\($0.origin), the key of the vault that is moved") }
    }

    /// The options as typed, for commands in hints.
    var typed: String {
        targetKeyFile.map { " --target-key-file \(Printable.path($0))" }
            ?? targetIdentity.map { " --target-identity \(Printable.path($0))" } ?? ""
    }

    /// - Parameter source: the key that opened the vault being moved.
    func key(_ reader: inout SecretReader, otherwise source: KeySource) throws -> KeySource {
        if let targetKeyFile { return .keyFile(targetKeyFile) }
        if let targetIdentity { return .identity(targetIdentity) }
        if let text = targetWrapCommand {
            return .wrapped(by: try ProgramArguments.parse(text, "--target-wrap-command"))
        }
        if let given = try targetPassphrase.source {
            return .passphrase(Passphrase(try reader.read("Target's passphrase", for: .openingVault, from: given)))
        }
        return source
    }
}

extension VaultAccess {
    /// - Parameter isBegun: whether the move has begun: then a new vault would be another one than its target.
    private func requireTarget(_ place: NamedPlace, isBegun: Bool, _ advice: String?) throws(Failure) {
        do {
            try requireFile(at: place)
        } catch {
            guard error.code == "vaultMissing" else { throw error }
            let making =
                "make the new vault first: vaultctl init --vault \(Printable.path(place.path)) --key-file NEW.key"
            var failure = error.notSuggestingInit("check TARGET, or \(advice ?? (isBegun ? Self.begun : making))")
            // Files of the target are left, which its own hints name.
            if isBegun, failure.hints == error.hints { failure.hints.append(Self.begun) }
            throw failure
        }
    }

    private static let begun =
        "the move has begun: put its target back, or give the move up: vaultctl move abort --target-is-lost"

    /// Opens the vault and the target of its move, and closes both.
    ///
    /// - Parameter advice: what to do if there is no such vault; nil: create it.
    func openBoth<R>(
        _ target: String, _ key: MoveTargetKeyOptions, otherwise advice: String? = nil,
        _ body: (Vault, Vault) async throws -> R
    ) async throws -> R {
        let location = try location(target)
        return try await openBeside { source, sourceKey, reader in
            let place = NamedPlace(path: target, origin: "TARGET")
            let stage = try await source.moveState()?.stage
            // Before anything is said of a target that need not be there.
            if stage == .left, advice != nil { throw VaultError(.completeMove) }
            let isBegun = stage == .leaving
            try requireTarget(place, isBegun: isBegun, advice)
            var options = try vaultOptions
            // Each vault has its own witness, which learns of the move when a service next opens the vault.
            options.witness = nil
            let targetKey = try key.key(&reader, otherwise: sourceKey)
            let vault: Vault
            do {
                vault = try await explaining(place, key.keyInUse(otherwise: keyInUse)) { [options] in
                    try await Vault.open(in: location, unlockedBy: targetKey, options: options)
                }
            } catch  where isBegun {
                throw Failure(error).notSuggestingInit(Self.begun)
            }
            do {
                let result = try await body(source, vault)
                await vault.close()
                return result
            } catch {
                await vault.close()
                throw error
            }
        }
    }
}
