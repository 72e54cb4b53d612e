#!/usr/bin/env node
// Gets an access token from `vaultctl serve`, and prints when it expires: token.mjs SOCKET USER PROVIDER
import http from "node:http";

const [socketPath, user, provider] = process.argv.slice(2);

function post(path, body) {
  const headers = { Host: "tokenvault", "Content-Type": "application/json" };
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath, path, method: "POST", headers, timeout: 60_000 }, async (reply) => {
      const text = (await reply.setEncoding("utf8").toArray()).join("");
      resolve({ status: reply.statusCode, answer: JSON.parse(text) });
    });
    request.on("error", reject).on("timeout", () => request.destroy(new Error("no answer"))).end(JSON.stringify(body));
  });
}

const { status, answer } = await post("/v1/token", { user, provider });
if (status !== 200) {
  // An application would send the user to its page for logging in again.
  console.error(`${answer.code}: ${answer.detail}`);
  process.exit(answer.needs_user ? 2 : 1);
}
// To use it: { Authorization: `Bearer ${answer.access_token}` }
console.log(answer.expires_at ? new Date(answer.expires_at * 1000).toISOString().replace(".000", "") : "unknown");
