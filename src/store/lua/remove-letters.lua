-- Removes dead letters of one endpoint; returns how many were there.
-- KEYS[1] key prefix; ARGV 1 endpoint with its direction before it (out:name), then ids
local p = KEYS[1]
local letters = p .. 'letters:' .. ARGV[1]
local removed = 0
for i = 2, #ARGV do
  redis.call('ZREM', p .. 'letters', ARGV[1] .. ':' .. ARGV[i])
  removed = removed + redis.call('HDEL', letters, ARGV[i])
end
if redis.call('EXISTS', letters) == 0 then redis.call('SREM', p .. 'letters:of', ARGV[1]) end
return removed
