-- Position of the n-th oldest entry of the outbox. KEYS[1] key prefix; ARGV 1 n, from 1
local found = redis.call('XRANGE', KEYS[1] .. 'outbox', '-', '+', 'COUNT', ARGV[1])
local last = found[#found]
return last and last[1]
