// What this module's API shows comes with it: tokens and their `reveal()`, client ids, scopes. Under
// `MemberImportVisibility` every caller would have to import this module too.
@_exported public import OAuthClient
