-- Gives a fleet another number of shards by compare-and-set.
-- KEYS[1] key prefix of the home; ARGV 1 number and 2 former ones that must stand, 3 and 4 what they become
local key = KEYS[1] .. 'meta'
local known = redis.call('HMGET', key, 'shards', 'former')
if known[1] ~= ARGV[1] or (known[2] or '') ~= ARGV[2] then return 0 end
redis.call('HSET', key, 'shards', ARGV[3], 'former', ARGV[4])
return 1
