-- Parts of the manifests of users with many logins: the number of the user's row times 65536, and the part's own number.
CREATE TABLE "manifestPart" (
    "id" bigint PRIMARY KEY,
    "cell" bytea NOT NULL
) WITH (fillfactor = 70);
