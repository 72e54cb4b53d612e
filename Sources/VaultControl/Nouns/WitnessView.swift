import TokenVault
import VaultAdministration

enum WitnessView {
    static let sharedDevice =
        "the witness lies on the vault's own file system: both can be put back together"

    /// The path of its file or program. What the program is called with is left out.
    static func name(_ witness: VaultWitness) -> String {
        switch witness.keeper {
        case .file(let path): path
        case .program(let arguments): arguments.first ?? ""
        }
    }

    /// What a program does with its notes cannot be seen from here.
    static func sharesDevice(_ witness: VaultWitness, with vault: Vault) -> Bool {
        if case .file(let path) = witness.keeper { vault.sharesDevice(with: path) } else { false }
    }
}
