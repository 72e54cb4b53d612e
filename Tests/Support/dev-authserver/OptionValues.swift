public import ArgumentParser
public import DevAuthorizationServer
import FoundationEssentials

enum YesOrNo: String, CaseIterable, ExpressibleByArgument {
    case yes, no
}

enum NonceMode: String, CaseIterable, ExpressibleByArgument {
    case none, required, once
}

extension AuthorizationServerConfiguration.RefreshRotation: ExpressibleByArgument {}
extension AuthorizationServerConfiguration.ReuseResponse: ExpressibleByArgument {}
extension AuthorizationServerConfiguration.Strictness: ExpressibleByArgument {}
extension AuthorizationServerConfiguration.NonceCheck: ExpressibleByArgument {}
extension AuthorizationServerConfiguration.SigningAlgorithm: ExpressibleByArgument {}
extension ProtectedResourceBehaviour.MetadataPlace: ExpressibleByArgument {}
extension ResourceHostility: ExpressibleByArgument {}

/// Seconds, fractions allowed.
struct Seconds: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let number = Double(argument), (0...1e9).contains(number) else { return nil }
        duration = .milliseconds(Int64((number * 1000).rounded()))
    }

    var defaultValueDescription: String { String(duration.components.seconds) }
}

extension String {
    /// Redirect URIs may have a scheme of an app's own.
    var isAbsoluteURI: Bool { URL(string: self)?.scheme != nil }
}

extension ArgumentHelp {
    static func seconds(_ abstract: String) -> ArgumentHelp { .init(abstract, valueName: "seconds") }
}

extension RegisteredClient {
    /// `ID`, `ID:basic:SECRET`, `ID:post:SECRET`, `ID:jwt:JWK`, `ID:jwt:@FILE`, `ID:tls:@FILE` or
    /// `ID:tls-subject:@FILE:NAME`.
    init(argument: String) throws {
        let parts = argument.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        switch (parts.count, parts.count > 1 ? parts[1] : "") {
        case (1, _) where !parts[0].isEmpty: self.init(id: parts[0])
        case (3, "basic"): self.init(id: parts[0], authentication: .basic(secret: parts[2]))
        case (3, "post"): self.init(id: parts[0], authentication: .post(secret: parts[2]))
        case (3, "jwt"): self.init(id: parts[0], authentication: .privateKeyJWT(try RegisteredKey(argument: parts[2])))
        case (3, "tls"):
            guard parts[2].hasPrefix("@"),
                let certificate = RegisteredCertificate(try TextFile.read(String(parts[2].dropFirst())))
            else {
                throw ValidationError("needs @ and the name of a file with a certificate in PEM, or a JWK with x5c")
            }
            self.init(id: parts[0], authentication: .selfSignedCertificate([certificate]))
        case (3, "tls-subject"):
            let named = parts[2].split(separator: ":", maxSplits: 1).map(String.init)
            guard named.count == 2, named[0].hasPrefix("@"),
                let subject = CertificateSubject(
                    named[1], authority: try TextFile.read(String(named[0].dropFirst())))
            else { throw ValidationError("needs @, the name of a file with an authority's certificate, : and a name") }
            self.init(id: parts[0], authentication: .certificate(subject))
        default:
            throw ValidationError(
                "must be ID, ID:basic:SECRET, ID:post:SECRET, ID:jwt:JWK, ID:tls:@FILE or ID:tls-subject:@FILE:NAME")
        }
    }

    var isByCertificate: Bool {
        switch authentication {
        case .certificate, .selfSignedCertificate: true
        default: false
        }
    }
}

enum TextFile {
    static func read(_ path: String) throws -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)), let text = String(validating: data, as: UTF8.self)
        else { throw ValidationError("cannot read the file \(path)") }
        return text
    }
}

extension RegisteredKey {
    /// A JWK, or `@` and the name of a file with one.
    fileprivate init(argument: String) throws {
        var jwk = argument
        if argument.hasPrefix("@") {
            jwk = try TextFile.read(String(argument.dropFirst()))
        }
        guard let key = RegisteredKey(jwk: jwk) else {
            throw ValidationError("needs the JWK of a public key, or @ and the name of a file with one")
        }
        self = key
    }
}

/// `NAME=JWK` or `NAME=@FILE`.
struct TrustedIssuer {
    let name: String
    let key: RegisteredKey

    init(argument: String) throws {
        let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw ValidationError("must be NAME=JWK or NAME=@FILE") }
        name = parts[0]
        key = try RegisteredKey(argument: parts[1])
    }
}

/// `ID:rotation=never,grace=30`: the names and values of the options that apply to the whole server.
struct NamedBehaviour {
    let client: String
    private(set) var behaviour = ClientBehaviour()

    init(argument: String) throws {
        let parts = argument.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw ValidationError("must be ID:NAME=VALUE, with more of these after commas") }
        client = parts[0]
        for item in parts[1].split(separator: ",") {
            let pair = item.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { throw ValidationError("must be ID:NAME=VALUE, not \(item)") }
            try set(pair[0], pair[1])
        }
    }

    private mutating func set(_ name: String, _ text: String) throws {
        func value<Value: ExpressibleByArgument>() throws -> Value {
            guard let value = Value(argument: text) else { throw ValidationError("\(text) is invalid for \(name)") }
            return value
        }
        switch name {
        case "rotation": behaviour.rotation = try value()
        case "grace": behaviour.graceWindow = try (value() as Seconds).duration
        case "reuse": behaviour.reuse = try value()
        case "nonce-check": behaviour.nonceCheck = try value()
        case "access-token-lifetime": behaviour.accessTokenLifetime = try (value() as Seconds).duration
        case "delay": behaviour.delay = try (value() as Seconds).duration
        case "reply-delay": behaviour.replyDelay = try (value() as Seconds).duration
        default: throw ValidationError("there is no setting \(name)")
        }
    }
}
