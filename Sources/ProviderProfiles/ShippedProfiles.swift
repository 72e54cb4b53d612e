/// The provider profiles that ship with the library, as the text of their files.
///
/// A separate target, because a literal of several kilobytes is slow to compile: this way it is compiled once, not
/// whenever the code that reads profiles changes.
package enum ShippedProfiles {
    package struct File: Sendable {
        /// The file's name without its extension: the profile's name.
        package let name: String
        package let text: [UInt8]
    }

    /// By name.
    package static let files: [File] = [
        File(name: "atlassian", text: PackageResources.atlassian_json),
        File(name: "auth0", text: PackageResources.auth0_json),
        File(name: "bare400", text: PackageResources.bare400_json),
        File(name: "bluesky", text: PackageResources.bluesky_json),
        File(name: "curity", text: PackageResources.curity_json),
        File(name: "entra", text: PackageResources.entra_json),
        File(name: "fapi2-security", text: PackageResources.fapi2_security_json),
        File(name: "generic", text: PackageResources.generic_json),
        File(name: "github", text: PackageResources.github_json),
        File(name: "google", text: PackageResources.google_json),
        File(name: "hubspot", text: PackageResources.hubspot_json),
        File(name: "intuit", text: PackageResources.intuit_json),
        File(name: "keycloak", text: PackageResources.keycloak_json),
        File(name: "okta", text: PackageResources.okta_json),
        File(name: "salesforce", text: PackageResources.salesforce_json),
        File(name: "slack", text: PackageResources.slack_json),
        File(name: "xero", text: PackageResources.xero_json),
        File(name: "zoho", text: PackageResources.zoho_json),
        File(name: "zoom", text: PackageResources.zoom_json),
    ]
}
