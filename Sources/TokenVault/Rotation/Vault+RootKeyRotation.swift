package import VaultStorage

extension Vault {
    /// How old the root key is, and whether a rotation is still to be completed.
    package func rootKeyStatus() async throws -> RootKeyStatus {
        try await VaultError.translating {
            let status = try await store.rootRotation()
            return RootKeyStatus(
                madeAt: (status.primaryMadeAt ?? store.context.createdAt).date, isRotating: !status.retiring.isEmpty,
                remaining: status.rest)
        }
    }

    /// Makes a new root key, reseals everything under it, and retires the old one; or continues a rotation that was interrupted.
    ///
    /// Nothing has to be stopped: reads, renewals and other processes continue, and adopt the new key by themselves. A rotation
    /// may be killed at any moment; the next call continues it. Data keys of users stay as they are.
    ///
    /// - Parameter timeLimit: How long to wait for other processes to end renewals that they began before. After that the old root
    ///   is kept, and the next call retires it.
    /// - Returns: Whether the old root is gone. Otherwise something still needs it: `vaultctl key rotate` says what.
    /// - Throws: ``VaultError``; or, if the task is cancelled, `CancellationError`. Resealed cells stay resealed.
    @discardableResult
    public func rotateRootKey(timeLimit: Duration = .seconds(120)) async throws -> Bool {
        try await rotateRootKey(timeLimit: timeLimit, progress: { _ in }).isComplete
    }

    /// The same, with its report.
    ///
    /// - Parameter progress: Called now and then, from a thread of its own.
    @discardableResult
    package func rotateRootKey(
        timeLimit: Duration = .seconds(120),
        progress: @escaping @Sendable (RootRotationProgress) -> Void
    ) async throws -> RootRotationReport {
        try await rotateRootKey(goesBack: false, timeLimit, progress)
    }

    /// Goes back to the root key from before a rotation that is not complete, and seals everything under it again.
    ///
    /// - Throws: ``VaultError/Code/conflict`` if no rotation is under way.
    @discardableResult
    package func abortRootKeyRotation(
        timeLimit: Duration = .seconds(120),
        progress: @escaping @Sendable (RootRotationProgress) -> Void = { _ in }
    ) async throws -> RootRotationReport {
        try await rotateRootKey(goesBack: true, timeLimit, progress)
    }

    private func rotateRootKey(
        goesBack: Bool, _ timeLimit: Duration, _ progress: @escaping @Sendable (RootRotationProgress) -> Void
    ) async throws -> RootRotationReport {
        let end = timeSource.uptime() + timeLimit
        return try await VaultError.translating {
            try await store.rotateRootKey(
                goesBack: goesBack,
                pause: {
                    guard timeSource.uptime() < end else { throw RotationTimeout() }
                    try await timeSource.sleep(for: .milliseconds(250))
                },
                progress)
        }
    }
}

private struct RotationTimeout: Error {}
