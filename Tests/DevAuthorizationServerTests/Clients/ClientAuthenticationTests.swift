import DevAuthorizationServer
import Foundation
import Testing

struct ClientAuthenticationTests {
    private func login(_ client: Client) async throws -> WireReply {
        try await client.exchange(try await client.code())
    }

    @Test func eachClientPassesByItsOwnMethod() async throws {
        try await withServer { server async throws in
            for client in [Client(server), .basic(server), .post(server)] {
                #expect(try await login(client).status == 200)
            }
        }
    }

    @Test func clientIDMayBeRepeatedBesideBasic() async throws {
        try await withServer { server async throws in
            var client = Client.basic(server)
            client.credentials = [("client_id", "demo-basic")]
            #expect(try await login(client).status == 200)
            client.credentials = [("client_id", "demo")]
            #expect(try await login(client).error == "invalid_request")
        }
    }

    @Test func twoMethodsAtOnceAreRefused() async throws {
        try await withServer { server async throws in
            var client = Client.basic(server)
            client.credentials = [("client_id", "demo-basic"), ("client_secret", "demo-basic-secret")]
            #expect(try await login(client).error == "invalid_request")
        }
    }

    @Test func methodOfAnotherKindIsRefused() async throws {
        try await withServer { server async throws in
            // The secrets are right, the ways are not.
            var post = Client.post(server)
            post.credentials = []
            post.headers = [("Authorization", "Basic " + Data("demo-post:demo-post-secret".utf8).base64EncodedString())]
            #expect(try await login(post).error == "invalid_client")
            var basic = Client.basic(server)
            basic.headers = []
            basic.credentials = [("client_id", "demo-basic"), ("client_secret", "demo-basic-secret")]
            #expect(try await login(basic).error == "invalid_client")
            basic.credentials = [("client_id", "demo-basic")]
            #expect(try await login(basic).error == "invalid_client")
            var demo = Client(server)
            demo.credentials = []
            demo.headers = [("Authorization", "Basic " + Data("demo:".utf8).base64EncodedString())]
            #expect(try await login(demo).error == "invalid_client")
        }
    }

    @Test func wrongSecretIsAnsweredWithAChallenge() async throws {
        try await withServer { server in
            for client in [Client.basic(server, secret: "wrong"), .post(server, secret: "wrong")] {
                let reply = try await login(client)
                #expect(reply.status == 401)
                #expect(reply.error == "invalid_client")
                #expect(reply.header("www-authenticate")?.hasPrefix("Basic ") == true)
            }
        }
    }

    @Test(arguments: ["Basic", "Basic !!!", "Basic ZGVtbw==", "Bearer ZGVtbzp4", "Basic ZGVtbzolenp6"])
    func malformedBasicIsRefused(field: String) async throws {
        try await withServer { server async throws in
            var client = Client.basic(server)
            client.headers = [("Authorization", field)]
            #expect(try await login(client).error == "invalid_client")
        }
    }

    /// RFC 6749 §2.3.1: identifier and secret are form-encoded inside Basic.
    @Test func basicCredentialsAreFormDecoded() async throws {
        let secret = "p:ss w%rd+ä"
        let odd = RegisteredClient(id: "a:b c", authentication: .basic(secret: secret))
        try await withServer({ $0.clients.append(odd) }) { server async throws in
            var client = Client(server)
            client.id = odd.id
            client.credentials = []
            let pair = Wire.escape(odd.id) + ":" + Wire.escape(secret)
            client.headers = [("Authorization", "Basic " + Data(pair.utf8).base64EncodedString())]
            #expect(try await login(client).status == 200)
            client.headers = [("Authorization", "Basic " + Data("\(odd.id):\(secret)".utf8).base64EncodedString())]
            #expect(try await login(client).error == "invalid_client")
        }
    }
}
