import Crypto
import Foundation
import OAuthClient
import VaultImport

/// Says of each row of a store what it is: one JSON object a line, tokens as the SHA-256 of their characters. With
/// `--count` only how many rows there are, how long they took and how much memory; with `--report` the report; with
/// `--export` what a vault that holds them exports.
@main
struct ImportProbe {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch let error as ImportError {
            print(#"{"error":"\#(error.code.name)"}"#)
            exit(3)
        } catch {
            print(#"{"error":"\#(error)"}"#)
            exit(64)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        let options = try ProbeOptions(arguments)
        let source = try ImportSource(path: options.path, plan: options.plan)
        let reading = ImportReading(source, now: options.now)
        switch options.mode {
        case .rows: try await printRows(reading)
        case .report: _ = try await ImportReport().run(reading) { print($0) }
        case .count: try await printCount(reading)
        case .export(let shape): try await ProbeExport(reading: reading, shape: shape).run()
        }
    }

    private static func printRows(_ reading: ImportReading) async throws {
        var outcomes = reading.makeAsyncIterator()
        while let outcome = try await outcomes.next() { print(try ProbeLine(outcome).text()) }
        let summary = outcomes.summary
        let sum = summary.outcomes.values.reduce(0, +)
        let detection = reading.source.detection
        print(
            #"{"rows":\#(summary.rows),"sum":\#(sum),"logins":\#(summary.logins),"kind":"\#(detection.kind)","format":"\#(detection.format.rawValue)"}"#
        )
    }

    private static func printCount(_ reading: ImportReading) async throws {
        let started = ContinuousClock.now
        var outcomes = reading.makeAsyncIterator()
        while try await outcomes.next() != nil {}
        let took = ContinuousClock.now - started
        let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }.map(String.init) ?? ""
        let kilobytes = peak.filter(\.isNumber)
        print(#"{"rows":\#(outcomes.summary.rows),"seconds":\#(seconds),"peakKiB":\#(kilobytes)}"#)
    }
}

struct ProbeOptions {
    enum Mode {
        case rows, report, count
        case export(ExportShape)
    }

    struct Unusable: Error {}

    var path = ""
    var plan = ImportPlan()
    var now = Date()
    var mode = Mode.rows

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func value() throws -> String {
            guard let value = rest.popFirst() else { throw Unusable() }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--kind": plan.kind = StoreKind(name: try value())
            case "--table": plan.table = try value()
            case "--user-key": plan.userKey = Self.userKey(try value())
            case "--zone": plan.zonelessTimes = .offset(seconds: Int(try value()) ?? 0)
            case "--now": now = Date(timeIntervalSince1970: Double(try value()) ?? 0)
            case "--strict": plan.isStrict = true
            case "--tokens-are-plain": plan.tokensArePlain = true
            case "--map":
                let parts = try value().split(separator: "=", maxSplits: 1).map(String.init)
                plan.columns[parts[0]] = parts[1]
            case "--client":
                let parts = try value().split(separator: "=", maxSplits: 1).map(String.init)
                plan.providers.rules[parts[0]] = .init(name: parts[0], clientID: try ClientID(parts[1]))
            case "--better-auth-secret":
                let parts = try value().split(separator: ":", maxSplits: 1).map(String.init)
                let secret = SourceSecret(parts[1])
                if let version = Int(parts[0]) {
                    plan.secrets.betterAuth[version] = secret
                } else {
                    plan.secrets.betterAuthUnversioned = secret
                }
            case "--nango-key": plan.secrets.nango = SourceSecret(try value())
            case "--report": mode = .report
            case "--count": mode = .count
            case "--export":
                guard let shape = ExportShape(rawValue: try value()) else { throw Unusable() }
                mode = .export(shape)
            default: path = argument
            }
        }
    }

    private static func userKey(_ name: String) -> UserKey {
        switch name {
        case "pk": .primaryKey
        case "email": .email
        case "username": .username
        default: .column(name)
        }
    }
}

/// One row, with everything that can be compared.
struct ProbeLine: Encodable {
    var row: Int
    var table: String?
    var key: String?
    var outcome: String
    var reason: String?
    var of: Int?
    var user: String?
    var provider: String?
    var subject: String?
    var client: String?
    var secret: String?
    var access: String?
    var refresh: String?
    var type: String?
    var expires: Int?
    var refreshExpires: Int?
    var obtained: Int?
    var scope: String?
    var idToken: String?
    var hasKey: Bool?
    var resources: Int?
    var warnings: [String]?

    init(_ outcome: RowOutcome) {
        row = outcome.place.row
        table = outcome.place.table
        key = outcome.place.key
        self.outcome = outcome.name
        switch outcome {
        case .login(let login), .dead(let login, _): add(login)
        case .update(let login, let row):
            of = row
            add(login)
        case .duplicate(_, let row): of = row
        case .part(_, let whole): of = whole.row
        case .rejected(let reject): reason = reject.reason.name
        case .registration(let registration):
            provider = registration.provider
            client = registration.clientID.rawValue
            secret = registration.clientSecret.map { Self.digest($0.reveal()) }
        }
    }

    private mutating func add(_ login: PlannedLogin) {
        let source = login.source
        user = source.userKey
        provider = login.provider
        subject = source.subject
        client = source.clientID?.rawValue
        access = source.accessToken.map { Self.digest($0.reveal()) }
        refresh = source.refreshToken.map { Self.digest($0.reveal()) }
        type = source.tokenType?.rawValue
        expires = source.expiresAt.map(Self.milliseconds)
        refreshExpires = source.refreshExpiresAt.map(Self.milliseconds)
        obtained = source.obtainedAt.map(Self.milliseconds)
        scope = source.scope?.description
        idToken = source.idToken.map { Self.digest($0.reveal()) }
        hasKey = source.dpopKey == nil ? nil : true
        resources = source.resourceTokens.isEmpty ? nil : source.resourceTokens.count
        warnings = login.warnings.map(\.name)
    }

    private static func milliseconds(_ date: Date) -> Int { Int((date.timeIntervalSince1970 * 1_000).rounded()) }

    private static func digest(_ text: String) -> String {
        SHA256.hash(data: Data(text.utf8)).prefix(8).map { String(format: "%02x", $0) }.joined()
    }

    func text() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
}
