package import FoundationEssentials
package import VaultStorage

/// The root keys of a vault: one seals, and others only open cells until a rotation has retired them.
package struct RootKeyStatus: Sendable, Equatable {
    /// When the root that now seals was made: with the vault, or by a rotation.
    package let madeAt: Date
    /// Whether a rotation is incomplete.
    package let isRotating: Bool
    /// The cells that are still sealed under retiring roots.
    package let remaining: RootSealedCells
}
