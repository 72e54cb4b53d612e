import FoundationEssentials
import OAuthClient
import VaultImport

/// The file of `--provider-map`: the vault's providers by the source's names.
enum ProviderMapFile {
    /// A member that is not known would be left out unnoticed: `client_id`, say, and with it the check of the client.
    private struct Unknown: Error { let member: String }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) {}
    }

    private struct Rule: Decodable {
        var name: String
        var clientId: String?
        var confidential: Bool?

        private enum CodingKeys: CodingKey, CaseIterable {
            case name, clientId, confidential
        }

        init(from decoder: any Decoder) throws {
            if let name = try? decoder.singleValueContainer().decode(String.self) {
                self.name = name
                return
            }
            let given = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
            let known = CodingKeys.allCases.map(\.stringValue)
            if let other = given.sorted().first(where: { !known.contains($0) }) { throw Unknown(member: other) }
            let members = try decoder.container(keyedBy: CodingKeys.self)
            name = try members.decode(String.self, forKey: .name)
            clientId = try members.decodeIfPresent(String.self, forKey: .clientId)
            confidential = try members.decodeIfPresent(Bool.self, forKey: .confidential)
        }
    }

    static func rules(in path: String) throws -> [String: ProviderMap.Rule] {
        let advice = "name a JSON file that maps them: {\"google-oauth2\": \"google\"}"
        if let problem = PathProblem("provider map", at: path, from: "--provider-map", advice: advice) {
            throw Failure(problem.isMissing ? .notFound : .machine, problem.message, hints: problem.hints)
        }
        let bytes = try InputFile.read(path, "Provider map", from: "--provider-map", atMost: 1 << 20)
        try requireUnambiguous(bytes, path)
        let rules: [String: Rule]
        do {
            rules = try JSONDecoder().decode([String: Rule].self, from: Data(bytes))
        } catch let unknown as Unknown {
            throw Failure.usage(
                "the provider map at \(Printable.path(path)) has a member that is not known: "
                    + Printable.named(unknown.member),
                hint: "its members are name, clientId and confidential")
        } catch {
            guard (try? JSONDecoder().decode(AnyJSON.self, from: Data(bytes))) != nil else {
                throw Failure.usage(
                    "the provider map at \(Printable.path(path)) is not JSON",
                    hint: "this shows the place: jq . \(Printable.path(path))")
            }
            throw Failure.usage(
                "the provider map at \(Printable.path(path)) is not of the form "
                    + "{\"google-oauth2\": \"google\"}",
                hint: "an object such as {\"name\": \"google\", \"clientId\": \"…\", \"confidential\": true} says more")
        }
        return try rules.mapValues { rule in
            ProviderMap.Rule(
                name: rule.name, clientID: try rule.clientId.map { try ClientID($0) },
                isConfidential: rule.confidential ?? false)
        }
    }

    /// Foundation takes a name that is there twice by one of its values, and a comma at the end.
    private static func requireUnambiguous(_ bytes: [UInt8], _ path: String) throws(Failure) {
        // What is no object has words of its own.
        guard bytes.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "{") else { return }
        guard let map = try? JSONObject(document: bytes) else {
            throw .usage(
                "the provider map at \(Printable.path(path)) is not JSON",
                hint: "this shows the place: jq . \(Printable.path(path))")
        }
        for name in map.names {
            var twice: String? = if case .ambiguous? = map[name] { name } else { nil }
            if case .object(let rule)? = map[name] {
                twice = rule.names.first { if case .ambiguous? = rule[$0] { true } else { false } }
            }
            guard let twice else { continue }
            throw .usage(
                "the provider map at \(Printable.path(path)) has \(Printable.named(twice)) twice",
                hint: "leave one of them out")
        }
    }
}
