import OAuthClient
import TokenVault

/// The profile that the options name: a shipped one, or a file.
struct ChosenProfile {
    let profile: ProviderProfile
    /// The file, to be sealed with the provider.
    let document: [UInt8]?

    init(name: String?, file: String?) throws {
        guard name == nil || file == nil else {
            throw Failure.usage("--profile and --profile-file cannot be combined", hint: "use only one of them")
        }
        guard let file else {
            profile =
                try name.map { name in
                    do throws(ProfileError) {
                        return try ProviderProfile.named(name)
                    } catch {
                        throw Failure.usage(
                            "there is no profile \(Printable.shortened(name))",
                            hint: "list all profiles: vaultctl provider profiles")
                    }
                } ?? .generic
            document = nil
            return
        }
        let read = try Self.read(file)
        document = read.bytes
        profile = read.profile
    }

    /// Reads and checks one file.
    static func read(_ path: String) throws -> (profile: ProviderProfile, bytes: [UInt8]) {
        let bytes = try InputFile.read(path, "Profile", atMost: 65_536)
        do throws(ProfileError) {
            return (try ProviderProfile(parsing: bytes, file: Printable.shortened(path, to: 200)), bytes)
        } catch {
            throw Failure.usage(error.description, hint: "docs/adding-a-provider.md explains the fields")
        }
    }
}

extension DPoPPolicy {
    /// The profile's own policy, where the options do not say otherwise.
    init(_ profile: ProviderProfile) {
        self =
            switch profile.keyBinding {
            case .never: .never
            case .whenSupported: .optional
            case .required: .required
            }
    }
}
