-- The whole registry at one moment. A script and no transaction, which a full Redis refuses whatever it does.
-- KEYS[1] key prefix
-- Returns: revision and mark, entries, attachments
local p = KEYS[1]
return {
  redis.call('HMGET', p .. 'registry', 'rev', 'mark'),
  redis.call('HVALS', p .. 'registry:entries'),
  redis.call('HVALS', p .. 'registry:attachments'),
}
