import VaultStorage

extension UserManager {
    /// Logins that are read at a time.
    private static let pageSize = 256
    /// Logins that are ended concurrently: their transactions share a commit.
    private static let width = 16

    /// Ends all matching logins: those of a provider that you leave, of a departing customer, or dead for a long time.
    ///
    /// ```swift
    /// let report = try await users.endLogins(where: LoginFilter(provider: "google"), by: .loggedOut) { ended, seen in
    ///     print("\(ended) of \(seen)")
    /// }
    /// ```
    ///
    /// Each login ends in a transaction of its own; its provider is asked afterwards, one request at a time for each
    /// provider. A provider that does not confirm one is not asked about further ones, which wait in the outbox.
    /// Renewals, other logins and other processes continue meanwhile. If the call is cancelled or the process dies,
    /// logins that have ended stay ended, and the same call continues with the rest.
    ///
    /// - Parameters:
    ///   - filter: Which logins. An empty one is refused.
    ///   - way: How they are ended. ``LoginEnd/terminated(_:)`` skips logins that are terminated already.
    ///   - progress: Called now and then with how many have been ended, and how many have been looked at.
    /// - Throws: ``VaultError`` if the vault cannot be read; the outcome of a single login is in the report.
    @discardableResult
    public func endLogins(
        where filter: LoginFilter, by way: LoginEnd,
        progress: @escaping @Sendable (_ ended: Int, _ seen: Int) -> Void = { _, _ in }
    ) async throws -> LoginEndReport {
        guard !filter.isEmpty else {
            throw VaultError(
                .invalidArgument, "this would end every login of the vault",
                hint: "name a user, a provider or a state")
        }
        var filter = filter
        if let tenant = names.tenant { filter.tenant = tenant }
        var report = LoginEndReport()
        var silent: Set<ProviderHandle> = []
        var pages = vault.filtered(filter, pageSize: Self.pageSize).makePages()
        while let page = try await pages.next() {
            var wanted: [LoginHandle] = []
            for entry in page.entries {
                switch entry {
                case .damaged: report.damaged += 1
                case .login(let login) where way.passesOver(login): break
                case .login(let login): wanted.append(login.id.handle)
                }
            }
            let plans = await end(wanted, way, &report)
            // Those of a provider that does not answer stay in the outbox.
            let left = plans.filter { $0.records.contains { silent.contains($0.provider) } }
            vault.superseding.fire(left.map(\.login))
            report.pending += left.count
            let asked = plans.filter { plan in !plan.records.contains { silent.contains($0.provider) } }
            for (plan, result) in zip(asked, await finish(asked).results) {
                report.count(result.outcome)
                if case .pending = result.outcome { silent.formUnion(plan.records.map(\.provider)) }
            }
            progress(report.ended, page.seen)
        }
        return report
    }

    private func end(_ logins: [LoginHandle], _ way: LoginEnd, _ report: inout LoginEndReport) async -> [RevocationPlan]
    {
        var rest = logins[...]
        var plans: [RevocationPlan] = []
        await withTaskGroup { group in
            for login in rest.prefix(Self.width) { group.addTask { await self.endOne(login, way) } }
            rest = rest.dropFirst(Self.width)
            while let outcome = await group.next() {
                switch outcome {
                case .success(let plan): plans.append(plan)
                case .failure(let failure): report.add(failure)
                }
                if !Task.isCancelled, let login = rest.popFirst() {
                    group.addTask { await self.endOne(login, way) }
                }
            }
        }
        report.ended += plans.count
        return plans
    }

    private func endOne(_ login: LoginHandle, _ way: LoginEnd) async -> Result<RevocationPlan, LoginEndReport.Failure> {
        do {
            return .success(try await end(login, way))
        } catch {
            let error = error as? VaultError ?? VaultError(.tryLater, "the call was cancelled")
            return .failure(LoginEndReport.Failure(login: LoginID(login), error: error))
        }
    }
}

extension LoginEnd {
    fileprivate func passesOver(_ login: Login) -> Bool {
        guard case .terminated = kind, case .terminated = login.state else { return false }
        return true
    }
}
