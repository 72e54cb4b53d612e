import OAuthClient
import TokenVault

/// The profile that the options name: a built-in one, or a file.
struct ChosenProfile {
    let profile: ProviderProfile
    /// The profile's file, which is sealed with the provider.
    let document: [UInt8]?

    init(name: String?, file: String?) throws {
        guard name == nil || file == nil else {
            throw Failure.usage("--profile and --profile-file cannot be combined", hint: "use only one of them")
        }
        guard let file else {
            profile = try name.map { try Self.named($0, after: "--profile") } ?? .generic
            document = nil
            return
        }
        let read = try Self.read(file, from: "--profile-file")
        document = read.bytes
        profile = read.profile
    }

    /// The particulars of one provider do not fit another.
    func warn(ifNotOf issuer: String?, _ invocation: Invocation) {
        let host = { (url: String) in url.lowercased().split(separator: "/").dropFirst().first }
        guard let issuer, let own = profile.endpoints.issuer?.rawValue, host(issuer) != host(own) else { return }
        invocation.warn(
            "the profile \(profile.name) is for \(own), and not for \(Printable.shortened(issuer, to: 200))")
    }

    /// What the profile's provider is known to refuse. A profile may be out of date, so this is not refused.
    ///
    /// - Parameter policy: nil if it is not given.
    static func warn(
        of method: String, _ policy: DPoPPolicy?, notIn profile: ProviderProfile, _ invocation: Invocation
    ) {
        let known = profile.authenticationMethods
        if !known.isEmpty, !known.contains(method) {
            invocation.warn(
                "the profile \(profile.name) does not list the client authentication \(method); it lists: "
                    + known.joined(separator: ", "))
        }
        switch (profile.keyBinding, policy) {
        case (.never, .required?):
            invocation.warn("the profile \(profile.name) says that its provider has no DPoP, and you require it")
        case (.required, .never?):
            invocation.warn("the profile \(profile.name) requires DPoP, and you leave it out")
        default: break
        }
    }

    /// A built-in profile.
    ///
    /// - Parameter words: what a name follows where it is typed, for the hints.
    static func named(_ name: String, after words: String) throws -> ProviderProfile {
        do throws(ProfileError) {
            return try ProviderProfile.named(name)
        } catch {
            let near = near(name).map { "\(words) \($0.name) (\($0.title))" }
            let isFile = name.hasSuffix(".json") && FileKind(name) != nil
            throw Failure(
                .usage, "there is no profile \(Printable.named(name))",
                hints: (near.isEmpty ? [] : ["did you mean: \(near.joined(separator: ", or "))"])
                    + (isFile ? [ofYourOwn(name, words)] : [])
                    + ["list all profiles: vaultctl provider profiles"])
        }
    }

    private static func ofYourOwn(_ path: String, _ words: String) -> String {
        words == "--profile"
            ? "a profile of your own is named by: --profile-file \(Printable.path(path))"
            : "to check profiles of your own: \(words) --dir DIRECTORY"
    }

    /// Profiles with a similar name or title: `microsoft` is the beginning of a title.
    private static func near(_ name: String) -> [ProviderProfile] {
        let word = name.lowercased().filter { $0.isLetter || $0.isNumber }
        guard word.count > 1 else { return [] }
        return ProviderProfile.shipped.filter { profile in
            let words = ([profile.name] + profile.title.split { !$0.isLetter && !$0.isNumber }.map(String.init))
                .map { $0.lowercased().filter { $0.isLetter || $0.isNumber } }
            return words.contains { $0.hasPrefix(word) || (word.hasPrefix($0) && $0.count > 3) }
                || EditDistance.between(words[0], word) <= 2 && word.count > 3
                || profile.title.lowercased().filter({ $0.isLetter || $0.isNumber }).contains(word)
        }.prefix(4).map(\.self)
    }

    /// Reads and checks one file.
    static func read(_ path: String, from origin: String) throws -> (profile: ProviderProfile, bytes: [UInt8]) {
        let bytes = try InputFile.read(path, "Profile", from: origin, atMost: 65_536)
        do throws(ProfileError) {
            return (try ProviderProfile(parsing: bytes, file: Printable.path(path)), bytes)
        } catch {
            throw Failure.usage(error.description, hint: "man tokenvault-adding-a-provider explains the fields")
        }
    }
}

extension DPoPPolicy {
    /// The profile's own policy, unless the options override it.
    init(_ profile: ProviderProfile) {
        self =
            switch profile.keyBinding {
            case .never: .never
            case .whenSupported: .optional
            case .required: .required
            }
    }
}
