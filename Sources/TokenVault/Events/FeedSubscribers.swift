import VaultStorage

/// The subscribers, found by what they watch: an event costs as much as there are subscribers who get it.
struct FeedSubscribers: Sendable {
    private var subscribers: [Int: FeedSubscriber] = [:]
    private(set) var last = 0
    private var ofAll: Set<Int> = []
    private var ofLogin: [LoginHandle: Set<Int>] = [:]
    /// For users that the vault knows.
    private var ofUser: [UserHandle: Set<Int>] = [:]
    /// By the given user ids: a user need not exist yet.
    private var ofName: [UserKey: Set<Int>] = [:]
    /// For tests: how many subscribers have been asked whether they want an event.
    private(set) var work = 0

    var isEmpty: Bool { subscribers.isEmpty }
    var all: some Sequence<FeedSubscriber> { subscribers.values }

    /// Whether a subscriber names a user.
    var hasNames: Bool { !ofName.isEmpty }

    mutating func add(_ subscriber: FeedSubscriber) -> Int {
        last += 1
        subscribers[last] = subscriber
        let number = last
        change(subscriber) { $0.insert(number) }
        return number
    }

    mutating func remove(_ number: Int) -> FeedSubscriber? {
        guard let subscriber = subscribers.removeValue(forKey: number) else { return nil }
        change(subscriber) { $0.remove(number) }
        return subscriber
    }

    /// Finds the subscribers that wait for this user, who was added, or added again with another handle. Returns the
    /// earlier handles.
    mutating func meet(_ user: UserHandle, named name: String) -> [UserHandle?] {
        var earlier: [UserHandle?] = []
        for number in ofName[UserKey(name)] ?? [] {
            guard let old = subscribers[number]?.user else {
                subscribers[number]?.user = user
                Self.change(&ofUser, user) { $0.insert(number) }
                earlier.append(nil)
                continue
            }
            guard old != user else { continue }
            subscribers[number]?.user = user
            Self.change(&ofUser, old) { $0.remove(number) }
            Self.change(&ofUser, user) { $0.insert(number) }
            earlier.append(old)
        }
        return earlier
    }

    private mutating func change(_ subscriber: FeedSubscriber, _ body: (inout Set<Int>) -> Void) {
        switch subscriber.scope {
        case .all: body(&ofAll)
        case .login(let login): Self.change(&ofLogin, login, body)
        case .user(let id): Self.change(&ofName, UserKey(id), body)
        }
        if let user = subscriber.user { Self.change(&ofUser, user, body) }
    }

    private static func change<Key>(_ sets: inout [Key: Set<Int>], _ key: Key, _ body: (inout Set<Int>) -> Void) {
        var set = sets[key] ?? []
        body(&set)
        sets[key] = set.isEmpty ? nil : set
    }
}

// MARK: Delivery

extension FeedSubscribers {
    /// Each subscriber watches one scope, so none is in two of these sets.
    mutating func deliver(_ event: FeedEvent) {
        for number in ofAll { deliver(event, to: number) }
        for number in ofLogin[event.login] ?? [] { deliver(event, to: number) }
        for number in ofUser[event.user] ?? [] { deliver(event, to: number) }
    }

    /// Delivers an event that concerns no single login to the subscribers of all logins.
    mutating func deliver(_ event: SessionEvent, of sequence: Int64) {
        for number in ofAll {
            work += 1
            guard let subscriber = subscribers[number], sequence > subscriber.from,
                case .events(let buffer) = subscriber.sink
            else { continue }
            buffer.put(event)
        }
    }

    private mutating func deliver(_ event: FeedEvent, to number: Int) {
        work += 1
        guard let subscriber = subscribers[number], !subscriber.has(event) else { return }
        switch subscriber.sink {
        case .events(let buffer):
            if case .stateChanged(let next) = event.event.kind, subscriber.known[event.login] != nil {
                subscribers[number]?.states[event.login] = next
            }
            buffer.put(event.event)
        case .states:
            // The state of a user follows from those of all their logins.
            guard case .login = subscriber.scope, case .stateChanged(let next) = event.event.kind else { return }
            deliver(next, to: number)
        }
    }

    /// Delivers a user's state to its subscribers. The state is computed only if there are any.
    mutating func deliver(stateOf user: UserKey, _ state: (UserHandle?) -> SessionState) {
        for number in ofName[user] ?? [] {
            guard let subscriber = subscribers[number], case .states = subscriber.sink else { continue }
            work += 1
            deliver(state(subscriber.user), to: number)
        }
    }

    private mutating func deliver(_ next: SessionState, to number: Int) {
        guard case .states(let buffer, let last) = subscribers[number]?.sink, last != next else { return }
        subscribers[number]?.sink = .states(buffer, last: next)
        buffer.put(next)
    }

    /// Records events that subscribers to all logins do not get.
    func missOfAll(_ count: Int) {
        for number in ofAll { subscribers[number]?.miss(count) }
    }

    /// Records events that are lost to every subscriber, whatever their subject.
    func miss(_ count: Int) {
        for subscriber in subscribers.values { subscriber.miss(count) }
    }
}

extension FeedSubscriber {
    fileprivate func miss(_ count: Int) {
        if case .events(let buffer) = sink { buffer.miss(count) }
    }
}
