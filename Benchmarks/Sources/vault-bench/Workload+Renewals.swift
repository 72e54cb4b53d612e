import FoundationEssentials
import HTTPTypes
import OAuthClient
import TokenVault

/// A provider that answers at once, with tokens of the usual length that have not been there before.
struct InstantProvider: HTTPTransport {
    private static let filler = String(repeating: "x", count: 1_000)

    func send(
        _ request: HTTPRequest, body: [UInt8], limits: HTTPLimits
    ) async throws(HTTPTransportError) -> HTTPReply {
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        let access = "access-\(name)-\(Self.filler)".prefix(1_000)
        let refresh = "refresh-\(name)-\(Self.filler)".prefix(100)
        let reply =
            #"{"access_token":"\#(access)","refresh_token":"\#(refresh)","token_type":"Bearer","expires_in":86400}"#
        return HTTPReply(
            response: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
            body: Array(reply.utf8))
    }
}

/// Lets callers go on one after the other, in the order in which they come.
actor Turnstile {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var first = 0

    func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        guard first < waiting.count else {
            (waiting, first, isTaken) = ([], 0, false)
            return
        }
        first += 1
        waiting[first - 1].resume()
    }
}

extension Workload {
    private static let callers = 64

    private func renewing(_ vault: Vault) async throws -> UserManager {
        try await UserManager(vault: vault, transport: InstantProvider())
    }

    /// Sixty-four callers, each with one renewal after the other: with and without a turnstile that lets one renewal in at
    /// a time, in turns. Prints for both `nanoseconds-per-renewal 99th-percentile-in-nanoseconds`.
    func renewTogether(_ order: [String]) async throws {
        let opened = try await open()
        let users = try await renewing(opened)
        let (alone, together) = (order[..<(order.count / 2)], order[(order.count / 2)...])
        let one = try await renew(alone, users, through: Turnstile())
        let many = try await renew(together, users, through: nil)
        await opened.close()
        print("\(one.each) \(one.slow) \(many.each) \(many.slow)")
    }

    private func renew(
        _ order: ArraySlice<String>, _ users: UserManager, through turnstile: Turnstile?
    ) async throws -> (each: Double, slow: Double) {
        let order = Array(order)
        var times: [Duration] = []
        let elapsed = try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: [Duration].self) { group in
                for caller in 0..<Self.callers {
                    group.addTask {
                        var times: [Duration] = []
                        for index in stride(from: caller, to: order.count, by: Self.callers) {
                            times.append(
                                try await ContinuousClock().measure {
                                    await turnstile?.take()
                                    _ = try await users.updateAccessToken(userId: order[index])
                                    await turnstile?.leave()
                                })
                        }
                        return times
                    }
                }
                for try await part in group { times += part }
            }
        }
        times.sort()
        return (elapsed / .nanoseconds(1) / Double(order.count), times[times.count * 99 / 100] / .nanoseconds(1))
    }

    /// Renews each login so many times, and closes the vault.
    func renewAll(_ times: Int) async throws {
        let opened = try await open()
        let users = try await renewing(opened)
        let count = logins
        let elapsed = try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<Self.callers {
                    group.addTask {
                        for _ in 0..<times {
                            for number in stride(from: caller, to: count, by: Self.callers) {
                                _ = try await users.updateAccessToken(userId: Self.userId(number))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        await opened.close()
        print("\(elapsed / .nanoseconds(1) / Double(count * times)) \(count * times)")
    }
}
