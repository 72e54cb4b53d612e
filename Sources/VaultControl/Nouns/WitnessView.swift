import TokenVault
import VaultAdministration

enum WitnessView {
    static let sharedDevice =
        "the witness is on the vault's own file system: both can be set back together"

    /// The path of its file or program, without the program's arguments.
    static func name(_ witness: VaultWitness) -> String {
        switch witness.keeper {
        case .file(let path): path
        case .program(let arguments): arguments.first ?? ""
        }
    }

    /// A program's storage for its notes is not visible from here.
    static func sharesDevice(_ witness: VaultWitness, with vault: Vault) -> Bool {
        if case .file(let path) = witness.keeper { vault.sharesDevice(with: path) } else { false }
    }
}
