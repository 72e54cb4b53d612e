import FoundationEssentials
import HTTPTypes
import OAuthClient
import Testing

/// Where servers put their errors, and how a profile says so.
struct ErrorPathTests {
    private func outcome(_ body: String, _ members: String, dead: String, status: Int = 400) throws -> TokenOutcome {
        let profile = """
            {"profile":1,"name":"own","source":[{"url":"u","read":"2026-01-31"}],
            "errors":{"members":\(members),"dead":["\(dead)"]}}
            """
        let rules = try ProviderProfile(parsing: Array(profile.utf8), file: "own.json").reply
        let context = ClassificationContext(startedAt: Sample.start, repliedAt: Sample.start.addingTimeInterval(1))
        return classify(.reply(reply(status, body)), context, rules)
    }

    @Test(arguments: [
        // Fitbit, Meta, Withings, TikTok.
        (#"{"success":false,"errors":[{"errorType":"invalid_token"}]}"#, #"["errors[].errorType"]"#, "invalid_token"),
        (#"{"errors":[{"x":1},{"errorType":"gone"}]}"#, #"["errors[].errorType"]"#, "gone"),
        (#"{"error":{"code":190,"message":"m"}}"#, #"["error.code"]"#, "190"),
        (#"{"status":601,"body":{}}"#, #"["status"]"#, "601"),
        (#"{"data":{"error_code":10008}}"#, #"["data.error_code"]"#, "10008"),
        (#"{"error_codes":[700082,7]}"#, #"["error_codes[]"]"#, "700082"),
        // A member of that very name comes first.
        (#"{"a.b":"gone","a":{"b":"else"}}"#, #"["a.b"]"#, "gone"),
        // The one that is understood counts.
        (#"{"error":"invalid_request","errors":[{"code":"gone"}]}"#, #"["errors[].code","error"]"#, "gone"),
    ])
    func aPathFindsTheCode(_ body: String, _ members: String, _ code: String) throws {
        let found = try outcome(body, members, dead: code)
        guard case .dead(.profileCode) = found else {
            Issue.record("\(body): \(found)")
            return
        }
    }

    /// What numbers its errors numbers its successes.
    @Test func zeroIsNoError() throws {
        let good = #"{"status":0,"access_token":"a","token_type":"Bearer","expires_in":60}"#
        guard case .success = try outcome(good, #"["status"]"#, dead: "601", status: 200) else {
            Issue.record("not a success")
            return
        }
    }

    @Test(arguments: [
        (#"{"error":["invalid_grant"]}"#, "error"), (#"{"errors":{"code":"gone"}}"#, "errors[].code"),
        (#"{"error":{"code":{}}}"#, "error.code"), (#"{"error":"gone"}"#, "error.code"), (#"[]"#, "error.code"),
    ])
    func whatIsNotThereEndsNothing(_ body: String, _ member: String) throws {
        let found = try outcome(body, "[\"\(member)\"]", dead: "gone")
        if case .dead = found { Issue.record("\(body)") }
    }

    @Test func profilesAreFoundByTheirTitles() throws {
        #expect(try ProviderProfile.named("Microsoft Entra ID").name == "entra")
        #expect(try ProviderProfile.named("atlassian").name == "atlassian")
        #expect(try ProviderProfile.named("ATLASSIAN").name == "atlassian")
        #expect(throws: ProfileError.self) { try ProviderProfile.named("nobody") }
    }

    /// Said of a refresh token that is gone, and in general of a client.
    @Test func atlassianHasItsOwnWords() throws {
        let rules = try ProviderProfile.named("atlassian").reply
        let context = ClassificationContext(startedAt: Sample.start, repliedAt: Sample.start.addingTimeInterval(1))
        func read(_ description: String) -> TokenOutcome {
            let body = #"{"error":"unauthorized_client","error_description":"\#(description)"}"#
            return classify(.reply(reply(403, body)), context, rules)
        }
        guard case .dead = read("refresh_token is invalid") else {
            Issue.record("not dead")
            return
        }
        guard case .misconfigured = read("the client may not do this") else {
            Issue.record("not misconfigured")
            return
        }
    }
}
