-- Keeps the registry as it is for a while, when the expected revision stands: changes wait meanwhile.
-- KEYS[1] key prefix; ARGV 1 expected revision, 2 id of the hold, 3 for how many ms
-- Returns the time at which the hold ends, in ms since the epoch; 0 when another revision stands
local p = KEYS[1]
if (redis.call('HGET', p .. 'registry', 'rev') or '0') ~= ARGV[1] then return 0 end
local t = redis.call('TIME')
local ends = t[1] * 1000 + math.floor(t[2] / 1000) + tonumber(ARGV[3])
redis.call('ZADD', p .. 'registry:holds', ends, ARGV[2])
redis.call('PEXPIREAT', p .. 'registry:holds', ends + 60000)
return ends
