enum WitnessFacts {
    static let sharedDevice =
        "the witness lies on the vault's own file system: whoever puts back the one can put back the other with it"
}
