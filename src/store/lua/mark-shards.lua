-- How many shards a fleet has: noted when it is first opened. One from before it was noted has one.
-- KEYS[1] key prefix of the home; ARGV 1 how many a new fleet gets ('': one, and it is not noted)
-- Returns that number, and those that it had before and that something is kept of, with commas
local p = KEYS[1]
local known = redis.call('HMGET', p .. 'meta', 'shards', 'former')
if known[1] then return { known[1], known[2] or '' } end
local shards = ARGV[1] == '' and '1' or ARGV[1]
for _, name in ipairs({ 'outbox', 'roles', 'registry', 'batches', 'plans', 'tokens', 'letters', 'open' }) do
  if redis.call('EXISTS', p .. name) == 1 then shards = '1' end
end
if ARGV[1] ~= '' then redis.call('HSET', p .. 'meta', 'shards', shards) end
return { shards, '' }
