/// The result of a body on its way to the caller. It is written where the body runs and read after its operation ends,
/// so that nothing in between needs to look up its type.
@usableFromInline
package final class BodyResult<R: Sendable>: @unchecked Sendable {
    @usableFromInline package var value: R?

    @inlinable package init() {}
}

extension VaultStore {
    package func write<R: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R { try await write(.nothing, body) }

    /// - Parameter isRehearsal: Whether everything is undone in the end.
    package func write<R: Sendable>(
        isRehearsal: Bool, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R {
        let result = BodyResult<R>()
        do {
            try await perform(.nothing) {
                result.value = try body($0)
                if isRehearsal { throw Rehearsed() }
            }
        } catch is Rehearsed {}
        guard let value = result.value else { throw StoreError.closed }
        return value
    }

    /// - Parameter prefetchHint: The body's first queries.
    package func write<R: Sendable>(
        _ prefetchHint: PrefetchHint, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R {
        let result = BodyResult<R>()
        try await perform(prefetchHint) { result.value = try body($0) }
        guard let value = result.value else { throw StoreError.closed }
        return value
    }

    package func updateLogin<R: Sendable>(
        _ handle: LoginHandle, _ body: @escaping @Sendable (inout LoginState) throws -> R
    ) async throws -> R {
        let result = BodyResult<R>()
        try await changeLogin(handle) { result.value = try body(&$0) }
        guard let value = result.value else { throw StoreError.closed }
        return value
    }
}

/// Thrown to undo what a rehearsal has done.
private struct Rehearsed: Error {}
