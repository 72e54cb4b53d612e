import Foundation
import ProviderCatalogue
import Testing

struct NangoConversionTests {
    private static let plain = """
        acme:
            display_name: Acme
            auth_mode: OAUTH2
            authorization_url: https://acme.example/authorize
            token_url: https://acme.example/token

        """

    private func profile(
        _ lines: String, named name: String = "acme", in catalogue: String = plain
    ) throws -> [String: Any] {
        let text = catalogue + lines.split(separator: "\n").map { "    \($0)\n" }.joined()
        let providers = try NangoProvider.all(in: Array(text.utf8))
        let provider = try #require(providers.first { $0.name == name })
        let json = try NangoConversion.profile(of: provider, read: "2026-11-28")
        return try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    private func obstacle(_ lines: String, in catalogue: String = plain, named name: String = "acme") -> NangoObstacle?
    {
        do {
            _ = try profile(lines, named: name, in: catalogue)
            return nil
        } catch {
            return error as? NangoObstacle
        }
    }

    private func section(_ profile: [String: Any], _ name: String) -> [String: Any] {
        profile[name] as? [String: Any] ?? [:]
    }

    /// Endpoints with variables, without the rest.
    private func addresses(_ authorization: String, _ token: String, _ more: String = "") throws -> [String: Any] {
        let entry = "acme:\n    auth_mode: OAUTH2\n    authorization_url: \(authorization)\n    token_url: \(token)\n"
        return try profile(more, in: entry)
    }

    @Test func plainEntrySaysWhatIsUnproven() throws {
        let profile = try profile(
            "authorization_params: {response_type: code}\ntoken_params: {grant_type: authorization_code}")
        #expect(profile["profile"] as? Int == 2)
        #expect(profile["name"] as? String == "acme")
        #expect(profile["notVerified"] as? [String] == ["refresh"])
        #expect(section(profile, "refresh") as? [String: String] == ["rotation": "sometimes"])
        #expect(section(profile, "client")["authentication"] as? [String] == ["client_secret_post"])
        #expect(profile["request"] == nil && profile["variables"] == nil && profile["reply"] == nil)
        let source = try #require((profile["source"] as? [[String: String]])?.first)
        #expect(source["read"] == "2026-11-28")
        #expect(source["says"] == "endpoints and parameters; nothing about rotation, lifetimes, grace or errors")
    }

    @Test func requestsBecomeTheirSections() throws {
        let profile = try profile(
            """
            scope_separator: ','
            body_format: json
            disable_pkce: true
            authorization_method: header
            refresh_url: https://acme.example/refresh
            authorization_params: {access_type: offline, session: false, nonce: "${random}", scope: read}
            token_params: {grant_type: authorization_code, expiring: 1}
            authorization_url_replacements: {client_id: client_key, 'redirect_uri=': 'redirectURI='}
            """)
        let request = section(profile, "request")
        #expect(request["scopeSeparator"] as? String == ",")
        #expect(request["body"] as? String == "json")
        let added = request["authorizationParameters"] as? [String: String]
        #expect(added == ["access_type": "offline", "session": "false"])
        #expect(request["tokenParameters"] as? [String: String] == ["expiring": "1"])
        #expect(request["refreshParameters"] as? [String: String] == ["expiring": "1"])
        #expect(request["names"] as? [String: String] == ["client_id": "client_key", "redirect_uri": "redirectURI"])
        #expect(section(profile, "client")["pkce"] as? String == "never")
        #expect(section(profile, "client")["authentication"] as? [String] == ["client_secret_basic"])
        #expect(section(profile, "endpoints")["refresh"] as? String == "https://acme.example/refresh")
        #expect(profile["notVerified"] as? [String] == ["refresh", "request.names"])
    }

    @Test func refreshParametersReplaceThoseOfTheCode() throws {
        let profile = try profile("token_params: {a: b}\nrefresh_params: {grant_type: refresh_token}")
        #expect(section(profile, "request")["tokenParameters"] as? [String: String] == ["a": "b"])
        #expect(section(profile, "request")["refreshParameters"] == nil)
    }

    @Test func repliesAndCallbacksKeepWhatIsNotSecret() throws {
        let profile = try profile(
            """
            redirect_uri_metadata: [realmId, code, state]
            authorization_code_param_in_callback: acme_code
            token_response_metadata: [team.id, incoming_webhook.url, refresh_token]
            alternate_access_token_response_path: user.tokens
            expires_in_unit: milliseconds
            proxy:
                headers:
                    x-acme: '${accessToken}'
            """)
        #expect(section(profile, "callback")["keep"] as? [String] == ["realmId"])
        #expect(section(profile, "callback")["code"] as? String == "acme_code")
        #expect(section(profile, "reply")["keep"] as? [String] == ["team.id"])
        let other = try #require((section(profile, "reply")["otherLogins"] as? [[String: Any]])?.first)
        #expect(other["path"] as? [String] == ["user", "tokens"])
        let lifetime = try #require((section(profile, "reply")["lifetimes"] as? [[String: String]])?.first)
        #expect(lifetime == ["name": "expires_in", "unit": "milliseconds"])
        #expect(section(profile, "resource") as? [String: String] == ["header": "x-acme", "scheme": ""])
    }

    @Test(arguments: [
        ("https://${connectionConfig.shop}.acme.example/a", "https://{shop}.acme.example/a", false),
        ("https://acme.example/${connectionConfig.tenant-id}/a", "https://acme.example/{tenant_id}/a", false),
        ("https://acme.example/a?k=${connectionConfig.shop}", "https://acme.example/a?k={shop}", false),
        ("https://${connectionConfig.host}/a", "https://{host}/a", true),
        ("https://login.acme.${connectionConfig.extension}/a", "https://{login_acme_extension}/a", true),
        ("https://${connectionConfig.x}.example/a", "https://{x_example}/a", true),
        ("https://eu-${connectionConfig.x}.acme.example/a", "https://{eu_x}.acme.example/a", false),
        ("https://a.${connectionConfig.x}.acme.example/a", "https://{a_x}.acme.example/a", false),
        ("https://acme.example/${connectionConfig.client_id}", "https://acme.example/{client}", false),
        ("https://acme.example/${connectionConfig.x || eu}", "https://acme.example/eu", false),
        ("https://${connectionConfig.x}.acme.example/a || https://acme.example/a", "https://acme.example/a", false),
        (
            "https://${connectionConfig.h}/a || https://${connectionConfig.s}.acme.example/a",
            "https://{s}.acme.example/a", false
        ),
    ])
    func valuesOfConnectionsBecomeVariables(address: String, written: String, isAnyHost: Bool) throws {
        let profile = try addresses(address, "https://acme.example/token || https://acme.example/token")
        #expect(section(profile, "endpoints")["authorization"] as? String == written)
        let variables = section(profile, "variables").values.compactMap { $0 as? [String: Any] }
        #expect(variables.count == (written.contains("{") ? 1 : 0))
        for variable in variables {
            let (pattern, example) = (variable["pattern"] as? String ?? "", variable["example"] as? String ?? "")
            let regex = try Regex(pattern)
            #expect(try regex.wholeMatch(in: example) != nil)
            #expect(try regex.wholeMatch(in: example + "/") == nil)
            #expect(variable["anyHost"] as? Bool ?? false == isAnyHost)
        }
    }

    @Test func alternativesAreTakenTogether() throws {
        let profile = try addresses(
            "https://${connectionConfig.a}/a || https://acme.example/a",
            "https://${connectionConfig.b}.acme.example/token")
        #expect(section(profile, "endpoints")["authorization"] as? String == "https://{a}/a")
    }

    @Test func listedValuesAreTheOnlyOnes() throws {
        let profile = try addresses(
            "https://${connectionConfig.r}.acme.example/a", "https://acme.example/t",
            "connection_config:\n    r:\n        enum: [eu, us.west]")
        let variable = try #require(section(profile, "variables")["r"] as? [String: String])
        #expect(variable["pattern"] == "eu|us\\.west" && variable["example"] == "eu")
    }

    @Test func strictestUseOfAVariableCounts() throws {
        let profile = try addresses(
            "https://acme.example/${connectionConfig.s}", "https://${connectionConfig.s}.acme.example/t",
            "authorization_params: {s: '${connectionConfig.s}'}")
        let variable = try #require(section(profile, "variables")["s"] as? [String: String])
        #expect(try Regex(variable["pattern"] ?? "").wholeMatch(in: "Not.A_Label") == nil)
    }

    private static let nine = (1...9).map { "a\($0): '${connectionConfig.v\($0)}'" }.joined(separator: ", ")

    @Test(arguments: [
        ("auth_mode: API_KEY", NangoObstacle.mode("API_KEY")),
        ("authorization_params: {response_type: id_token}", .responseType),
        ("token_params: {grant_type: password}", .grantType),
        ("refresh_params: {grant_type: x}", .grantType),
        ("authorization_url_fragment: x", .fragment),
        ("authorization_url_skip_encode: [scopes]", .unescapedScopes),
        ("authorization_url_replacements: {response_type: ''}", .removedParameter("response_type")),
        ("authorization_url_replacements: {state: x}", .renamedState),
        ("authorization_url_replacements: {'%2B': '+'}", .renaming("%2B")),
        ("authorization_url_replacements: {client_id: code}", .renaming("client_id")),
        ("authorization_params: {client_id: x}", .parameter("client_id")),
        ("token_params: {code: x}", .parameter("code")),
        ("authorization_params: {a: '${random}'}", .template("a")),
        ("scope_separator: '; '", .scopeSeparator),
        ("token_request_auth_method: custom", .authentication),
        ("require_client_certificate: true", .certificate),
        ("authorization_code_param_in_webhook: x", .codeByWebhook),
        ("installation: outbound", .codeByWebhook),
        ("refresh_url: 'http://acme.example'", .endpoint("refresh_url")),
        ("refresh_url: '${connectionConfig.a}/b'", .endpoint("refresh_url")),
        ("refresh_url: 'https://a.example/#b'", .endpoint("refresh_url")),
        ("refresh_url: 'https://a.example/${now}'", .template("refresh_url")),
        ("refresh_url: 'https://a.example:${connectionConfig.p}/'", .endpoint("refresh_url")),
        ("refresh_url: 'https://u@${connectionConfig.h}/'", .endpoint("refresh_url")),
        ("authorization_params: {a: '${connectionConfig.apiKey}'}", .secretVariable("apiKey")),
        (
            "authorization_params: {a: '${connectionConfig.b}'}\nconnection_config:\n    b:\n        secret: true",
            .secretVariable("b")
        ),
        ("proxy:\n    headers:\n        cookie: '${accessToken}'", .header("cookie")),
        ("authorization_params: {\(nine)}", .tooManyVariables),
    ])
    func whatCannotBeSaidHasAReason(lines: String, reason: NangoObstacle) {
        // The last of two lines of one name would be refused by the reader.
        let own = lines.hasPrefix("auth_mode") ? Self.plain.replacing("    auth_mode: OAUTH2\n", with: "") : Self.plain
        let obstacle = obstacle(lines, in: own)
        #expect(obstacle == reason && !reason.description.isEmpty)
    }

    @Test func otherYAMLIsNoCatalogue() {
        for text in ["{}", "services:\n    app:\n        image: x\n"] {
            #expect(throws: CatalogueError.self) { try NangoProvider.all(in: Array(text.utf8)) }
        }
    }

    @Test func aliasesHaveTheMembersOfTheOther() throws {
        let catalogue =
            "second:\n    alias: first\nfirst:\n    alias: acme\n    token_url: https://first.example/token\n"
            + Self.plain
        let profile = try profile("", named: "second", in: catalogue)
        #expect(section(profile, "endpoints")["token"] as? String == "https://first.example/token")
        #expect(profile["title"] as? String == "Acme")
    }

    @Test(arguments: [
        ("one:\n    alias: one\n", NangoObstacle.endlessAlias),
        ("one:\n    alias: two\ntwo:\n    alias: one\n", .endlessAlias), ("one:\n    alias: none\n", .aliasOfNothing),
    ])
    func aliasesOfNothingAreRefused(catalogue: String, why: NangoObstacle) {
        #expect(obstacle("", in: catalogue, named: "one") == why)
    }

    @Test func requestsByCodeAndOtherNamesAreRefused() {
        let byCode = Self.plain.replacing("acme:", with: "tiktok-ads:")
        #expect(obstacle("", in: byCode, named: "tiktok-ads") == .requestsByCode)
        let capital = Self.plain.replacing("acme:", with: "Acme:")
        #expect(obstacle("", in: capital, named: "Acme") == .name)
    }
}
