// The world in which scripts/swift-blocks runs the blocks of the pages: a network that leads to dev-authserver, a
// browser, and a way to wait for what a block does. It is a module of its own, so a block sees only what it imports.

public import Foundation
public import HTTPTypes
public import OAuthClient
import Synchronization
import TestCertificates
public import TokenVault
public import TokenVaultHTTP

/// Where every https address leads: to a proxy of scripts/lib/block_world.py, which is each of these servers.
public enum Network {
    static func setting(_ name: String) -> String { ProcessInfo.processInfo.environment[name] ?? "" }

    static let proxy = made { try AsyncHTTPTransport.Proxy(setting("BLOCK_WORLD_PROXY")) }
    static let trustRoots = made {
        try AsyncHTTPTransport.TrustRoots.systemAnd(pemFile: setting("BLOCK_WORLD_AUTHORITY"))
    }
    /// A dev-authserver that says who it is, for the block that talks to it.
    public static let loopbackServer = setting("BLOCK_WORLD_LOOPBACK")
    /// Someone who may read an export.
    public static let recipient = "age1ed85ytxaz0h5quwfcz65yf7dsu6jzelg09nan9knfzspuupgnv9qemgxpv"
    /// For the world's own requests.
    private static let transport = AsyncHTTPTransport(
        options: .init(allowsInsecureLoopback: true, trustRoots: trustRoots, proxy: proxy))

    public static func send(_ request: HTTPRequest, body: String = "") async throws -> HTTPReply {
        try await transport.send(request, body: Array(body.utf8), limits: .tokenEndpoint)
    }

    static func get(_ url: String) async throws -> HTTPReply { try await send(request(.get, url)) }

    /// A request to dev-authserver's control (docs/dev-authserver.md).
    @discardableResult
    public static func control(_ path: String, _ body: String = "") async throws -> [UInt8] {
        let reply = try await send(request(.post, setting("BLOCK_WORLD_SERVER") + "/dev/" + path), body: body)
        guard reply.response.status.kind == .successful else {
            throw WorldError("/dev/\(path): \(reply.response.status)")
        }
        return reply.body
    }

    public struct LostReply: Error {}

    /// Sends a refresh token to this server, for a public client.
    public static func refresh(_ token: String?, of client: String, at server: String) async throws {
        var request = try request(.post, server + "/token")
        request.headerFields[.contentType] = "application/x-www-form-urlencoded"
        do throws(HTTPTransportError) {
            _ = try await transport.send(
                request, body: Array("grant_type=refresh_token&client_id=\(client)&refresh_token=\(token ?? "")".utf8),
                limits: .tokenEndpoint)
        } catch {
            guard error.phase == .maybeSent else { throw error }
            throw LostReply()
        }
    }

    static func request(_ method: HTTPRequest.Method, _ url: String) throws -> HTTPRequest {
        guard let parts = URLComponents(string: url), let host = parts.host else { throw WorldError("no URL: \(url)") }
        let path = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
        return HTTPRequest(
            method: method, scheme: parts.scheme, authority: host + (parts.port.map { ":\($0)" } ?? ""), path: path)
    }
}

extension AsyncHTTPTransport {
    public convenience init(inWorld options: Options) {
        var options = options
        options.proxy = Network.proxy
        options.trustRoots = Network.trustRoots
        self.init(options: options)
    }
}

extension AuthorizingClient {
    public convenience init(inWorldOf users: UserManager) {
        self.init(users: users, options: Options(trustRoots: Network.trustRoots, proxy: Network.proxy))
    }
}

/// A value of the world, which is good.
public func made<Value>(_ make: () throws -> Value) -> Value {
    do {
        return try make()
    } catch {
        preconditionFailure("the world is wrong: \(error)")
    }
}

public struct WorldError: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}

/// alice's browser: it goes where a log-in sends it, is sent back at once, and remembers both.
public enum Browser {
    private static let last = Mutex<(callback: String, cookie: String)>(("", ""))
    public static var callback: String { last.withLock { $0.callback } }
    public static var cookie: String { last.withLock { $0.cookie } }
    public static var code: String {
        URLComponents(string: callback)?.queryItems?.first { $0.name == "code" }?.value ?? ""
    }

