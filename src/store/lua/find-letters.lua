-- Members of the dead letters by time, behind a place among them that need not be taken any more.
-- KEYS[1] key prefix; ARGV 1 earliest time, 2 how many, 3 and 4 time and member behind which to begin, or nothing
-- Returns member and time of each
local key = KEYS[1] .. 'letters'
if ARGV[4] == '' then
  return redis.call('ZRANGEBYSCORE', key, ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
end
-- Put there for a moment, the member tells where to go on: letters of one millisecond may be many.
local score = redis.call('ZSCORE', key, ARGV[4])
redis.call('ZADD', key, ARGV[3], ARGV[4])
local from = redis.call('ZRANK', key, ARGV[4])
if score then redis.call('ZADD', key, score, ARGV[4]) else redis.call('ZREM', key, ARGV[4]) end
-- What stands at its place now is the next one, unless it stands there itself or before.
if score and tonumber(score) <= tonumber(ARGV[3]) then from = from + 1 end
return redis.call('ZRANGE', key, from, from + ARGV[2] - 1, 'WITHSCORES')
