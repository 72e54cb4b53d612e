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
        File(name: "airtable", text: PackageResources.airtable_json),
        File(name: "amazon-sp-api", text: PackageResources.amazon_sp_api_json),
        File(name: "apple", text: PackageResources.apple_json),
        File(name: "atlassian", text: PackageResources.atlassian_json),
        File(name: "auth0", text: PackageResources.auth0_json),
        File(name: "bare400", text: PackageResources.bare400_json),
        File(name: "bluesky", text: PackageResources.bluesky_json),
        File(name: "box", text: PackageResources.box_json),
        File(name: "calendly", text: PackageResources.calendly_json),
        File(name: "curity", text: PackageResources.curity_json),
        File(name: "databricks", text: PackageResources.databricks_json),
        File(name: "docusign", text: PackageResources.docusign_json),
        File(name: "dropbox", text: PackageResources.dropbox_json),
        File(name: "entra", text: PackageResources.entra_json),
        File(name: "facebook", text: PackageResources.facebook_json),
        File(name: "fapi2-security", text: PackageResources.fapi2_security_json),
        File(name: "figma", text: PackageResources.figma_json),
        File(name: "generic", text: PackageResources.generic_json),
        File(name: "github", text: PackageResources.github_json),
        File(name: "gitlab", text: PackageResources.gitlab_json),
        File(name: "google", text: PackageResources.google_json),
        File(name: "gusto", text: PackageResources.gusto_json),
        File(name: "hubspot", text: PackageResources.hubspot_json),
        File(name: "instagram", text: PackageResources.instagram_json),
        File(name: "intuit", text: PackageResources.intuit_json),
        File(name: "keycloak", text: PackageResources.keycloak_json),
        File(name: "linear", text: PackageResources.linear_json),
        File(name: "linkedin", text: PackageResources.linkedin_json),
        File(name: "miro", text: PackageResources.miro_json),
        File(name: "netsuite", text: PackageResources.netsuite_json),
        File(name: "notion", text: PackageResources.notion_json),
        File(name: "okta", text: PackageResources.okta_json),
        File(name: "salesforce", text: PackageResources.salesforce_json),
        File(name: "servicenow", text: PackageResources.servicenow_json),
        File(name: "shopify", text: PackageResources.shopify_json),
        File(name: "slack", text: PackageResources.slack_json),
        File(name: "snowflake", text: PackageResources.snowflake_json),
        File(name: "spotify", text: PackageResources.spotify_json),
        File(name: "square", text: PackageResources.square_json),
        File(name: "strava", text: PackageResources.strava_json),
        File(name: "threads", text: PackageResources.threads_json),
        File(name: "tiktok", text: PackageResources.tiktok_json),
        File(name: "todoist", text: PackageResources.todoist_json),
        File(name: "twitch", text: PackageResources.twitch_json),
        File(name: "withings", text: PackageResources.withings_json),
        File(name: "x", text: PackageResources.x_json),
        File(name: "xero", text: PackageResources.xero_json),
        File(name: "zendesk", text: PackageResources.zendesk_json),
        File(name: "zoho", text: PackageResources.zoho_json),
        File(name: "zoom", text: PackageResources.zoom_json),
    ]
}
