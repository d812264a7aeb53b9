-- Open to completed, once, with its event. KEYS[1] key prefix; ARGV 1 id, 2 time, 3 event ('' for none: a part of a batch), 4 retention in ms
local key = KEYS[1] .. 'batch:' .. ARGV[1]
local b = redis.call('HMGET', key, 'state', 'total', 'decided')
if b[1] ~= 'open' or not b[2] or tonumber(b[3]) < tonumber(b[2]) then return 0 end
redis.call('HSET', key, 'state', 'completed', 'completed_at', ARGV[2])
if ARGV[3] ~= '' then redis.call('XADD', KEYS[1] .. 'outbox', '*', 'e', ARGV[3]) end
redis.call('XADD', key .. ':log', '*', 'end', '1')
redis.call('ZREM', KEYS[1] .. 'batches', ARGV[1])
redis.call('PEXPIRE', key, ARGV[4])
redis.call('PEXPIRE', key .. ':log', ARGV[4])
redis.call('PEXPIRE', key .. ':chunks', ARGV[4])
return 1
