import Platform
import TestSupport
import Testing
import VaultServer

/// Random policies against a second reading of what they mean, written without the first.
struct PolicyModelTests {
    /// What one client's lines say, as plain data.
    private struct Model {
        var uid: UInt32
        var verbs: [String]
        var users: [String]
        var tenants: [String]?
        var providers: [String]
        var scopes: [String]?

        var text: String {
            func list(_ name: String, _ texts: [String]?) -> String {
                texts.map { "\(name) = [\($0.map { "\"\($0)\"" }.joined(separator: ", "))]\n" } ?? ""
            }
            return "[[client]]\nname = \"c\(uid)\"\nuid = \(uid)\n" + list("verbs", verbs) + list("users", users)
                + list("tenants", tenants) + list("providers", providers) + list("scopes", scopes)
        }

        func allows(_ verb: String, _ user: String, _ tenant: String?, _ provider: String, _ scope: String?) -> Bool {
            func fits(_ patterns: [String], _ text: String) -> Bool {
                for pattern in patterns {
                    if pattern == text { return true }
                    if pattern.last == "*", text.hasPrefix(String(pattern.dropLast())) { return true }
                }
                return false
            }
            if !verbs.contains(verb) || !fits(users, user) || !fits(providers, provider) { return false }
            if let tenant {
                guard let tenants, fits(tenants, tenant) else { return false }
            } else if tenants != nil {
                return false
            }
            guard let scope else { return true }
            guard let scopes else { return false }
            return fits(scopes, scope)
        }
    }

    @Test func everyAnswerIsThatOfTheModel() throws {
        let seeds = Depth.pick(brief: 2, nightly: 10, deep: 50)
        var (questions, allowed, differences) = (0, 0, 0)
        for seed in 0..<seeds {
            var random = SeededGenerator(seed: UInt64(seed))
            let names = (0..<50).map { "\(["app", "a", "user"][$0 % 3])-\($0)" }
            let providers = ["acme", "google", "a"]
            func some(_ texts: [String], _ random: inout SeededGenerator) -> [String] {
                var picked = texts.filter { _ in Bool.random(using: &random) }
                if Int.random(in: 0..<3, using: &random) == 0 {
                    picked.append(["*", "app-*", "a*", "app-1*"][Int.random(in: 0..<4, using: &random)])
                }
                return picked.isEmpty ? [texts[0]] : picked
            }
            let verbs = ["token", "logins", "logIn", "logOut", "events", "metrics"]
            let models = (0..<50).map { uid in
                Model(
                    uid: UInt32(uid), verbs: some(verbs, &random).filter { !$0.contains("*") } + ["token"],
                    users: some(names, &random),
                    tenants: Int.random(in: 0..<3, using: &random) == 0 ? some(["contoso", "a"], &random) : nil,
                    providers: some(providers, &random),
                    scopes: Bool.random(using: &random) ? some(["read", "write"], &random) : nil)
            }
            let policy = try ServePolicy(models.map(\.text).joined())
            for model in models {
                let client = try #require(policy.client(of: PeerCredentials(user: model.uid, group: 1), on: "main"))
                for name in names {
                    for verb in verbs {
                        let tenant = [nil, "contoso", "b"][Int.random(in: 0..<3, using: &random)]
                        let provider = providers[Int.random(in: 0..<3, using: &random)]
                        let scope = [nil, "read", "delete"][Int.random(in: 0..<3, using: &random)]
                        let question = PolicyQuestion(
                            try #require(PolicyClient.Verb(rawValue: verb)), user: name, tenant: tenant,
                            provider: provider, scope: scope.map { [$0] })
                        let isAllowed = client.refusal(of: question) == nil
                        questions += 1
                        allowed += isAllowed ? 1 : 0
                        if isAllowed != model.allows(verb, name, tenant, provider, scope) { differences += 1 }
                    }
                }
            }
        }
        print(
            "policies: \(seeds) of 50 clients, \(questions) questions, \(allowed) allowed, \(differences) differences")
        #expect(differences == 0)
        #expect(allowed > questions / 100 && allowed < questions / 2)
    }
}
