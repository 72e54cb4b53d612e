enum WitnessFacts {
    static let sharedDevice =
        "the witness lies on the vault's own file system: both can be put back together"
}
