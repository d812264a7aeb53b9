-- Open to completed, once, with its event. KEYS[1] key prefix; ARGV 1 id, 2 time, 3 event ('' for none: a part of a batch), 4 retention in ms, 5 ms for which it is kept where nobody sweeps
local key = KEYS[1] .. 'batch:' .. ARGV[1]
local b = redis.call('HMGET', key, 'state', 'total', 'decided')
if b[1] ~= 'open' or not b[2] or tonumber(b[3]) < tonumber(b[2]) then return 0 end
redis.call('HSET', key, 'state', 'completed', 'completed_at', ARGV[2])
if ARGV[3] ~= '' then redis.call('XADD', KEYS[1] .. 'outbox', '*', 'e', ARGV[3]) end
redis.call('XADD', key .. ':log', '*', 'end', '1')
redis.call('ZREM', KEYS[1] .. 'batches', ARGV[1])
redis.call('ZADD', KEYS[1] .. 'batches:ended', ARGV[2] + ARGV[4], ARGV[1])
redis.call('PEXPIRE', key, ARGV[5])
redis.call('PEXPIRE', key .. ':log', ARGV[5])
redis.call('PEXPIRE', key .. ':chunks', ARGV[5])
return 1
