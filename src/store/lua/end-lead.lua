-- Leaves the lead of a reader to another. KEYS[1] key prefix; ARGV 1 reader, 2 consumer
local lead = KEYS[1] .. 'lead:' .. ARGV[1]
if redis.call('GET', lead) == ARGV[2] then redis.call('DEL', lead) end
