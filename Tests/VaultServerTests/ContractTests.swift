import OAuthClient
import Testing
import VaultServer

struct ContractTests {
    @Test func theContractHasEveryPathThatIsAnswered() async throws {
        let contract = try JSONObject(document: Array(Contract.text.utf8))
        guard case .object(let paths)? = contract["paths"] else { throw Unexpected() }
        #expect(
            paths.names.sorted() == [
                "/healthz", "/metrics", "/readyz", "/v1/authorize", "/v1/events", "/v1/logins", "/v1/logins/begin",
                "/v1/logins/complete", "/v1/logins/{id}", "/v1/openapi.json", "/v1/result", "/v1/token",
            ])
        let world = try await World()
        try await world.serve { client in
            for path in paths.names where path != "/v1/events" {
                guard case .object(let methods)? = paths[path] else { throw Unexpected() }
                for method in methods.names {
                    let hasBody = method == "post"
                    let answer = try await client.send(
                        method.uppercased(), path.replacing("{id}", with: "x"), hasBody ? "{}" : nil)
                    #expect(answer["code"] != "unknownPath", "\(path)")
                    #expect(answer.status != 405, "\(path)")
                }
            }
            let text = try await client.send("GET", "/v1/openapi.json").text
            #expect(text == Contract.text + "\n")
        }
    }

    private struct Unexpected: Error {}
}
