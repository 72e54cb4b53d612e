import ArgumentParser
import TokenVault

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
    private func requireTarget(_ place: NamedPlace, _ advice: String?) throws(Failure) {
        do {
            try requireFile(at: place)
        } catch {
            var failure = error
            if error.code == "vaultMissing", failure.hints.contains(where: { $0.contains("vaultctl init") }) {
                let making =
                    "make the new vault first: vaultctl init --vault \(Printable.path(place.path)) --key-file NEW.key"
                failure.hints = ["check TARGET, or \(advice ?? making)"]
            }
            throw failure
        }
    }

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
            try requireTarget(place, advice)
            var options = try vaultOptions
            // Each vault has its own witness, which learns of the move when a service next opens the vault.
            options.witness = nil
            let targetKey = try key.key(&reader, otherwise: sourceKey)
            let vault = try await explaining(place, key.keyInUse(otherwise: keyInUse)) { [options] in
                try await Vault.open(in: location, unlockedBy: targetKey, options: options)
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
