import VaultStorage

/// Which subscribers an event may be for, so that no others are asked.
struct FeedIndex: Sendable {
    /// Those who watch all logins.
    private(set) var ofAll: Set<Int> = []
    private var ofLogin: [LoginHandle: Set<Int>] = [:]
    /// As far as the vault knows these users.
    private var ofUser: [UserHandle: Set<Int>] = [:]
    /// By the names that were given: the user need not be there yet.
    private var ofName: [UserKey: Set<Int>] = [:]

    /// Whether a subscriber waits for a user.
    var hasNames: Bool { !ofName.isEmpty }

    mutating func add(_ number: Int, _ subscriber: FeedSubscriber) {
        change(subscriber.scope) { $0.insert(number) }
        if let user = subscriber.user { Self.change(&ofUser, user) { $0.insert(number) } }
    }

    mutating func remove(_ number: Int, _ subscriber: FeedSubscriber) {
        change(subscriber.scope) { $0.remove(number) }
        if let user = subscriber.user { Self.change(&ofUser, user) { $0.remove(number) } }
    }

    /// The user of a subscriber has come, or has come back.
    mutating func move(_ number: Int, from old: UserHandle?, to user: UserHandle) {
        if let old { Self.change(&ofUser, old) { $0.remove(number) } }
        Self.change(&ofUser, user) { $0.insert(number) }
    }

    func numbers(_ name: UserKey) -> Set<Int> { ofName[name] ?? [] }

    /// Those who may want to hear this; what they want exactly is theirs to say.
    func numbers(for telling: SessionBook.Telling) -> Set<Int> {
        ofAll.union(ofLogin[telling.login] ?? []).union(ofUser[telling.user] ?? [])
    }

    private mutating func change(_ scope: FeedScope, _ body: (inout Set<Int>) -> Void) {
        switch scope {
        case .all: body(&ofAll)
        case .login(let login): Self.change(&ofLogin, login, body)
        case .user(let id): Self.change(&ofName, UserKey(id), body)
        }
    }

    private static func change<Key>(_ sets: inout [Key: Set<Int>], _ key: Key, _ body: (inout Set<Int>) -> Void) {
        var set = sets[key] ?? []
        body(&set)
        sets[key] = set.isEmpty ? nil : set
    }
}