    /// Follows the URL of a log-in to its callback.
    public static func follow(_ url: String, cookie: String) async throws {
        let reply = try await Network.get(url)
        guard let callback = reply.response.headerFields[.location] else {
            throw WorldError(
                "no redirect from \(url): \(reply.response.status) \(String(decoding: reply.body, as: UTF8.self))")
        }
        last.withLock { $0 = (callback, cookie) }
    }

    /// Gets a code for a client that made the request itself.
    public static func getCode(for client: String, _ verifier: CodeVerifier) async throws {
        try await follow(
            "https://login.acme.example/authorize?response_type=code&client_id=\(client)&scope=openid%20read&state=1"
                + "&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback&code_challenge_method=S256"
                + "&code_challenge=\(verifier.challenge)", cookie: "")
    }
}

/// What the block has called: the world's mail, its log and the like are heard of by name.
public enum Heard {
    private struct State {
        var names: [String] = []
        var reachedEnd = false
    }
    private static let state = Mutex(State())

    public static func note(_ name: String) { state.withLock { $0.names.append(name) } }

    /// Does this until it was called this often: a block may not yet have been there for the first.
    public static func comes(_ name: String, _ times: Int, of act: () async throws -> Void) async throws {
        while count(name) < times {
            try await act()
            for _ in 0..<40 where count(name) < times { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    private static func count(_ name: String) -> Int { state.withLock { $0.names.count { $0 == name } } }

    /// Returns when it was called this often. There is no limit here: scripts/swift-blocks has one for each block.
    public static func waits(for name: String, _ times: Int = 1) async throws {
        while count(name) < times { try await Task.sleep(for: .milliseconds(5)) }
    }

    public static func expect(_ isTrue: Bool, _ line: Int) throws {
        if !isTrue { throw WorldError("scripts/lib/given/calls.txt:\(line) is not so") }
    }

    public static func end() { state.withLock { $0.reachedEnd = true } }
    public static var reachedEnd: Bool { state.withLock { $0.reachedEnd } }
}

/// A block, and what the world does while it runs; then a block that never ends by itself is cancelled.
public struct Run: Sendable {
    let body: @Sendable () async throws -> Void
    let meanwhile: (@Sendable () async throws -> Void)?

    public init(
        _ body: @escaping @Sendable () async throws -> Void, meanwhile: (@Sendable () async throws -> Void)? = nil
    ) {
        self.body = body
        self.meanwhile = meanwhile
    }

    public func callAsFunction() async throws {
        guard let meanwhile else {
            try await body()
            guard Heard.reachedEnd else { throw WorldError("it returned before its end") }
            return
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await body()
                return true
            }
            group.addTask {
                try await meanwhile()
                return false
            }
            // A block that fails ends the wait for it.
            while let isBody = try await group.next() {
                if isBody { continue }
                group.cancelAll()
                do { while try await group.next() != nil {} } catch is CancellationError {}
            }
        }
    }
}

/// Ends the program with what went wrong.
public func fail(_ error: any Error) -> Never {
    let hint = (error as? VaultError)?.hint.map { "; " + $0 } ?? ""
    FileHandle.standardError.write(Data("\(String(reflecting: error))\(hint)\n".utf8))
    exit(1)
}

/// What the world's servers and its clients show.
public enum Certificates {
    public static func write(to folder: String, hosts: [String]) throws {
        let authority = try TestCertificate("authority")
        let server = try TestCertificate("server", signedBy: authority, hosts: hosts)
        try store(authority.pem, folder + "/authority.pem")
        try store(server.pem, folder + "/server.pem")
        try store(server.keyPEM, folder + "/server.key")
    }

    /// Writes client.pem and client.key.
    public static func writeClient() throws {
        let client = try TestCertificate("client")
        try store(client.pem, "client.pem")
        try store(client.keyPEM, "client.key")
    }

    private static func store(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }
}
