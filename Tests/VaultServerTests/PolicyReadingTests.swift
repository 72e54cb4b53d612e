import Platform
import Testing
import VaultServer

struct PolicyReadingTests {
    private static let identity = "name = \"web\"\nuid = 33\n"
    private static let rest = "verbs = [\"token\"]\nusers = [\"*\"]\nproviders = [\"*\"]\n"

    private static func read(_ text: String) throws -> ServePolicy {
        try ServePolicy(text, user: { $0 == "www" ? 33 : nil }, group: { $0 == "app" ? 7 : nil })
    }

    private static let mistakes: [(text: String, message: String)] = [
        ("", "the policy has no client"),
        ("# nothing\n", "the policy has no client"),
        ("name = \"web\"", "name belongs to no client"),
        ("[client]", "expected [[client]]"),
        ("[[clients]]", "expected [[client]]"),
        ("[[client]]\nuid = 33\n" + rest, "this client has no name"),
        ("[[client]]\nname = \"web\"\n" + rest, "web fits every process"),
        ("[[client]]\n" + identity + "users = [\"*\"]\nproviders = [\"*\"]", "web has no verbs"),
        ("[[client]]\n" + identity + "verbs = [\"token\"]\nproviders = [\"*\"]", "web has no users"),
        ("[[client]]\n" + identity + "verbs = [\"token\"]\nusers = [\"*\"]", "web has no providers"),
        ("[[client]]\n" + identity + "verbs = [\"tokens\"]", "there is no such verb: tokens"),
        ("[[client]]\n" + identity + "verbs = []", "verbs does not take this value"),
        ("[[client]]\n" + identity + "verbs = \"token\"", "verbs does not take this value"),
        ("[[client]]\n" + identity + "users = [\"a*b\"]", "an asterisk stands only at the end"),
        ("[[client]]\n" + identity + "user = \"www\"\n" + rest, "user and uid say the same"),
        ("[[client]]\n" + identity + "uid = 34", "uid is set twice"),
        ("[[client]]\nname = \"web\"\nuid = \"33\"", "uid does not take this value"),
        ("[[client]]\nname = \"web\"\nuid = 99999999999", "the number is too large"),
        ("[[client]]\nname = \"web\"\nuid = -1", "expected a number from 0 on"),
        ("[[client]]\nname = \"web\"\nuser = \"nobody-here\"\n" + rest, "this machine has no user"),
        ("[[client]]\nname = \"web\"\ngroup = \"none\"\n" + rest, "this machine has no group"),
        ("[[client]]\nname = \"a b\"\nuid = 1\n" + rest, "a client's name is up to 64 characters"),
        ("[[client]]\n" + identity + "colour = \"red\"", "a client has no such setting"),
        ("[[client]]\n" + identity + "origins = [\"api.example\"]", "an origin is https://"),
        ("[[client]]\n" + identity + "origins = [\"https://api.example/path\"]", "an origin is https://"),
        ("[[client]]\n" + identity + "methods = [\"get\"]", "a method is written in capitals"),
        ("[[client]]\n" + identity + rest + "origins = [\"https://api.example\"]", "web has origins, which only"),
        (
            "[[client]]\n" + identity + "verbs = [\"authorize\"]\nusers = [\"*\"]\nproviders = [\"*\"]",
            "web has no origins"
        ),
        ("[[client]]\n" + identity + rest + "[[client]]\n" + identity + rest, "line 2 has a client of the same name"),
        (
            "[[client]]\n" + identity + rest + "[[client]]\nname = \"b\"\ngid = 7\n" + rest,
            "one process could be both web (line 2) and b"
        ),
        (
            "[[client]]\n" + identity + rest + "[[client]]\nname = \"b\"\nsocket = \"x\"\n" + rest,
            "one process could be both web (line 2) and b"
        ),
    ]

    @Test func aMistakeIsNamed() throws {
        for (text, message) in Self.mistakes {
            let problem = try #require(throws: PolicyProblem.self) {
                // Line 1 is a comment, so that the first client is in line 2.
                _ = try Self.read(text.hasPrefix("[[") ? "# policy\n" + text : text)
            }
            #expect(problem.message.contains(message), "\(problem.message)")
        }
    }

    @Test func clientsAreToldApartByAnyMark() throws {
        let policy = try Self.read(
            """
            [[client]]
            name = "a"
            user = "www"  # by name
            gid = 7
            \(Self.rest)
            [[client]]
            name = "b"
            uid = 33
            gid = 8
            \(Self.rest)
            [[client]]
            name = "c"
            uid = 34
            socket = "web"
            \(Self.rest)
            """)
        func name(_ user: UInt32, _ group: UInt32, _ socket: String) -> String? {
            policy.client(of: PeerCredentials(user: user, group: group), on: socket)?.name
        }
        #expect(name(33, 7, "main") == "a")
        #expect(name(33, 8, "web") == "b")
        #expect(name(33, 9, "main") == nil)
        #expect(name(34, 7, "web") == "c")
        #expect(name(34, 7, "main") == nil)
    }
}
