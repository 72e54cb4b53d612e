import FoundationEssentials
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OAuthClient
import TestSupport
import Testing
import TokenVault
import TokenVaultHummingbird
import TokenVaultTesting

struct ErrorAnswerTests {
    /// What a service answers to each code that there is.
    static let answers: [(HTTPResponse.Status, needsUser: Bool, [VaultError.Code])] = [
        (.badRequest, false, [.invalidArgument]),
        (.forbidden, false, [.logInNotBound, .logInRefused, .resourceRefused, .userDisabled]),
        (.notFound, false, [.unknownLogin, .unknownProvider]),
        (
            .conflict, true,
            [
                .lostResponse, .needsUserInteraction, .notLoggedIn, .notRefreshable, .otherAccount, .refreshFailed,
                .unknownUser,
            ]
        ),
        (.conflict, false, [.ambiguousLogin, .conflict, .inUse, .renewalAnswered, .renewalVoid]),
        (.gone, false, [.logInExpired, .unknownAuthorizationRequest]),
        (.badGateway, false, [.protocolViolation, .providerMisconfigured]),
        (
            .serviceUnavailable, false,
            [
                .busy, .closed, .cryptographyUnavailable, .deadlineExceeded, .held, .heldBySource, .keyServiceBusy,
                .moved,
                .network, .ownershipLost, .readOnly, .refreshStalled, .rollbackSuspected, .storageFailed, .storageFull,
                .tryLater, .vaultMissing,
            ]
        ),
        // A row is damaged, or the service asks for what it must not.
        (.internalServerError, false, [.damaged, .originNotAllowed, .quarantined]),
        // Only opening a vault gives these.
        (
            .internalServerError, false,
            [
                .keyMissing, .keyTooCostly, .keyUnavailable, .keyTruncated, .keyMalformed, .keyUnsafe, .migrationNeeded,
                .newerSchema, .notAVault, .unsafeFile, .vaultUnfinished, .wrongKey,
            ]
        ),
        // Only operators' commands give these.
        (
            .internalServerError, false,
            [
                .keyExists, .notABackup, .sourceNotQuiet, .unknownBackup, .unknownKeySlot, .unknownReply,
                .unknownRevocation, .unknownRow, .vaultExists,
            ]
        ),
    ]

    @Test func everyCodeHasItsStatus() throws {
        for (status, needsUser, codes) in Self.answers {
            for code in codes {
                let response = Response(VaultError(code, "something happened", hint: "do something"))
                #expect(response.status == status, "\(code)")
                #expect(response.headers[.contentType] == "application/json")
                #expect(response.headers[.cacheControl] == "no-store")
                let body = try #require(response.body.contentLength)
                #expect(body == #"{"error":"\#(code)"\#(needsUser ? #","needsUser":true"# : "")}"#.utf8.count + 1)
            }
        }
    }

    /// So that no new code ends in a 500 by accident.
    @Test func everyCodeIsDecided() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let source = try String(
            contentsOf: root.appending(path: "Sources/TokenVault/Errors/VaultError+Code.swift"), encoding: .utf8)
        let names = source.matches(of: /static let \w+ = Self\("(\w+)"\)/).map { String($0.1) }
        #expect(names.count > 60)
        #expect(Self.answers.flatMap(\.2).map(\.name).sorted() == names.sorted())
    }

    @Test(
        arguments: [
            (.milliseconds(1), "1"), (.seconds(2), "2"), (.milliseconds(2_001), "3"), (.zero, "1"), (nil, "5"),
        ] as [(Duration?, String)])
    func retryAfterIsRoundedUp(delay: Duration?, seconds: String) {
        #expect(Response(VaultError(.tryLater, "later", retryAfter: delay)).headers[.retryAfter] == seconds)
    }

    @Test func retryAfterIsForWhatPasses() {
        for code: VaultError.Code in [.storageFull, .held, .refreshFailed, .providerMisconfigured] {
            #expect(Response(VaultError(code, "not now")).headers[.retryAfter] == nil)
        }
        // Where the vault knows a time, it counts.
        let told = VaultError(.providerMisconfigured, "not now", retryAfter: .seconds(60))
        #expect(Response(told).headers[.retryAfter] == "60")
    }

    @Test func routesOfTheServiceAreAnswered() async throws {
        let world = try await World()
        let (first, second) = (try await world.addLogin(), try await world.addLogin())
        let users = world.users
        let router = Router()
        router.add(middleware: VaultErrorMiddleware())
        router.get("/token") { request, _ in
            try await users.accessToken(userId: request.headers[.authorization] ?? "").scope?.description
        }
        try await Application(router: router).test(.router) { client in
            let several = try await Browser(client).get("/token")
            #expect(several.status == .conflict)
            #expect(several.text.hasPrefix(#"{"error":"ambiguousLogin","logins":[""#))
            #expect([first, second].allSatisfy { several.text.contains("\"\($0.id)\"") })
            let unknown = try await Browser(client, user: "carol").get("/token")
            #expect(unknown.status == .conflict)
            #expect(unknown.text == "{\"error\":\"unknownUser\",\"needsUser\":true}\n")
            #expect(try await Browser(client).get("/nothing").status == .notFound)
        }
    }

    @Test func otherErrorsPass() async throws {
        let router = Router()
        router.add(middleware: VaultErrorMiddleware { error, _, _ in Response(status: .init(code: 299)) })
        router.get("/vault") { _, _ -> String in throw VaultError(.tryLater, "later") }
        router.get("/api") { _, _ -> String in throw HTTPTransportError(.notSent, .connect) }
        router.get("/own") { _, _ -> String in throw HTTPError(.expectationFailed) }
        try await Application(router: router).test(.router) { client in
            let browser = Browser(client)
            #expect(try await browser.get("/vault").status.code == 299)
            let unreachable = try await browser.get("/api")
            #expect(unreachable.status == .badGateway)
            #expect(unreachable.text == "{\"error\":\"apiUnreachable\"}\n")
            #expect(try await browser.get("/own").status == .expectationFailed)
        }
    }

    @Test func operatorsLearnOfWhatTheyMustFix() async throws {
        let log = LogSink()
        let router = Router()
        router.add(middleware: VaultErrorMiddleware())
        router.get("/damaged") { _, _ -> String in
            throw VaultError(.quarantined, "a row does not open", hint: "run: vaultctl damage list")
        }
        router.get("/later") { _, _ -> String in throw VaultError(.tryLater, "later") }
        router.get("/dead") { _, _ -> String in throw VaultError(.refreshFailed, "the login is dead") }
        try await Application(router: router, logger: log.logger).test(.router) { client in
            let browser = Browser(client)
            for path in ["/later", "/dead"] { _ = try await browser.get(path) }
            #expect(!log.text.contains("the vault cannot answer"))
            let damaged = try await browser.get("/damaged")
            #expect(damaged.text == "{\"error\":\"quarantined\"}\n")
        }
        #expect(log.text.contains("the vault cannot answer"))
        #expect(log.text.contains("a row does not open; run: vaultctl damage list"))
    }
}
