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

    /// Makes a new root key, reseals everything under it, and discards the old one; or resumes an interrupted rotation.
    ///
    /// Nothing has to be stopped: reads, renewals and other processes continue, and adopt the new key by themselves. A
    /// rotation may be killed at any moment; another call resumes it. Data keys of users stay as they are.
    ///
    /// - Parameters:
    ///   - patience: How long to wait for other processes to end renewals that they began before. After that the old root
    ///     is kept, and the next call discards it.
    ///   - progress: Called at intervals, from a thread of its own.
    /// - Returns: ``RootRotationReport/isComplete`` says whether the old root is gone.
    /// - Throws: ``VaultError``; or, if the task is cancelled, `CancellationError`. The work done until then is kept.
    @discardableResult
    package func rotateRootKey(
        patience: Duration = .seconds(120),
        progress: @escaping @Sendable (RootRotationProgress) -> Void = { _ in }
    ) async throws -> RootRotationReport {
        try await rotateRootKey(goesBack: false, patience, progress)
    }

    /// Goes back to the root key from before a rotation that is not complete, and seals everything under it again.
    ///
    /// - Throws: ``VaultError/Code/conflict`` if no rotation is under way.
    @discardableResult
    package func abortRootKeyRotation(
        patience: Duration = .seconds(120),
        progress: @escaping @Sendable (RootRotationProgress) -> Void = { _ in }
    ) async throws -> RootRotationReport {
        try await rotateRootKey(goesBack: true, patience, progress)
    }

    private func rotateRootKey(
        goesBack: Bool, _ patience: Duration, _ progress: @escaping @Sendable (RootRotationProgress) -> Void
    ) async throws -> RootRotationReport {
        let end = timeSource.uptime() + patience
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
