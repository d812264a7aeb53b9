-- Keeps a token unless one has its name. KEYS[1] key prefix; ARGV 1 name, 2 digest, 3 the token as JSON
local key = KEYS[1] .. 'tokens'
if redis.call('HSETNX', key .. ':names', ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('HSET', key, ARGV[2], ARGV[3])
return 1
