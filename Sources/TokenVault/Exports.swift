// What this module's API shows comes with it: a token's `reveal()`, an issuer, a request. Under `MemberImportVisibility`
// every caller would have to import these two modules, and depend on their packages.
@_exported public import HTTPTypes
@_exported public import OAuthClient
