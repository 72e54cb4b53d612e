extension Vault {
    /// Runs what a caller waits for. A task that is counted already, because it answers for the app, stays so.
    func working<R>(_ body: () async throws -> R) async rethrows -> R {
        guard let workClock, WorkToken.current == nil else { return try await body() }
        let token = WorkToken(workClock)
        defer { token.end() }
        return try await WorkToken.$current.withValue(token) { try await body() }
    }

    func wait(for task: Task<Void, Never>) async {
        let token = WorkToken.current
        token?.beginWait()
        await task.value
        token?.endWait()
    }

    /// Starts work that belongs to no caller: neither a caller's cancellation nor its priority nor its task-local
    /// values reach it.
    @discardableResult
    func spawn(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let token = workClock.map { WorkToken($0) }
        return Task.detached {
            await WorkToken.$current.withValue(token) {
                defer { token?.end() }
                await body()
            }
        }
    }
}
