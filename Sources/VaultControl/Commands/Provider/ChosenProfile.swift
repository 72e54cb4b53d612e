import Foundation
import OAuthClient
import TokenVault

/// The profile that the options name: a shipped one, or a file.
struct ChosenProfile {
    let profile: ProviderProfile
    /// The file, to be sealed with the provider.
    let document: [UInt8]?

    init(name: String?, file: String?) throws {
        guard name == nil || file == nil else {
            throw Failure.usage("--profile and --profile-file cannot be combined", hint: "choose one of them")
        }
        guard let file else {
            profile =
                try name.map { name in
                    do throws(ProfileError) {
                        return try ProviderProfile.named(name)
                    } catch {
                        throw Failure.usage(
                            "there is no profile \(Printable.shortened(name))",
                            hint: "list them with: vaultctl provider profiles")
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
        guard let data = FileManager.default.contents(atPath: path), data.count <= 65_536 else {
            throw Failure.usage("\(Printable.shortened(path, to: 200)) cannot be read as a profile")
        }
        let bytes = Array(data)
        do throws(ProfileError) {
            return (try ProviderProfile(parsing: bytes, file: Printable.shortened(path, to: 200)), bytes)
        } catch {
            throw Failure.usage(error.description, hint: "the fields are explained in docs/adding-a-provider.md")
        }
    }
}

extension DPoPPolicy {
    /// What the profile wants where nobody says otherwise.
    init(_ profile: ProviderProfile) {
        self =
            switch profile.keyBinding {
            case .never: .never
            case .whenSupported: .optional
            case .required: .required
            }
    }
}
