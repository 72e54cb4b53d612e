import VaultStorage

/// The effect of replacing the vault key on each way of opening the vault. See ``Vault/planRekey(provenBy:)``.
package struct VaultRekeying: Sendable {
    let plan: RekeyPlan

    /// The slots that will open the vault as before.
    package var kept: [KeySlot] { plan.kept.map { KeySlot($0.slot) } }
    /// The slots whose key was not provided: they will be removed.
    package var dropped: [KeySlot] { plan.dropped.map { KeySlot($0) } }
}
