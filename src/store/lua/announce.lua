-- Writes events of an undecided chunk that come before its decision, each once: `from` says how many were
-- written before these. KEYS[1] key prefix; ARGV 1 chunk, 2 from, then events
local key = KEYS[1] .. 'chunk:' .. ARGV[1]
local c = redis.call('HMGET', key, 'left', 'told')
local told = tonumber(c[2] or '0')
if not c[1] or tonumber(c[1]) == 0 then return told end
local from = tonumber(ARGV[2])
local fresh = math.max(0, told - from)
if from > told or fresh >= #ARGV - 2 then return told end
redis.call('HSET', key, 'told', from + #ARGV - 2)
for i = 3 + fresh, #ARGV do redis.call('XADD', KEYS[1] .. 'outbox', '*', 'e', ARGV[i]) end
return from + #ARGV - 2
