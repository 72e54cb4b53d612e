-- Which logins a provider has is asked under the write lock.
CREATE INDEX loginByProvider ON login (provider) WHERE provider IS NOT NULL;
