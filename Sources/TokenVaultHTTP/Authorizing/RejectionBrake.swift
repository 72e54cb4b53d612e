import FoundationEssentials
import HTTPTypes
import Synchronization

/// Limits renewals for a server that rejects even new tokens: after such a rejection, requests to it renew nothing for
/// a minute.
final class RejectionBrake: Sendable {
    fileprivate struct Place: Hashable {
        let owner: SentToken.Owner
        let authority: String
    }

    private static let pause: TimeInterval = 60
    private static let capacity = 4_096
    private let pulled = Mutex<[Place: Date]>([:])

    func holds(_ owner: SentToken.Owner, _ request: HTTPRequest, at now: Date) -> Bool {
        pulled.withLock { pulled in
            // A clock that was set back must not keep the brake on indefinitely.
            guard let until = pulled[Place(owner, request)] else { return false }
            return now < until && until.timeIntervalSince(now) <= Self.pause
        }
    }

    func pull(_ owner: SentToken.Owner, _ request: HTTPRequest, at now: Date) {
        pulled.withLock { pulled in
            if pulled.count >= Self.capacity { pulled = pulled.filter { $0.value > now } }
            if pulled.count >= Self.capacity { pulled = [:] }
            pulled[Place(owner, request)] = now.addingTimeInterval(Self.pause)
        }
    }

    func release(_ owner: SentToken.Owner, _ request: HTTPRequest) {
        pulled.withLock { pulled in
            if !pulled.isEmpty { pulled[Place(owner, request)] = nil }
        }
    }
}

extension RejectionBrake.Place {
    fileprivate init(_ owner: SentToken.Owner, _ request: HTTPRequest) {
        self.init(owner: owner, authority: (request.authority ?? "").lowercased())
    }
}
